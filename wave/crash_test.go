package wave_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
	"aesop/wave"
	"aesop/wave/journal"
)

// failing is the example binary with failpoints; it is built once, into the folder that TestMain removes.
var failing = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "wave")
	out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", path, "../examples/wave").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// binary runs the failpoint binary in the world and returns its exit code, -1 where a signal ended it.
func (w *world) binary(failpoint string, args ...string) (code int, stdout string) {
	w.t.Helper()
	path, err := failing()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), path, append(args, "--repo", w.repo, "--state", w.state, "--driver", "script", "--script", w.scriptFile, "--json")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "AESOP_FAILPOINT=" + failpoint, "GIT_CONFIG_NOSYSTEM=1"}
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		w.t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() == 2 {
		w.t.Logf("%v: %s", args, diagnostics.String())
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// crashWorld has an item that ships, one that is repaired and ships, and two that do not ship.
func crashWorld(t *testing.T) *world {
	w := newWorld(t)
	w.items(item{"id": "ships"}, item{"id": "repaired"}, item{"id": "strays"}, item{"id": "fails"})
	w.write("aesop.json", `{"verify": "true", "notify": [{"name": "log", "file": "../news.jsonl"}]}`)
	w.script(map[string][]attempt{"ships": good("ships"), "repaired": {writes("repaired.txt", "poor"), writes("repaired.txt", "good")},
		"strays": {writes("README.md", "mine")}, "fails": {{"fail": "refused"}}})
	return w
}

// end is the state that a wave leaves: what the remote has, what the backlog says, the fold, and the report, without what differs
// between two runs of the same work.
type end struct {
	Refs    map[string]string // content of the tree by ref
	Backlog string
	Fold    map[string]string
	Report  string
	News    []string // that was told, each once
}

func (w *world) end(id string) end {
	w.t.Helper()
	e := end{Refs: map[string]string{}, Fold: map[string]string{}}
	for ref, sha := range w.refs() {
		e.Refs[strings.ReplaceAll(ref, id, "WAVE")] = w.git("", "--git-dir="+w.remote, "ls-tree", "-r", sha)
	}
	data, err := os.ReadFile(w.backlog)
	must(w.t, err)
	e.Backlog = normal(string(data), id)
	store := w.store()
	must(w.t, store.View(w.t.Context(), func(r statestore.Reader) error {
		fold, err := journal.Fold(r, id)
		if err != nil {
			return err
		}
		for _, i := range fold.Select(func(*journal.ItemState) bool { return true }) {
			state := "shipped"
			if i.End != nil {
				state = string(i.End.State)
			}
			for _, a := range i.Attempts {
				if a.Ended != nil && a.Ended.Outcome != journal.OutcomeCancelled {
					state += " " + a.Ended.Outcome
				}
			}
			if !i.Settled {
				state += " unsettled"
			}
			e.Fold[i.ID] = state
		}
		place, err := wave.Place(w.state)
		if err != nil {
			return err
		}
		if open, err := journal.Open(r, place); err != nil || len(open) > 0 {
			w.t.Errorf("waves %v are still open (%v)", open, err)
		}
		for _, check := range []func(statestore.Reader) ([]statestore.Drift, error){job.Check, journal.Check, lifecycle.Check} {
			drifts, err := check(r)
			if err != nil || len(drifts) > 0 {
				w.t.Errorf("records are not what the events say: %v (%v)", drifts, err)
			}
		}
		return nil
	}))
	data, err = os.ReadFile(wave.ReportPath(w.state, id))
	must(w.t, err)
	var report wave.Report
	must(w.t, json.Unmarshal(data, &report))
	for n := range report.Items {
		i := &report.Items[n]
		i.Attempts = slices.DeleteFunc(i.Attempts, func(a wave.AttemptReport) bool { return a.Outcome == journal.OutcomeCancelled })
		for a := range i.Attempts {
			i.Attempts[a].DurationMs, i.Attempts[a].Parked = 0, nil
		}
		i.Usage, i.Durations = report.Items[0].Usage, wave.DurationsReport{}
		i.Usage.Metered = false
	}
	e.Report = normal(asJSON(report), id)
	e.News = w.news(id)
	return e
}

// notify is what aesop.json says of who is told, for schedulers that do not read it.
func (w *world) notify() []outbox.Named {
	kinds := []string{wave.NewsEnded, wave.NewsStopped, "job.complete", "job.fail", "job.cancel", "job.timeout", "job.infer", "job.finalize", "agent.stalled"}
	return []outbox.Named{{Subscription: outbox.Subscription{Name: "log", Kinds: kinds}, Sink: sink.NewFile(filepath.Join(w.dir, "news.jsonl"))}}
}

// news is what was told of a wave and its jobs. Whoever was killed when, each piece was told once, and nothing is owed.
func (w *world) news(id string) []string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "news.jsonl"))
	if errors.Is(err, os.ErrNotExist) { // nobody is told
		return nil
	}
	must(w.t, err)
	var all []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		told, err := outbox.ParseDocument([]byte(line))
		must(w.t, err)
		if seen[told.ID] {
			w.t.Errorf("%s of %s was told twice", told.Kind, told.Subject)
		}
		seen[told.ID] = true
		if told.Kind == wave.NewsStopped { // an undisturbed wave has none
			continue
		}
		all = append(all, told.Kind+" "+strings.ReplaceAll(told.Subject, id, "WAVE"))
	}
	must(w.t, w.store().View(w.t.Context(), func(r statestore.Reader) error {
		for owed, err := range outbox.Pending(r, "log") {
			if err != nil {
				return err
			}
			w.t.Errorf("%s of %s is still owed", owed.Intent.Kind, owed.Intent.Subject)
		}
		return nil
	}))
	slices.Sort(all)
	return all
}

var (
	hexID = regexp.MustCompile(`\b[0-9a-f]{40}\b|\b[0-9a-f]{16}\b`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

func normal(text, id string) string {
	text = strings.ReplaceAll(text, id, "WAVE")
	text = regexp.MustCompile(`"epoch": \d+`).ReplaceAllString(text, `"epoch": N`)
	return times.ReplaceAllString(hexID.ReplaceAllString(text, "HEX"), "TIME")
}

// endDiff compares the end of a wave of a crashWorld with that of an undisturbed one.
func (w *world) endDiff(id string) string {
	w.t.Helper()
	undisturbed := crashWorld(w.t)
	if code, out := undisturbed.binary("", "run"); code != 1 {
		w.t.Fatalf("undisturbed run: exit %d\n%s", code, out)
	}
	return cmp.Diff(undisturbed.end(undisturbed.newest()), w.end(id))
}

// marked are the processes that carry a mark of the wave.
func marked(t *testing.T, id string) []string {
	t.Helper()
	var found []string
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	must(t, err)
	for _, path := range environments {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // gone, or somebody else's
		}
		for variable := range strings.SplitSeq(string(data), "\x00") {
			if strings.HasPrefix(variable, "AESOP_MARK=") && strings.Contains(variable, "/"+id+"/") {
				found = append(found, path+" "+variable)
			}
		}
	}
	return found
}

// newest is the id of the world's newest wave.
func (w *world) newest() string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.state, "waves"))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	must(w.t, err)
	id := ""
	for _, e := range entries {
		id = max(id, e.Name())
	}
	return id
}

func TestKilledAtEveryPointResumeReachesTheSameEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL and the process table of Linux")
	}
	// Every event is a point, but for those that this wave does not have.
	absent := []string{"adopted", "alerted", "asked", "budgeted", "base_moved", "corrected", "dropped", "gate_checked", "judged", "push_failed", "rebased", "repository_failed", "resumed", "stopped", "taken_over", "unanswered"}
	effects := []string{"tracker_claim", "commit", "push", "tracker", "report"}
	points := slices.Concat(slices.DeleteFunc(journal.Types(), func(name string) bool { return slices.Contains(absent, name) }), effects)
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := crashWorld(t)
			if code, out := w.binary(point, "run"); code != -1 {
				t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
			}
			code, _ := w.binary("", "resume")
			if code != 1 {
				t.Fatalf("resume: exit %d", code)
			}
			if diff := w.endDiff(w.newest()); diff != "" {
				t.Errorf("undisturbed (-) and resumed (+) differ:\n%s", diff)
			}
			if left := marked(t, w.newest()); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if code, out := w.binary("", "resume"); code != 0 {
				t.Errorf("a second resume: exit %d\n%s", code, out)
			}
		})
	}
}
