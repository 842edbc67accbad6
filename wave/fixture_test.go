package wave_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/driver"
	"aesop/driver/script"
	"aesop/statestore"
	"aesop/statestore/sqlite"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// built is a folder for binaries that several tests use.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "aesop-wave-test-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(built); err != nil {
			panic(err)
		}
		os.Exit(code)
	}))
}

// world is a repository with a remote, a backlog and a state, all in one temporary folder.
type world struct {
	t                        *testing.T
	dir, repo, remote, state string
	backlog, scriptFile      string
}

// item is a backlog row as tests write it.
type item map[string]any

// newWorld makes a repository with one pushed commit.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: dir, repo: filepath.Join(dir, "repo"), remote: filepath.Join(dir, "remote.git"), state: filepath.Join(dir, "state")}
	w.backlog, w.scriptFile = filepath.Join(w.repo, "tracker.json"), filepath.Join(dir, "script.json")
	w.git("", "init", "--quiet", "--bare", "--initial-branch=main", w.remote)
	w.git("", "init", "--quiet", "--initial-branch=main", w.repo)
	w.write("README.md", "# A repository\n")
	w.write(".gitignore", "tracker.json\n")
	w.commit("Begin")
	w.git(w.repo, "remote", "add", "origin", w.remote)
	w.git(w.repo, "push", "--quiet", "--set-upstream", "origin", "main")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.repo, name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) commit(message string) string {
	w.t.Helper()
	w.git(w.repo, "add", "--all")
	w.git(w.repo, "commit", "--quiet", "--message="+message)
	return w.git(w.repo, "rev-parse", "HEAD")
}

// git runs git without the user's configuration and returns what it printed.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Tester", "GIT_AUTHOR_EMAIL=tester@example.com",
		"GIT_COMMITTER_NAME=Tester", "GIT_COMMITTER_EMAIL=tester@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// items writes the backlog; what a row leaves out is filled in.
func (w *world) items(rows ...item) {
	w.t.Helper()
	for _, row := range rows {
		id := row["id"].(string)
		for key, value := range (item{"slug": id, "status": "todo", "ownsFiles": []string{id + ".txt"}, "prompt": "Write " + id + ".txt.",
			"testCmd": "grep -q good " + id + ".txt"}) {
			if _, ok := row[key]; !ok {
				row[key] = value
			}
		}
	}
	data, err := json.MarshalIndent(map[string]any{"items": rows}, "", "  ")
	must(w.t, err)
	must(w.t, os.WriteFile(w.backlog, append(data, '\n'), 0o644))
}

// attempt is an entry of the script.
type attempt map[string]any

// writes is an attempt that writes one file.
func writes(name, text string) attempt { return attempt{"files": map[string]string{name: text}} }

// good is the attempt that makes item id pass its default test.
func good(id string) []attempt { return []attempt{writes(id+".txt", "good\n")} }

func (w *world) script(plays map[string][]attempt) {
	w.t.Helper()
	data, err := json.Marshal(plays)
	must(w.t, err)
	must(w.t, os.WriteFile(w.scriptFile, data, 0o644))
}

func (w *world) scriptDriver() driver.Driver {
	w.t.Helper()
	d, err := script.Open(w.scriptFile)
	must(w.t, err)
	return d
}

// option changes the configuration of a scheduler.
type option func(*wave.Config)

// scheduler opens a scheduler on the world, with a store of its own that the test closes.
func (w *world) scheduler(options ...option) *wave.Scheduler {
	w.t.Helper()
	return w.schedulerOn(w.store(), options...)
}

func (w *world) schedulerOn(store statestore.Store, options ...option) *wave.Scheduler {
	w.t.Helper()
	c := wave.Config{Repo: w.repo, State: w.state, Tracker: w.tracker(), Store: store, Owner: "tester", Lookup: w.lookup,
		TestTimeout: time.Minute, AgentTimeout: time.Minute}
	for _, o := range options {
		o(&c)
	}
	if c.Driver == nil {
		c.Driver = w.scriptDriver()
	}
	s, err := wave.New(w.t.Context(), c)
	must(w.t, err)
	return s
}

func (w *world) lookup(name string) (string, bool) {
	switch name {
	case "PATH":
		return os.LookupEnv(name)
	case "HOME":
		return filepath.Join(w.dir, "home"), true
	}
	return "", false
}

func (w *world) store() statestore.Store {
	w.t.Helper()
	_, err := wave.Place(w.state)
	must(w.t, err)
	store, err := sqlite.Open(w.t.Context(), sqlite.Config{Path: filepath.Join(w.state, "state.db")})
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, store.Close()) })
	return watched{store, w.t}
}

func (w *world) tracker() *tracker.File {
	w.t.Helper()
	f, err := tracker.OpenFile(tracker.FileConfig{Path: w.backlog, LockDir: filepath.Join(w.state, "locks")})
	must(w.t, err)
	return f
}

// run runs one wave, which must not fail as such.
func (w *world) run(options ...option) wave.Report {
	w.t.Helper()
	report, err := w.scheduler(options...).Run(w.t.Context())
	if err != nil {
		w.t.Fatalf("run: %v", err)
	}
	checkContract(w.t, report)
	return report
}

// read is the backlog's row of an item.
func (w *world) read(id string) tracker.Item {
	w.t.Helper()
	backlog, err := w.tracker().Backlog(w.t.Context())
	must(w.t, err)
	for _, i := range backlog.Items {
		if i.ID == id {
			return i
		}
	}
	w.t.Fatalf("no item %s in the backlog", id)
	return tracker.Item{}
}

// refs are the refs of the remote.
func (w *world) refs() map[string]string {
	w.t.Helper()
	refs := map[string]string{}
	for line := range strings.Lines(w.git("", "--git-dir="+w.remote, "for-each-ref", "--format=%(refname) %(objectname)")) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = sha
	}
	return refs
}

// show is a file at a commit on the remote.
func (w *world) show(commit, name string) string {
	w.t.Helper()
	return w.git("", "--git-dir="+w.remote, "show", commit+":"+name)
}

func reported(t *testing.T, r wave.Report, id string) wave.ItemReport {
	t.Helper()
	for _, i := range r.Items {
		if i.ID == id {
			return i
		}
	}
	t.Fatalf("no item %s in the report: %s", id, asJSON(r))
	return wave.ItemReport{}
}

func wantState(t *testing.T, r wave.Report, id string, state journal.State) wave.ItemReport {
	t.Helper()
	i := reported(t, r, id)
	if i.State != state {
		t.Fatalf("%s is %s (%s), want %s\n%s", id, i.State, i.Reason, state, asJSON(r))
	}
	return i
}

func wantOutcome(t *testing.T, r wave.Report, o journal.Outcome) {
	t.Helper()
	if r.Outcome != o {
		t.Fatalf("outcome %s, want %s\n%s", r.Outcome, o, asJSON(r))
	}
}

func wantStatus(t *testing.T, i tracker.Item, s tracker.Status) {
	t.Helper()
	if i.Status != s {
		t.Fatalf("%s is %s in the backlog (%s), want %s", i.ID, i.Status, i.StatusReason, s)
	}
}

func asJSON(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// agent is a Driver whose work is a function; what it was asked is kept.
type agent struct {
	work  func(ctx context.Context, t driver.Task) (driver.Result, error)
	info  driver.Info
	mu    sync.Mutex
	tasks []driver.Task
}

func (a *agent) Info() driver.Info {
	info := a.info
	if info.Name == "" {
		info.Name, info.Tier = "played", 4
	}
	return info
}

func (a *agent) Run(ctx context.Context, t driver.Task, _ func(driver.Event)) (driver.Result, error) {
	a.mu.Lock()
	a.tasks = append(a.tasks, t)
	a.mu.Unlock()
	return a.work(ctx, t)
}

// with makes a scheduler use a driver.
func with(d driver.Driver) option { return func(c *wave.Config) { c.Driver = d } }

// put writes a file of a task's tree.
func put(t driver.Task, name, text string) error {
	path := filepath.Join(t.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// runOn runs one wave on a store that the test holds.
func (w *world) runOn(store statestore.Store, options ...option) wave.Report {
	w.t.Helper()
	report, err := w.schedulerOn(store, options...).Run(w.t.Context())
	must(w.t, err)
	checkContract(w.t, report)
	return report
}

// signingKey is where a store keeps the key that signs commits.
const signingKey = statestore.Key("key/signature")

// copyKey gives a store another's key, as two machines of one fleet have it.
func copyKey(t *testing.T, from, to statestore.Store) {
	t.Helper()
	var value []byte
	must(t, from.View(t.Context(), func(r statestore.Reader) error {
		record, err := r.Get(signingKey)
		value = record.Value
		return err
	}))
	must(t, to.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := tx.Put(signingKey, value, 0)
		return err
	}))
}

// keepOnlyKey makes the state as new but for the key that signs commits.
func (w *world) keepOnlyKey() {
	w.t.Helper()
	old := w.store()
	w.state += "-2"
	copyKey(w.t, old, w.store())
}

// edit replaces text in the backlog, as a person would.
func (w *world) edit(old, replacement string) {
	w.t.Helper()
	data, err := os.ReadFile(w.backlog)
	must(w.t, err)
	if !strings.Contains(string(data), old) {
		w.t.Fatalf("the backlog has no %q:\n%s", old, data)
	}
	must(w.t, os.WriteFile(w.backlog, []byte(strings.ReplaceAll(string(data), old, replacement)), 0o644))
}

// lateScript plays the script as it is when the agent starts, not when the scheduler was made.
func (w *world) lateScript() func(context.Context, driver.Task) (driver.Result, error) {
	return func(ctx context.Context, t driver.Task) (driver.Result, error) {
		d, err := script.Open(w.scriptFile)
		if err != nil {
			return driver.Result{}, err
		}
		return d.Run(ctx, t, nil)
	}
}

// atEvent does something right after each event of a type.
func atEvent(kind string, then func(e journal.Event)) option {
	return func(c *wave.Config) {
		c.Observers = append(c.Observers, &watcher{look: func(_ *journal.Wave, e journal.Event) {
			if e.Type() == kind {
				then(e)
			}
		}})
	}
}
