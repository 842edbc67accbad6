package wave_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// manifest is what Plan gives, through its document as people edit it.
func (w *world) manifest(edit func(m map[string]any), options ...option) wave.Manifest {
	w.t.Helper()
	plan, err := w.scheduler(options...).Plan(w.t.Context())
	must(w.t, err)
	data, err := json.Marshal(plan)
	must(w.t, err)
	if edit != nil {
		var document map[string]any
		must(w.t, json.Unmarshal(data, &document))
		edit(document)
		data, err = json.MarshalIndent(document, "", "  ")
		must(w.t, err)
	}
	m, err := wave.ReadManifest("plan.json", data)
	must(w.t, err)
	return m
}

func manifestItem(m map[string]any, n int) map[string]any {
	return m["items"].([]any)[n].(map[string]any)
}

func manifestRepository(m map[string]any) map[string]any {
	return m["repositories"].([]any)[0].(map[string]any)
}

// TestManifestIsCarriedOut: its items, in its order, with its models and its policy.
func TestManifestIsCarriedOut(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "priority": "P0"}, item{"id": "b", "priority": "P1"}, item{"id": "c", "priority": "P2"})
	worked := &agent{info: driver.Info{Name: "played", Tier: 2}, work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		text := "good\n"
		if task.Item == "c" {
			text = "poor\n"
		}
		return driver.Result{}, put(task, task.Item+".txt", text)
	}}
	m := w.manifest(func(m map[string]any) {
		all := m["items"].([]any)
		m["items"] = []any{all[2], all[0]}
		manifestItem(m, 1)["model"] = "other"
		m["policy"] = map[string]any{"repairs": 0, "spotCheck": 0, "review": 0}
	}, with(worked))
	report, err := w.scheduler(with(worked), func(c *wave.Config) { c.Parallel = 1; c.MaxItems = 1 }).Execute(t.Context(), m)
	must(t, err)
	checkContract(t, report)
	var order []string
	for _, task := range worked.tasks {
		order = append(order, task.Item+" "+task.Model)
	}
	if !slices.Equal(order, []string{"c ", "a other"}) { // c once, since the policy has no repairs
		t.Errorf("the agent worked on %q", order)
	}
	wantState(t, report, "a", journal.StateShipped)
	wantState(t, report, "c", journal.StateNotVerified)
	if i := reported(t, report, "a"); i.SpotCheck != nil || *i.Model != "other" {
		t.Errorf("a: %s", asJSON(i))
	}
	wantStatus(t, w.read("b"), tracker.Todo)
}

// TestStaleManifestIsRefused before anything begins, whether the backlog or the manifest was edited.
func TestStaleManifestIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		manifest func(m map[string]any)
		backlog  func(w *world)
		says     string
	}{
		"another prompt in the backlog": {nil, func(w *world) { w.edit("Write b.txt.", "Write it well.") }, "prompt of item b"},
		"another test in the backlog":   {nil, func(w *world) { w.edit("grep -q good b.txt", "true") }, "of item b"},
		"other dependencies":            {nil, func(w *world) { w.edit(`"slug": "b"`, `"slug": "b", "dependsOn": ["a"]`) }, "the text of item b"},
		"gone from the backlog":         {nil, func(w *world) { w.items(item{"id": "a"}) }, "b is not in the backlog"},
		"done meanwhile":                {nil, func(w *world) { w.items(item{"id": "a"}, item{"id": "b", "status": "done"}) }, "b is done now"},
		"another test":                  {func(m map[string]any) { manifestItem(m, 1)["testCmd"] = "true" }, nil, "testCmd of item b"},
		"other paths":                   {func(m map[string]any) { manifestItem(m, 0)["ownsFiles"] = []string{"**"} }, nil, "ownsFiles of item a"},
		"another title":                 {func(m map[string]any) { manifestItem(m, 0)["title"] = "New" }, nil, "title of item a"},
		"another prompt":                {func(m map[string]any) { manifestItem(m, 0)["prompt"] = "Do something else." }, nil, "prompt of item a"},
		"another repository": {func(m map[string]any) {
			manifestItem(m, 0)["repo"], manifestItem(m, 1)["repo"], manifestRepository(m)["repo"] = "api", "api", "api"
		}, nil, "repo of item a"},
		"another path":   {func(m map[string]any) { manifestRepository(m)["path"] = "/elsewhere" }, nil, "path of repository ."},
		"another remote": {func(m map[string]any) { manifestRepository(m)["remote"] = "." }, nil, "remote of repository ."},
		"another branch": {func(m map[string]any) { manifestRepository(m)["baseBranch"] = "dev" }, nil, "baseBranch of repository ."},
		"a branch that is gone": {nil, func(w *world) {
			w.git(w.repo, "push", "--quiet", "origin", "main:dev")
			w.git("", "--git-dir="+w.remote, "symbolic-ref", "HEAD", "refs/heads/dev")
		}, "baseBranch of repository ."},
		"a rewritten base": {nil, func(w *world) {
			w.git(w.repo, "commit", "--quiet", "--amend", "--message=Anew")
			w.git(w.repo, "push", "--quiet", "--force")
		}, "is not on main any more"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"}, item{"id": "b"})
			worked := &agent{work: func(context.Context, driver.Task) (driver.Result, error) {
				t.Error("an agent was started")
				return driver.Result{}, nil
			}}
			m := w.manifest(tt.manifest, with(worked))
			if tt.backlog != nil {
				tt.backlog(w)
			}
			s := w.scheduler(with(worked))
			report, err := s.Execute(t.Context(), m)
			refused, ok := errors.AsType[*wave.RefusedError](err)
			if !ok || refused.Code != "stale_manifest" || !strings.Contains(err.Error(), tt.says) || len(report.Items) > 0 {
				t.Fatalf("error %v, report %s", err, asJSON(report))
			}
			if row := w.read("a"); row.Claim != nil || row.Status != tracker.Todo {
				t.Errorf("the backlog has %+v", row)
			}
			if left, err := s.Resume(t.Context(), ""); len(left) > 0 || err != nil {
				t.Errorf("something is left: %v, %v", left, err)
			}
		})
	}
}

// TestManifestIsForOnePlace: the configuration that it is carried out with may not lead elsewhere.
func TestManifestIsForOnePlace(t *testing.T) {
	for name, tt := range map[string]struct{ planned, now option }{
		"planned for a branch here": {local, func(*wave.Config) {}},
		"planned for the remote":    {func(*wave.Config) {}, local},
		"another base":              {func(*wave.Config) {}, func(c *wave.Config) { c.Base = "dev" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.git(w.repo, "push", "--quiet", "origin", "main:dev")
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			m := w.manifest(nil, tt.planned)
			before := w.refs()
			report, err := w.scheduler(tt.now).Execute(t.Context(), m)
			if refusal(t, err) != "stale_manifest" || len(report.Items) > 0 || !maps.Equal(before, w.refs()) {
				t.Errorf("%v, %s", err, asJSON(report))
			}
		})
	}
}

// TestStaleManifestReportsWhatWasResumed: what it finished first has shipped, whatever becomes of the manifest.
func TestStaleManifestReportsWhatWasResumed(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	m := w.manifest(nil)
	store := w.store()
	var s *wave.Scheduler
	s = w.schedulerOn(store, func(c *wave.Config) {
		c.Observers = []wave.Observer{&onEvent{event: "verified", act: func() { s.Stop() }}}
	})
	old := w.runOn2(s)
	wantOutcome(t, old, journal.Interrupted)
	m.Driver = "another"
	if _, err := w.schedulerOn(store).Execute(t.Context(), m); err == nil || w.refs()[wave.ItemRef("a")] != "" {
		t.Errorf("error %v; a manifest for another driver resumes nothing", err)
	}
	m.Driver = "script"
	report, err := w.schedulerOn(store).Execute(t.Context(), m)
	if refusal(t, err) != "stale_manifest" || len(report.Resumed) != 1 || report.Resumed[0].Wave != old.Wave || !slices.Equal(report.Resumed[0].Shipped, []string{"a"}) {
		t.Errorf("%v, resumed %s", err, asJSON(report.Resumed))
	}
	checkContract(t, report)
}

// TestManifestKeepsItsBase, says what cannot be taken any more, and is for one driver.
func TestManifestKeepsItsBase(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	m := w.manifest(nil)
	planned := m.Repositories[0].Base
	w.pushMain("later.txt", "later\n")
	_, err := w.tracker().Claim(t.Context(), tracker.Holder{Wave: "w", Owner: "somebody"}, wave.DefaultLease, tracker.Want{ID: "b", Token: strings.Repeat("t", 32)})
	must(t, err)
	first := ""
	look := &watcher{look: func(v *journal.Wave, e journal.Event) {
		if e.Type() == "planned" {
			first = v.Plan.Repositories[0].Base
		}
	}}
	report, err := w.scheduler(func(c *wave.Config) { c.Observers = []wave.Observer{look} }).Execute(t.Context(), m)
	must(t, err)
	wantState(t, report, "a", journal.StateShipped)
	if first != planned {
		t.Errorf("began at %s, planned at %s", first, planned)
	}
	if len(report.Skipped) != 1 || report.Skipped[0].ID != "b" || report.Skipped[0].Reason != "claimed" {
		t.Errorf("skipped: %s", asJSON(report.Skipped))
	}
	m.Driver = "another"
	if _, err := w.scheduler().Execute(t.Context(), m); err == nil || !strings.Contains(err.Error(), `"another"`) {
		t.Errorf("another driver: %v", err)
	}
}

func TestReadManifestRefuses(t *testing.T) {
	const base = "0123456789abcdef0123456789abcdef01234567"
	const whole = `{"schemaVersion": 1, "driver": "script", "policy": {"spotCheck": 1, "repairs": 1, "review": 0},
 "items": [{"id": "a", "slug": "a", "title": "", "repo": ".", "ownsFiles": ["a"], "testCmd": "true", "fingerprint": "f"}],
 "repositories": [{"repo": ".", "path": "/r", "remote": "origin", "baseBranch": "main",
  "base": "` + base + `"}]}`
	if _, err := wave.ReadManifest("plan.json", []byte(whole)); err != nil {
		t.Fatal(err)
	}
	for old, tt := range map[string]struct{ now, says string }{
		`"driver"`:           {`"drive"`, `plan.json:1: drive: no such key (did you mean "driver"?)`},
		`"id": "a"`:          {`"id": 7`, "plan.json:2: items[0].id: is a number, must be a string"},
		`"schemaVersion"`:    {`"outcome": "good", "schemaVersion"`, ""},
		`: 1, "driver"`:      {`: 2, "driver"`, "schemaVersion is 2, this version reads 1"},
		`"repairs": 1`:       {`"repairs": -1`, "repairs is -1"},
		`"spotCheck": 1`:     {`"spotCheck": 1.5`, "spotCheck is 1.5"},
		`}],`:                {`}, {"id": "a", "slug": "b", "title": "", "repo": ".", "ownsFiles": ["a"], "testCmd": "true", "fingerprint": "f"}],`, `items[1].id: "a" stands twice`},
		`"id": "a",`:         {`"id": "",`, "plan.json:2: items[0].id: is empty"},
		`"fingerprint": "f"`: {`"fingerprint": ""`, "items[0].fingerprint: is empty"},
		`"items": [`:         {`"items": {`, "plan.json:2:"},
		`"repo": ".", "owns`: {`"repo": "api", "owns`, `plan.json:2: items[0].repo: is "api", which has no row in repositories`},
		`"}]}`:               {`"}, {"repo": ".", "path": "/s", "remote": "origin", "baseBranch": "main", "base": "` + base + `"}]}`, `repositories[1].repo: "." stands twice`},
		base:                 {base[:10], `plan.json:4: repositories[0].base: is "0123456789", must be a whole commit id`},
		`"` + base:           {`"` + strings.ToUpper(base), "must be a whole commit id"},
		`"base": "`:          {`"base": "+refs/heads/main:refs/heads/evil`, "must be a whole commit id"},
		base + `"`:           {base + base[:24] + `"`, ""},
		`"base": "` + base:   {`"error": {"code": "remote_unreachable", "message": "", "file": "", "line": 0, "field": "", "hint": ""}, "base": "`, ""},
		// A key that is not there, or that is null, is not nothing.
		`, "policy": {"spotCheck": 1, "repairs": 1, "review": 0}`: {``, "plan.json:1: policy: the key is missing"},
		`{"spotCheck": 1, "repairs": 1, "review": 0}`:             {`null`, "policy: is null"},
		`{"spotCheck": 1, `:               {`{`, "plan.json:1: policy.spotCheck: the key is missing"},
		`"spotCheck": 1,`:                 {`"spotCheck": null,`, "policy.spotCheck: is null"},
		`, "repairs": 1`:                  {``, "policy.repairs: the key is missing"},
		`, "review": 0`:                   {``, "policy.review: the key is missing"},
		`{"schemaVersion": 1, `:           {`{`, "schemaVersion is 0"},
		`"driver": "script", `:            {``, "driver: the key is missing"},
		`"slug": "a", `:                   {``, "plan.json:2: items[0].slug: the key is missing"},
		`, "fingerprint": "f"`:            {``, "items[0].fingerprint: the key is missing"},
		`"remote": "origin", `:            {``, "plan.json:3: repositories[0].remote: the key is missing"},
		",\n  \"base\": \"" + base + "\"": {``, "repositories[0].base: the key is missing"},
	} {
		_, err := wave.ReadManifest("plan.json", []byte(strings.Replace(whole, old, tt.now, 1)))
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s for %s: %v", tt.now, old, err)
		}
	}
}
