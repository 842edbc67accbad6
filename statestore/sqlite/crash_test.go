package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
)

const (
	pointVariable = "AESOP_TEST_POINT" // a failpoint that the child arms after some acknowledged updates
	runVariable   = "AESOP_TEST_RUN"   // a number that is in the ids of the child's events
	killsVariable = "AESOP_TEST_KILLS" // how often to kill at random instants, and sixteen times as often as to do each harm; default 50
)

// childCrash opens the store, writes with two goroutines, closes, and begins anew until it is killed. It prints the id of each
// update that was acknowledged.
func childCrash(path string) error {
	fmt.Println("started")
	acknowledged := 0
	var printing sync.Mutex
	for round := 0; ; round++ {
		store, err := Open(context.Background(), Config{Path: path})
		if err != nil {
			return err
		}
		results := make(chan error, 2)
		for writer := range cap(results) {
			go func() {
				var err error
				for i := 0; i < 20 && err == nil; i++ {
					id := fmt.Sprintf("%s/%d/%d/%d", os.Getenv(runVariable), writer, round, i)
					if err = store.Update(context.Background(), func(tx statestore.Tx) error { return crashWrite(tx, writer, id) }); err != nil {
						break
					}
					printing.Lock()
					fmt.Println(id)
					if acknowledged++; acknowledged == 5 {
						err = os.Setenv("AESOP_FAILPOINT", os.Getenv(pointVariable))
					}
					printing.Unlock()
				}
				results <- err
			}()
		}
		if err := errors.Join(<-results, <-results, store.Close()); err != nil {
			return err
		}
	}
}

// crashWrite writes a record and an event that belong together, and a large value that makes SQLite empty its log now and then.
func crashWrite(tx statestore.Tx, writer int, id string) error {
	_, put := tx.Put(statestore.Key("of/"+id), []byte(id), 0)
	_, large := tx.Put(statestore.Key("large/"+strconv.Itoa(writer)), make([]byte, 50_000), statestore.Any)
	_, appended := tx.Append("s", statestore.AnyVersion, statestore.Entry{ID: id, Type: "crash"})
	return errors.Join(put, large, appended)
}

// crashWorld is a database whose writers are killed, and what they acknowledged.
type crashWorld struct {
	*testing.T
	binary, path string
	runs         int
	acknowledged []string
}

// killable is this test with failpoints; it is built once, into the folder that TestMain removes.
var killable = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "killable.test")
	out, err := exec.Command("go", "test", "-c", "-tags", "failpoint", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// newCrashWorld has a child without the race detector, which would slow it down and sees nothing of what a kill leaves.
func newCrashWorld(t *testing.T) *crashWorld {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("not applicable: there is no SIGKILL")
	}
	binary, err := killable()
	if err != nil {
		t.Fatal(err)
	}
	return &crashWorld{T: t, binary: binary, path: filepath.Join(t.TempDir(), "new", "state.db")}
}

// fixture puts the database of schema version 1 there.
func (w *crashWorld) fixture() {
	w.Helper()
	data, err := os.ReadFile("testdata/v1.db")
	if err != nil {
		w.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(w.path), 0o700), os.WriteFile(w.path, data, 0o600)); err != nil {
		w.Fatal(err)
	}
}

// run runs a child until it dies, by itself or of kill, and says whether it was killed.
func (w *crashWorld) run(kill func(*os.Process), environment ...string) bool {
	w.Helper()
	w.runs++
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.binary)
	cmd.Env = append(os.Environ(), childVariable+"=crash", pathVariable+"="+w.path, runVariable+"="+strconv.Itoa(w.runs))
	cmd.Env = append(cmd.Env, environment...)
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n') // what was killed within a line was not said
		if err != nil {
			break
		}
		if line == "started\n" {
			kill(cmd.Process)
			continue
		}
		w.acknowledged = append(w.acknowledged, strings.TrimSuffix(line, "\n"))
	}
	_, _ = io.Copy(io.Discard, stdout)
	_ = cmd.Wait()
	if ctx.Err() != nil {
		w.Fatal("the child did not come to its point")
	}
	if diagnostics.Len() > 0 {
		w.Errorf("the child failed: %s", diagnostics.String())
	}
	return cmd.ProcessState.ExitCode() == -1
}

// verify opens the database after a crash and compares it with what was acknowledged: that is there, the rest is whole or absent,
// versions have no gap, SQLite finds no fault, and the gate is free.
func (w *crashWorld) verify() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	store, err := Open(ctx, Config{Path: w.path})
	if err != nil {
		w.Fatalf("open after the crash: %v", err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			w.Error(err)
		}
	}()
	if err := store.Update(ctx, func(tx statestore.Tx) error { _, err := tx.Put("after", nil, statestore.Any); return err }); err != nil {
		w.Fatalf("write after the crash: %v", err)
	}
	stored := map[string]bool{}
	versions := map[string]statestore.Version{}
	for i, event := range testEvents(w.T, store) {
		if versions[event.Stream]++; event.Seq != statestore.Seq(i+1) || event.Version != versions[event.Stream] {
			w.Fatalf("event %d is %+v", i+1, event)
		}
		if event.Type == "crash" {
			stored[event.ID] = true
		}
	}
	for _, id := range w.acknowledged {
		if !stored[id] {
			w.Errorf("%s was acknowledged and is lost", id)
		}
	}
	err = store.View(ctx, func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{Prefix: "of/"}) {
			if err != nil {
				return err
			}
			if id := strings.TrimPrefix(string(record.Key), "of/"); string(record.Value) != id || !stored[id] {
				w.Errorf("record %s = %q has no event", record.Key, record.Value)
			}
			delete(stored, strings.TrimPrefix(string(record.Key), "of/"))
		}
		return nil
	})
	if err != nil {
		w.Error(err)
	}
	if len(stored) > 0 {
		w.Errorf("events without a record: %v", stored)
	}
	if err := check(w.path); err != nil {
		w.Error(err)
	}
	if left, _ := filepath.Glob(w.path + "*.new*"); len(left) > 0 {
		w.Errorf("left behind: %v", left)
	}
}

// points are all failpoints and what a child does when it meets each: it makes the database, upgrades it, or has written before.
func points() map[string]string {
	return map[string]string{
		"create_file": "create", "create_filling": "create", "create_filled": "create", "create_renamed": "create", "created": "create",
		"group_begun": "write", "member_kept": "write", "group_whole": "write", "group_committed": "write", "gate_open": "write",
		"close_begun": "write", "closed": "write",
		"backup_file": "upgrade", "backup_written": "upgrade", "backup_renamed": "upgrade", "backed_up": "upgrade",
		"upgrade_begun": "upgrade", "upgrade_altered": "upgrade", "upgrade_checked": "upgrade", "upgraded": "upgrade",
	}
}

func TestEveryFailpointIsTested(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range regexp.MustCompile(`\bfail\("(.*?)"\)`).FindAllStringSubmatch(string(source), -1) {
			called[call[1]]++
		}
	}
	want := map[string]int{}
	for point := range points() {
		want[point] = 1
	}
	if diff := cmp.Diff(want, called); diff != "" {
		t.Errorf("points of the test (-) and calls (+) differ:\n%s", diff)
	}
}

func TestKilledAtEveryPoint(t *testing.T) {
	for point, doing := range points() {
		t.Run(point, func(t *testing.T) {
			w := newCrashWorld(t)
			variable := "AESOP_FAILPOINT="
			switch doing {
			case "upgrade":
				w.fixture()
			case "write":
				variable = pointVariable + "="
			}
			if !w.run(func(*os.Process) {}, variable+point) {
				t.Fatal("the failpoint was not reached")
			}
			if doing == "write" && len(w.acknowledged) < 5 {
				t.Fatalf("only %d updates were acknowledged", len(w.acknowledged))
			}
			w.verify()
			if doing == "upgrade" {
				w.verifyUpgrade()
			}
		})
	}
}

// killsWanted is how often to kill or to harm a store at random.
func killsWanted(t *testing.T) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	if text == "" {
		return 50
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number", killsVariable, text)
	}
	return n
}

// seeded is chance whose seed is logged where the test fails.
func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}

// TestKilledAtRandomInstants kills writers of a growing database, of a new one and of one that is upgraded. What a seed does
// depends on the machine, so it narrows a failure down and does not repeat it.
func TestKilledAtRandomInstants(t *testing.T) {
	kills := killsWanted(t)
	random := seeded(t)
	var growing *crashWorld
	acknowledged := 0
	for i := range kills {
		if i%25 == 0 {
			growing = newCrashWorld(t)
		}
		w := growing
		if i%5 > 2 {
			w = newCrashWorld(t)
		}
		if i%5 == 4 {
			w.fixture()
		}
		after := time.Duration(random.Int63n(int64(80 * time.Millisecond)))
		if i%5 > 2 {
			after /= 4 // creation and upgrade are soon over
		}
		before := len(w.acknowledged)
		w.run(func(child *os.Process) {
			// A kill that comes late finds nothing and is no error: the child writes until it is killed.
			time.AfterFunc(after, func() { _ = child.Kill() })
		})
		w.verify()
		acknowledged += len(w.acknowledged) - before
		if i%5 == 4 {
			w.verifyUpgrade()
		}
		if t.Failed() {
			t.Fatalf("kill %d, after %v", i, after)
		}
	}
	if acknowledged < kills {
		t.Errorf("%d kills left room for only %d updates", kills, acknowledged)
	}
}

// verifyUpgrade compares the database that was upgraded, and its backup, with what a new one of the same content holds.
func (w *crashWorld) verifyUpgrade() {
	w.Helper()
	fresh := filepath.Join(w.TempDir(), "state.db")
	fillFixture(w.T, fresh)
	want := content(w.T, testOpen(w.T, fresh))
	ours := func(line string) bool { // not the children's, nor what verify wrote
		return strings.Contains(line, "crash") || strings.Contains(line, "Key:of/") || strings.Contains(line, "Key:large/") || strings.Contains(line, "Key:after")
	}
	if diff := cmp.Diff(want, slices.DeleteFunc(content(w.T, testOpen(w.T, w.path)), ours)); diff != "" {
		w.Errorf("fresh (-) and upgraded (+) differ:\n%s", diff)
	}
	backups, err := filepath.Glob(w.path + ".v1.backup*")
	if err != nil || len(backups) != 1 {
		w.Fatalf("backups are %v (%v), want one", backups, err)
	}
	copied := filepath.Join(w.TempDir(), "state.db")
	data, err := os.ReadFile(backups[0])
	if err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		w.Fatal(err)
	}
	if version, err := examine(copied); version != 1 || err != nil {
		w.Errorf("the backup has version %d (%v)", version, err)
	}
	if diff := cmp.Diff(want, content(w.T, testOpen(w.T, copied))); diff != "" {
		w.Errorf("fresh (-) and the backup (+) differ:\n%s", diff)
	}
}
