package wave_test

import (
	"context"
	"encoding/json"
	"errors"
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
		"another repository":            {func(m map[string]any) { manifestItem(m, 0)["repo"] = "api" }, nil, "repo of item a"},
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
	const whole = `{"schemaVersion": 1, "driver": "script", "policy": {"spotCheck": 1, "repairs": 1, "review": 0},
 "items": [{"id": "a", "fingerprint": "f"}]}`
	if _, err := wave.ReadManifest("plan.json", []byte(whole)); err != nil {
		t.Fatal(err)
	}
	for old, tt := range map[string]struct{ now, says string }{
		`"driver"`:             {`"drive"`, `plan.json:1: drive: no such key (did you mean "driver"?)`},
		`"id": "a"`:            {`"id": 7`, "plan.json:2: items[0].id: is a number, must be a string"},
		`"schemaVersion"`:      {`"outcome": "good", "schemaVersion"`, ""},
		`: 1, "driver"`:        {`: 2, "driver"`, "schemaVersion is 2, this version reads 1"},
		`"repairs": 1`:         {`"repairs": -1`, "repairs is -1"},
		`"spotCheck": 1`:       {`"spotCheck": 1.5`, "spotCheck is 1.5"},
		`}]`:                   {`}, {"id": "a", "fingerprint": "f"}]`, `"a" stands twice`},
		`, "fingerprint": "f"`: {``, `"a" has no id or no fingerprint`},
		`"items": [`:           {`"items": {`, "plan.json:2:"},
	} {
		_, err := wave.ReadManifest("plan.json", []byte(strings.Replace(whole, old, tt.now, 1)))
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s for %s: %v", tt.now, old, err)
		}
	}
}
