package wave_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/driver"
	"aesop/redact"
	"aesop/redact/redacttest"
	"aesop/redact/scan"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// secretShaped is a text with the form of a credential, the same for the same number.
func secretShaped(n uint64) string {
	return redacttest.Fill(rand.New(rand.NewPCG(n, n)), "ghp_{alnum:36}")
}

// shapeRule is the rule that finds it.
func shapeRule(t *testing.T) string {
	t.Helper()
	r, err := redact.New(redact.Config{})
	must(t, err)
	return r.Explain([]byte(secretShaped(1)))[0].Rule
}

// writesFile is an agent that writes, for each item, one file; and for the items of several, "good" into the item's own beside.
func writesFile(files map[string][2]string) *agent {
	a := &agent{}
	a.work = func(_ context.Context, task driver.Task) (driver.Result, error) {
		if f, ok := files[task.Item]; ok {
			if err := put(task, f[0], f[1]); err != nil {
				return driver.Result{}, err
			}
		}
		if _, err := os.Stat(filepath.Join(task.Dir, task.Item+".txt")); err == nil {
			return driver.Result{}, nil
		}
		return driver.Result{}, put(task, task.Item+".txt", "good\n")
	}
	return a
}

// wantFound checks an item that a scan keeps back: where in the commit and by which rule, but not what; and nothing of it on the remote.
func (w *world) wantFound(r wave.Report, id string, says ...string) wave.ItemReport {
	w.t.Helper()
	i := wantState(w.t, r, id, journal.StateSecretFound)
	if i.Failure == nil || i.Failure.Step != "scan" || i.Pushed || i.Commit != nil || i.Scan == nil {
		w.t.Fatalf("%s: failure %s, scan %s, commit %v", id, asJSON(i.Failure), asJSON(i.Scan), i.Commit)
	}
	for _, text := range says {
		if !strings.Contains(i.Failure.Tail, text) {
			w.t.Errorf("%s: the findings do not say %q:\n%s", id, text, i.Failure.Tail)
		}
	}
	if !i.Verified || w.refs()[wave.ItemRef(id)] != "" {
		w.t.Errorf("%s: verified %t, on the remote %q", id, i.Verified, w.refs()[wave.ItemRef(id)])
	}
	return i
}

// wantNotPushed fails where any object of a repository has a text.
func (w *world) wantNotPushed(text string) {
	w.t.Helper()
	for line := range strings.Lines(w.git("", "--git-dir="+w.remote, "cat-file", "--batch-all-objects", "--batch-check")) {
		id, _, _ := strings.Cut(line, " ")
		if strings.Contains(w.git("", "--git-dir="+w.remote, "cat-file", "-p", id), text) {
			w.t.Errorf("object %s of the remote has it", id)
		}
	}
}

// TestItemsWithASecretDoNotShip, wherever in the commit it is, and the others of the wave do.
func TestItemsWithASecretDoNotShip(t *testing.T) {
	w := newWorld(t)
	shaped, rule := secretShaped(1), shapeRule(t)
	w.items(item{"id": "clean"}, item{"id": "shaped"}, item{"id": "known"}, item{"id": "name", "ownsFiles": []string{"name.txt", "folder/"}},
		item{"id": "title", "title": "Use " + secretShaped(2)})
	store := w.store()
	report := w.runOn(store, knowing(t), with(writesFile(map[string][2]string{"shaped": {"shaped.txt", "good\n\n  x: " + shaped + "\n"},
		"known": {"known.txt", "good " + word + "\n"}, "name": {"folder/" + secretShaped(3) + ".txt", "x"}})))
	wantOutcome(t, report, journal.Partial)
	w.wantFound(report, "shaped", "CRITICAL shaped.txt:3:6 "+rule)
	w.wantFound(report, "known", "CRITICAL known.txt:1:6 known-value")
	w.wantFound(report, "name", "(its name) "+rule)
	for _, id := range []string{"clean", "title"} {
		i := wantState(t, report, id, journal.StateShipped)
		if i.Scan == nil || i.Scan.Commit != *i.Commit || len(i.Scan.Allowed) > 0 {
			t.Errorf("%s: scan %s", id, asJSON(i.Scan))
		}
	}
	if report.Steps.Scan != "done" {
		t.Errorf("step %s", report.Steps.Scan)
	}
	if message := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%s", *reported(t, report, "title").Commit); message != "Use [REDACTED:"+rule+"]" {
		t.Errorf("commit message %q", message)
	}
	for id, counted := range map[string]int{"shaped": 1, "known": 1, "clean": 0} {
		if row := w.read(id); row.Attempts != counted {
			t.Errorf("%s has %d attempts in the backlog", id, row.Attempts)
		}
	}
	wantStatus(t, w.read("shaped"), tracker.Failed)
	for n := range uint64(3) {
		w.wantNotPushed(secretShaped(n + 1))
	}
	w.wantNotPushed(word)
	wantNoWord(t, "the report", report)
	// Until it is discarded, what was made is kept, and wave diff shows it.
	if d, err := w.archive(store).Diff(t.Context(), "", "shaped"); err != nil || !strings.Contains(d.Text, shaped) {
		t.Errorf("diff %q, %v", d.Text, err)
	}
}

// TestCorrectionsAreScanned: what a person's program brings in after the first scan does not ship either.
func TestCorrectionsAreScanned(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	var asked sync.Map // how often, by item
	report := w.run(func(c *wave.Config) {
		c.Approver = approver(func(change wave.Change) wave.Judgement {
			asked.Store(fmt.Sprintf("%s %d", change.Item.ID, len(change.Corrected)), true)
			if len(change.Corrected) == 0 {
				text := map[string]string{"a": "good " + secretShaped(1), "b": "good and better"}[change.Item.ID]
				return wave.Judgement{Correction: &wave.Correction{Write: []wave.File{{Path: change.Item.ID + ".txt", Data: []byte(text)}}}, By: "ann"}
			}
			return wave.Judgement{OK: true, By: "ann"}
		})
	})
	i := w.wantFound(report, "a", "a.txt:1:6")
	if len(i.Corrected) != 1 || i.Corrected[0].Commit == nil || i.Scan.Commit != *i.Corrected[0].Commit {
		t.Errorf("corrected %s, scan %s", asJSON(i.Corrected), asJSON(i.Scan))
	}
	if i := wantState(t, report, "b", journal.StateShipped); i.Scan.Commit != *i.Commit {
		t.Errorf("scan %s of commit %s", asJSON(i.Scan), *i.Commit)
	}
	w.wantNotPushed(secretShaped(1))
	for question, want := range map[string]bool{"a 0": true, "a 1": false, "b 0": true, "b 1": true} {
		if _, was := asked.Load(question); was != want {
			t.Errorf("asked about %s: %t", question, was)
		}
	}
}

type approver func(wave.Change) wave.Judgement

func (a approver) Approve(_ context.Context, c wave.Change) (wave.Judgement, error) { return a(c), nil }

// TestFollowersAreScannedAgain: on a base that moved on, the rules of that base hold.
func TestFollowersAreScannedAgain(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	rules := `{"schemaVersion": 1, "rules": [{"id": "house-key", "severity": "critical", "pattern": "house-[0-9]{6}"}]}`
	played := writesFile(map[string][2]string{"a": {"a.txt", "good house-123456\n"}})
	work := played.work
	played.work = func(ctx context.Context, task driver.Task) (driver.Result, error) {
		if task.Item == "a" {
			w.pushMain(scan.FileName, rules)
		}
		return work(ctx, task)
	}
	scanned := map[string]int{}
	report := w.run(with(played), atEvent("scanned", func(e journal.Event) { scanned[e.(journal.Scanned).Item]++ }))
	w.wantFound(report, "a", "a.txt:1:6 house-key")
	if i := wantState(t, report, "b", journal.StateShipped); i.Scan.Commit != *i.Commit || scanned["b"] != 2 || scanned["a"] != 2 {
		t.Errorf("scan %s of commit %s, scanned %v", asJSON(i.Scan), *i.Commit, scanned)
	}
}

// exemption is an aesop-scan.json that allows what a rule finds in a content at a path.
func exemption(path, rule, content string) string {
	sum := sha256.Sum256([]byte(content))
	return fmt.Sprintf(`{"schemaVersion": 1, "exemptions": [{"path": %q, "rule": %q, "sha256": %q, "as": "doc", "reason": "shows the shape", "expires": %q}]}`,
		path, rule, hex.EncodeToString(sum[:]), time.Now().AddDate(1, 0, 0).Format(time.DateOnly))
}

// TestExemptionsAreThoseOfTheBase: they allow, and the report shows what; those that an item brings itself do not.
func TestExemptionsAreThoseOfTheBase(t *testing.T) {
	content, rule := "good "+secretShaped(1)+"\n", shapeRule(t)
	for _, owner := range []string{"base", "item"} {
		t.Run(owner, func(t *testing.T) {
			w := newWorld(t)
			files := map[string][2]string{"a": {"a.txt", content}}
			if owner == "base" {
				w.write(scan.FileName, exemption("a.txt", rule, content))
				w.commit("Allow it")
				w.git(w.repo, "push", "--quiet", "origin", "main")
			}
			w.items(item{"id": "a", "ownsFiles": []string{"a.txt", scan.FileName}})
			played := writesFile(files)
			work := played.work
			played.work = func(ctx context.Context, task driver.Task) (driver.Result, error) {
				if owner == "item" {
					if err := put(task, scan.FileName, exemption("a.txt", rule, content)); err != nil {
						return driver.Result{}, err
					}
				}
				return work(ctx, task)
			}
			report := w.run(with(played))
			if owner == "item" {
				w.wantFound(report, "a", "a.txt:1:6 "+rule)
				return
			}
			i := wantState(t, report, "a", journal.StateShipped)
			if len(i.Scan.Allowed) != 1 || !strings.HasPrefix(i.Scan.Allowed[0], "ALLOWED-DOC a.txt:1:6 "+rule) || !strings.Contains(i.Scan.Allowed[0], "shows the shape") {
				t.Errorf("scan %s", asJSON(i.Scan))
			}
		})
	}
}

// TestApprovalsOfTheUserCount: what the user of this machine approved ships.
func TestApprovalsOfTheUserCount(t *testing.T) {
	w := newWorld(t)
	content, rule := "good "+secretShaped(1)+"\n", shapeRule(t)
	sum := sha256.Sum256([]byte(content))
	w.store() // makes the state
	data, err := json.Marshal(map[string]any{"schemaVersion": 1, "approvals": []map[string]any{{"path": "a.txt", "rule": rule, "sha256": hex.EncodeToString(sum[:]),
		"reason": "a sample", "approvedAt": time.Now().UTC().Format(time.RFC3339), "expires": time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339)}}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(w.state, "scan-approvals.json"), data, 0o600))
	w.items(item{"id": "a"})
	i := wantState(t, w.run(with(writesFile(map[string][2]string{"a": {"a.txt", content}}))), "a", journal.StateShipped)
	if len(i.Scan.Allowed) != 1 || !strings.HasPrefix(i.Scan.Allowed[0], "APPROVED-BY-USER a.txt") {
		t.Errorf("scan %s", asJSON(i.Scan))
	}
}

// TestNamesOfCredentialFilesAreWarnings in the report, and ship.
func TestNamesOfCredentialFilesAreWarnings(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "ownsFiles": []string{"a.txt", ".env"}})
	i := wantState(t, w.run(with(writesFile(map[string][2]string{"a": {".env", "LEVEL=debug\n"}}))), "a", journal.StateShipped)
	if len(i.Scan.Warnings) != 1 || !strings.HasPrefix(i.Scan.Warnings[0], "WARN .env") || len(i.Scan.Allowed) != 0 {
		t.Errorf("scan %s", asJSON(i.Scan))
	}
}

// damaged is an aesop-scan.json that cannot be read.
const damaged = `{"schemaVersion": 1, "exemptions": [{"path": "a.txt"`

// TestBaseThatCannotBeScannedStopsTheWave before an agent is paid, and nothing is pushed; when it is mended, the next wave ships.
func TestBaseThatCannotBeScannedStopsTheWave(t *testing.T) {
	w := newWorld(t)
	w.write(scan.FileName, damaged)
	w.commit("Damage it")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	w.items(item{"id": "a"})
	before, played, store := w.refs(), writesFile(nil), w.store()
	report := w.runOn(store, with(played))
	wantOutcome(t, report, journal.GateUnavailable)
	if report.HaltReason == nil || !strings.Contains(*report.HaltReason, "gate scan cannot be evaluated") || !strings.Contains(*report.HaltReason, "aesop-scan.json") {
		t.Errorf("reason %s", asJSON(report.HaltReason))
	}
	if after := w.refs(); len(played.tasks) > 0 || report.Steps.Scan != "partial" || asJSON(after) != asJSON(before) {
		t.Errorf("%d agents, step %s, pushed %v", len(played.tasks), report.Steps.Scan, after)
	}
	wantStatus(t, w.read("a"), tracker.Todo)
	w.write(scan.FileName, `{"schemaVersion": 1}`)
	w.commit("Mend it")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	wantState(t, w.runOn(store, with(played)), "a", journal.StateShipped)
}

// TestScanThatCannotBeEvaluatedStopsTheWave: nothing is pushed, and once the cause is gone a resume goes on from there.
func TestScanThatCannotBeEvaluatedStopsTheWave(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	approvals := filepath.Join(w.state, "scan-approvals.json")
	played := writesFile(nil)
	work := played.work
	played.work = func(ctx context.Context, task driver.Task) (driver.Result, error) {
		if err := os.WriteFile(approvals, []byte("{"), 0o600); err != nil {
			return driver.Result{}, err
		}
		return work(ctx, task)
	}
	before, store := w.refs(), w.store()
	report := w.runOn(store, with(played))
	wantOutcome(t, report, journal.GateUnavailable)
	for _, id := range []string{"a", "b"} {
		if i := wantState(t, report, id, journal.StateParked); !i.Verified || i.Scan != nil {
			t.Errorf("%s: verified %t, scan %s", id, i.Verified, asJSON(i.Scan))
		}
	}
	if after := w.refs(); report.Steps.Scan != "partial" || asJSON(after) != asJSON(before) {
		t.Errorf("step %s, pushed %v", report.Steps.Scan, after)
	}
	must(t, os.Remove(approvals))
	reports, err := w.schedulerOn(store, with(played)).Resume(t.Context(), "")
	must(t, err)
	for _, id := range []string{"a", "b"} {
		wantState(t, reports[0], id, journal.StateShipped)
	}
	if len(played.tasks) != 2 || reports[0].Steps.Scan != "done" {
		t.Errorf("%d agents, step %s", len(played.tasks), reports[0].Steps.Scan)
	}
}

// TestDamagedRulesHarmOnlyTheirOwner: those of an item's commit end the item, and a base that goes on to such is not followed.
func TestDamagedRulesHarmOnlyTheirOwner(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "ownsFiles": []string{"a.txt", scan.FileName}}, item{"id": "b"})
	report := w.run(with(writesFile(map[string][2]string{"a": {scan.FileName, damaged}})))
	i := wantState(t, report, "a", journal.StateSecretFound)
	if i.Failure.Step != "scan" || !strings.Contains(i.Failure.Tail, scan.FileName) || i.Scan != nil || i.Pushed {
		t.Errorf("failure %s, scan %s", asJSON(i.Failure), asJSON(i.Scan))
	}
	wantState(t, report, "b", journal.StateShipped)

	w = newWorld(t)
	w.items(item{"id": "a"})
	base, played := w.git(w.repo, "rev-parse", "HEAD"), writesFile(nil)
	work := played.work
	played.work = func(ctx context.Context, task driver.Task) (driver.Result, error) {
		w.pushMain(scan.FileName, damaged)
		return work(ctx, task)
	}
	report = w.run(with(played))
	if i := wantState(t, report, "a", journal.StateShipped); *report.Repositories[0].BaseCommit != base {
		t.Errorf("it stands on %s: %s", *report.Repositories[0].BaseCommit, asJSON(i))
	}
}

// TestResumedWavesAreScannedAgain: who takes a wave up knows other secrets than who left it.
func TestResumedWavesAreScannedAgain(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	played, store := writesFile(map[string][2]string{"a": {"a.txt", "good " + word}}), w.store()
	report := w.runOn(store, with(played), func(c *wave.Config) {
		c.Gates = []wave.Gate{refusing{"ship", &wave.Stop{Reason: "not now"}}}
	})
	if i := wantState(t, report, "a", journal.StateParked); i.Scan == nil {
		t.Fatal("it was not scanned")
	}
	reports, err := w.schedulerOn(store, with(played), knowing(t)).Resume(t.Context(), "")
	must(t, err)
	w.wantFound(reports[0], "a", "a.txt:1:6 known-value")
	wantState(t, reports[0], "b", journal.StateShipped)
	w.wantNotPushed(word)
}

// TestEachRepositoryIsScanned by its own rules.
func TestEachRepositoryIsScanned(t *testing.T) {
	all := newTwo(t)
	all.api.write(scan.FileName, `{"schemaVersion": 1, "rules": [{"id": "house-key", "severity": "critical", "pattern": "house-[0-9]{6}"}]}`)
	all.api.commit("Rules")
	all.api.git(all.api.repo, "push", "--quiet", "origin", "main")
	all.script(map[string][]attempt{"a": {writes("same.txt", "api house-123456\n")}, "w": {writes("same.txt", "web house-123456\n")},
		"v": {writes("v.txt", "good "+secretShaped(1))}})
	report := all.run()
	for id, says := range map[string]string{"a": "same.txt:1:5 house-key", "v": "v.txt:1:6 " + shapeRule(t)} {
		if i := wantState(t, report, id, journal.StateSecretFound); !strings.Contains(i.Failure.Tail, says) {
			t.Errorf("%s: %s", id, i.Failure.Tail)
		}
	}
	wantShipped(t, all.web, report, "w")
	all.web.wantNotPushed(secretShaped(1))
	all.api.wantNotPushed("house-123456")
}

// TestKilledAroundTheScan: what was verified and not scanned, or scanned and not ended, is scanned before it is pushed.
func TestKilledAroundTheScan(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not applicable: needs SIGKILL and the process table of Linux")
	}
	for _, point := range []string{"verified", "spot_checked", "scanned", "item_ended"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items(item{"id": "a"}, item{"id": "b"})
			w.script(map[string][]attempt{"a": {writes("a.txt", "good "+secretShaped(1))}, "b": good("b")})
			if code, out := w.binary(point, "run"); code != -1 {
				t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
			}
			if refs := w.refs(); len(refs) != 1 {
				t.Fatalf("pushed: %v", refs)
			}
			code, out := w.binary("", "resume")
			var report wave.Report
			if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 {
				t.Fatalf("resume: exit %d, %v", code, err)
			}
			w.wantFound(report, "a", "a.txt:1:6")
			if i := wantState(t, report, "b", journal.StateShipped); i.Scan.Commit != *i.Commit || report.Steps.Scan != "done" {
				t.Errorf("scan %s, step %s", asJSON(i.Scan), report.Steps.Scan)
			}
			w.wantNotPushed(secretShaped(1))
			if strings.Contains(out, secretShaped(1)) {
				t.Error("the report has it")
			}
		})
	}
}

// TestWeakAndLocalShipmentsAreScannedToo, like those to a remote with refs of items, and in each of several repositories.
func TestWeakAndLocalShipmentsAreScannedToo(t *testing.T) {
	files := map[string][2]string{"a": {"a.txt", "good " + secretShaped(1) + "\n"}}
	t.Run("weak", func(t *testing.T) {
		w := newWorld(t)
		w.refuseItemRefs("hidden")
		w.items(item{"id": "a"}, item{"id": "b"})
		report := w.run(with(writesFile(files)))
		w.wantFound(report, "a", "a.txt:1:6")
		wantState(t, report, "b", journal.StateShipped)
		if report.Repositories[0].Fence != "weak" {
			t.Errorf("the record: %s", asJSON(report.Repositories[0]))
		}
		w.wantNotPushed(secretShaped(1))
	})
	t.Run("local", func(t *testing.T) {
		w := newWorld(t)
		w.items(item{"id": "a"}, item{"id": "b"})
		report := w.run(with(writesFile(files)), local)
		w.wantFound(report, "a", "a.txt:1:6")
		wantState(t, report, "b", journal.StateShipped)
		branch := *report.Repositories[0].Branch
		if names := w.git(w.repo, "ls-tree", "--name-only", branch); strings.Contains(names, "a.txt") || !strings.Contains(names, "b.txt") {
			t.Errorf("branch %s has %s", branch, names)
		}
	})
}
