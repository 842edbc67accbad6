package wave

import (
	"context"
	"fmt"
	"slices"

	"aesop/internal/document"
	"aesop/internal/git"
	"aesop/tracker"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// Manifest is what a wave would do now, as a document that people can look at, edit and have executed. They may change which items it
// has, their order and models, the driver and the policy. What an item is stands in the backlog: a manifest that says something else is
// stale.
type Manifest struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Outcome       journal.Outcome     `json:"outcome"` // good where there is something to do
	Reason        string              `json:"reason"`  // of a stop
	Driver        string              `json:"driver"`
	Policy        ManifestPolicy      `json:"policy"`
	Repositories  []PlannedRepository `json:"repositories"`
	Items         []PlannedItem       `json:"items"`
	Skipped       []SkippedItem       `json:"skipped"`
}

// ManifestPolicy is policy.Policy in a manifest.
type ManifestPolicy struct {
	SpotCheck float64 `json:"spotCheck"`
	Repairs   int     `json:"repairs"`
	Review    float64 `json:"review"`
}

// SkippedItem is an item that a wave would not take.
type SkippedItem = journal.Skipped

// PlannedRepository is a repository that a wave would work on.
type PlannedRepository struct {
	Repo       string       `json:"repo"` // as the backlog's items have it, "." where they have none
	Path       string       `json:"path"`
	Remote     string       `json:"remote"`
	BaseBranch string       `json:"baseBranch"`
	Base       string       `json:"base"`  // commit
	Dirty      []string     `json:"dirty"` // changed paths of the user's work tree, which a wave does not see
	Error      *ReportError `json:"error"` // why it cannot be worked on
}

// PlannedItem is an item that a wave would take.
type PlannedItem struct {
	ID          string   `json:"id"`
	Slug        string   `json:"slug"`
	Title       string   `json:"title"`
	Repo        string   `json:"repo"`
	Priority    string   `json:"priority"`
	Model       *string  `json:"model"`
	OwnsFiles   []string `json:"ownsFiles"`
	TestCmd     string   `json:"testCmd"`
	Fingerprint string   `json:"fingerprint"` // of the backlog's text
	Prompt      *string  `json:"prompt"`      // of the first dispatch; null where it is left out
}

// ReadManifest reads a manifest; name is what errors call it. They name line and field.
func ReadManifest(name string, data []byte) (Manifest, error) {
	var m Manifest
	doc, err := document.Parse(name, data)
	if err != nil {
		return m, err
	}
	root := doc.Root()
	if err := root.Into(&m); err != nil {
		return m, err
	}
	if m.SchemaVersion != SchemaVersion {
		return m, root.Errorf("schema_version", "schemaVersion is %d, this version reads %d", m.SchemaVersion, SchemaVersion)
	}
	if err := m.Policy.policy().Check(); err != nil {
		return m, root.Errorf("shape", "policy: %v", err)
	}
	return m, m.check(root)
}

// check says where the document does not say all that a wave needs: what is left out is not nothing.
func (m Manifest) check(root document.Node) error {
	top, err := root.Need("schemaVersion", "driver", "policy", "repositories", "items")
	if err != nil {
		return err
	}
	if _, err := top["policy"].Need("spotCheck", "repairs", "review"); err != nil {
		return err
	}
	repositories, err := top["repositories"].Array()
	if err != nil {
		return err
	}
	rows := map[string]bool{}
	for n, node := range repositories {
		keys, err := node.Need("repo", "path", "remote", "baseBranch", "base")
		if err != nil {
			return err
		}
		row := m.Repositories[n]
		switch {
		case rows[row.Repo]:
			return keys["repo"].Errorf("duplicate", "%q stands twice", row.Repo)
		case row.Error == nil && !git.IsSHA(row.Base):
			return keys["base"].Errorf("shape", "is %q, must be a whole commit id", row.Base)
		}
		rows[row.Repo] = true
	}
	items, err := top["items"].Array()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for n, node := range items {
		keys, err := node.Need("id", "slug", "title", "repo", "ownsFiles", "testCmd", "fingerprint")
		if err != nil {
			return err
		}
		item := m.Items[n]
		switch {
		case item.ID == "":
			return keys["id"].Errorf("shape", "is empty")
		case item.Fingerprint == "":
			return keys["fingerprint"].Errorf("shape", "is empty")
		case seen[item.ID]:
			return keys["id"].Errorf("duplicate", "%q stands twice", item.ID)
		case !rows[item.Repo]:
			return keys["repo"].Errorf("shape", "is %q, which has no row in repositories", item.Repo)
		}
		seen[item.ID] = true
	}
	return nil
}

func (p ManifestPolicy) policy() policy.Policy {
	return policy.Policy{SpotCheck: p.SpotCheck, Repairs: p.Repairs, Review: p.Review}
}

// Execute finishes what an earlier process left, and then runs one wave by a manifest: its items, in its order, from its bases. Of items
// that cannot be taken any more the report says why. *RefusedError where the manifest is stale: then nothing of it has begun.
func (s *Scheduler) Execute(ctx context.Context, m Manifest) (Report, error) {
	told, err := s.notify(ctx)
	if err != nil {
		return failedReport("", s, err), s.clean(err)
	}
	defer told()
	report, err := s.execute(ctx, m)
	return report, s.clean(err)
}

func (s *Scheduler) execute(ctx context.Context, m Manifest) (Report, error) {
	if name := s.config.Driver.Info().Name; m.Driver != name {
		err := &SetupError{Code: "usage", Message: fmt.Sprintf("the manifest is for the driver %q, and this is %q", m.Driver, name), Hint: "let both be the same"}
		return failedReport("", s, err), err
	}
	old, err := s.resumeLeft(ctx)
	if err != nil {
		return failedReport("", s, err), err
	}
	if len(old) > 0 && stopped(old[len(old)-1].Outcome) {
		return old[len(old)-1], nil
	}
	from := map[string]string{}
	for _, r := range m.Repositories {
		from[r.Repo] = r.Base
	}
	report, _, err := s.runOne(ctx, begin{resumed: summaries(old), from: from, manifest: &m})
	return report, err
}

// order are the ids of the items, or nil where there is no manifest.
func (m *Manifest) order() []string {
	if m == nil {
		return nil
	}
	ids := make([]string, len(m.Items))
	for i, item := range m.Items {
		ids[i] = item.ID
	}
	return ids
}

// stale says where a manifest and the backlog differ in what an item is.
func (s *Scheduler) stale(m *Manifest, backlog tracker.Backlog) error {
	if m == nil {
		return nil
	}
	for _, planned := range m.Items {
		i := slices.IndexFunc(backlog.Items, func(item tracker.Item) bool { return item.ID == planned.ID })
		if i < 0 {
			return staleManifest("%s is not in the backlog any more", planned.ID)
		}
		switch status := backlog.Items[i].Status; status {
		case tracker.Done, tracker.Failed, tracker.Blocked:
			return staleManifest("%s is %s now", planned.ID, status)
		}
		now, err := s.plannedItem(backlog.Items[i])
		if err != nil {
			return err
		}
		if field := now.differsFrom(planned); field != "" {
			return staleManifest("%s of item %s is not what the backlog says now", field, planned.ID)
		}
	}
	return nil
}

func staleManifest(format string, args ...any) error {
	return &RefusedError{Code: "stale_manifest", Message: "the manifest is stale: " + fmt.Sprintf(format, args...),
		Hint: "make it anew; what an item is, is edited in the backlog"}
}

// differsFrom names the first field in which two items are not the same piece of work, or is empty.
func (p PlannedItem) differsFrom(o PlannedItem) string {
	for _, field := range []struct {
		name string
		same bool
	}{
		{"slug", p.Slug == o.Slug}, {"title", p.Title == o.Title}, {"repo", p.Repo == o.Repo}, {"ownsFiles", slices.Equal(p.OwnsFiles, o.OwnsFiles)},
		{"testCmd", p.TestCmd == o.TestCmd}, {"prompt", o.Prompt == nil || *p.Prompt == *o.Prompt}, {"the text", p.Fingerprint == o.Fingerprint},
	} {
		if !field.same {
			return field.name
		}
	}
	return ""
}

// moved says that what would be worked on is not what the manifest has: another repository, remote or branch, or a base that is not on
// that branch any more.
func (s *Scheduler) moved(ctx context.Context, m *Manifest, all *targets) error {
	if m == nil {
		return nil
	}
	for _, planned := range m.Repositories {
		t := all.open[planned.Repo]
		if t == nil || !slices.ContainsFunc(m.Items, func(i PlannedItem) bool { return i.Repo == planned.Repo }) {
			continue
		}
		if field := plannedRepository(t.Repository).differsFrom(planned); field != "" {
			return staleManifest("%s of repository %s is not what would be worked on now", field, planned.Repo)
		}
		if t.tip == "" {
			return staleManifest("the branch %s of repository %s is gone", t.Branch, planned.Repo)
		}
		if err := t.engine.Fetch(ctx, t.remote, t.tip); err != nil {
			return err
		}
		on, err := t.engine.IsAncestor(ctx, t.Base, t.tip)
		if err != nil {
			return err
		}
		if !on {
			return staleManifest("its base of repository %s is not on %s any more", planned.Repo, t.Branch)
		}
	}
	return nil
}

// differsFrom names the first field in which two repositories are not the same place, or is empty.
func (r PlannedRepository) differsFrom(o PlannedRepository) string {
	switch {
	case r.Path != o.Path:
		return "path"
	case r.Remote != o.Remote:
		return "remote"
	case r.BaseBranch != o.BaseBranch:
		return "baseBranch"
	}
	return ""
}
