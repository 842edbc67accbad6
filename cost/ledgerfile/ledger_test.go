package ledgerfile_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

func record(t *testing.T, l cost.Ledger, want cost.Recorded, calls ...cost.Call) {
	t.Helper()
	if got, err := l.Record(t.Context(), calls...); err != nil || got != want {
		t.Fatalf("recorded %+v, %v; want %+v", got, err, want)
	}
}

func tokens(t *testing.T, l cost.Ledger) int64 {
	t.Helper()
	book, err := l.Book(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return book.Total(cost.Query{}).Charge().Tokens
}

func health(t *testing.T, l *ledgerfile.Ledger) ledgerfile.Health {
	t.Helper()
	h, err := l.Health(t.Context(), noon())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "calls.jsonl")
	l, other := ledgerfile.New(path), ledgerfile.New(path)
	if got := tokens(t, l); got != 0 {
		t.Errorf("no file has %d tokens", got)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader made something: %v", err)
	}
	record(t, l, cost.Recorded{Added: 2}, call("a", 1), call("b", 10))
	record(t, other, cost.Recorded{Added: 1, Known: 1, Differ: 2}, call("a", 1), call("b", 999), call("c", 100), call("c", 5))
	record(t, other, cost.Recorded{})
	for range 2 {
		if a, b := tokens(t, l), tokens(t, other); a != 111 || b != 111 {
			t.Errorf("got %d and %d tokens", a, b)
		}
	}
	if got := health(t, other); got.Rows != 3 || got.Differ != 2 || got.Corrupt != 0 || got.Torn || got.Restarts != 0 {
		t.Errorf("got %+v", got)
	}
	if _, err := l.Record(t.Context(), call("d", 1), call("e", -1)); err == nil {
		t.Error("a call that is none was recorded")
	}
	if got := tokens(t, other); got != 111 {
		t.Errorf("half a record: %d", got)
	}
	book, err := l.Book(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	book.Add(call("mine", 5000))
	if got := tokens(t, l); got != 111 {
		t.Errorf("what was added to a Book is in the ledger: %d", got)
	}
	if got := readText(t, path); len(got) != 3 {
		t.Errorf("the file has %d calls", len(got))
	}
}

func readText(t *testing.T, path string) []cost.Call {
	t.Helper()
	calls, report := readAll(t, ledgerfile.ReadJSONL, read(t, path))
	if report.Corrupt != 0 || report.Torn {
		t.Errorf("%s: %+v", path, report)
	}
	return calls
}

// TestEveryTear cuts the file at each byte of its last record: what was kept before stays, the record is there whole or not at all, and
// what is recorded next is on lines of its own.
func TestEveryTear(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	record(t, ledgerfile.New(path), cost.Recorded{Added: 1}, call("a", 1))
	first := read(t, path)
	record(t, ledgerfile.New(path), cost.Recorded{Added: 2}, call("b", 10), call("c", 100))
	pair := read(t, path)[len(first):]
	for cut := range len(pair) + 1 {
		write(t, path, first+pair[:cut])
		l := ledgerfile.New(path)
		want := int64(1)
		if cut == len(pair) {
			want = 111
		}
		if got := tokens(t, l); got != want {
			t.Fatalf("cut at %d: %d tokens, want %d", cut, got, want)
		}
		if torn := health(t, l).Torn; torn != (cut > 0 && cut < len(pair)) {
			t.Fatalf("cut at %d: torn is %v", cut, torn)
		}
		record(t, l, cost.Recorded{Added: 1}, call("d", 1000))
		for _, l := range []*ledgerfile.Ledger{l, ledgerfile.New(path)} {
			if got := tokens(t, l); got != want+1000 {
				t.Fatalf("cut at %d and written to: %d tokens, want %d", cut, got, want+1000)
			}
		}
		readText(t, path)
	}
}

// TestALastLineWithoutAnEndIsACall: files that people or other programs wrote count whole, and are not cut.
func TestALastLineWithoutAnEndIsACall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	write(t, path, whole)
	l := ledgerfile.New(path)
	if got := tokens(t, l); got != 1 || health(t, l).Torn || health(t, l).Rows != 1 {
		t.Errorf("%d tokens, %+v", got, health(t, l))
	}
	same := readText(t, path)[0]
	record(t, l, cost.Recorded{Added: 1, Known: 1}, same, call("b", 10))
	if got := readText(t, path); len(got) != 2 || tokens(t, l) != 11 {
		t.Errorf("the file has %+v", got)
	}
	write(t, path, `{"not": "a call"}`)
	record(t, l, cost.Recorded{Added: 1}, call("b", 10))
	if got := health(t, l); got.Rows != 1 || got.Corrupt != 1 || got.Lines[0].Line != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestCorruptLinesStayAndAreCountedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	future := strings.Replace(whole, "2026", "2199", 1)
	write(t, path, "garbage\n"+whole+"\n"+strings.Replace(future, `"a"`, `"f"`, 1)+"\n"+strings.Replace(whole, "0.10", "0.20", 1)+"\n")
	l := ledgerfile.New(path)
	for range 2 {
		if got := health(t, l); got.Rows != 2 || got.Corrupt != 1 || got.Differ != 1 || got.Future != 1 {
			t.Errorf("got %+v", got)
		}
		record(t, l, cost.Recorded{Known: 1}, readAllOf(t, path)[0])
	}
	if !strings.HasPrefix(read(t, path), "garbage\n") {
		t.Error("a line that cannot be read is gone")
	}
}

func readAllOf(t *testing.T, path string) []cost.Call {
	t.Helper()
	calls, _ := readAll(t, ledgerfile.ReadJSONL, read(t, path))
	return calls
}

// TestRotationAndTruncation: a file that is not what it was is read from its beginning, and that is told.
func TestRotationAndTruncation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "calls.jsonl")
	l := ledgerfile.New(path)
	record(t, l, cost.Recorded{Added: 2}, call("a", 1), call("b", 10))
	old := read(t, path)
	expect := func(what string, want int64, restarts int) {
		t.Helper()
		if got := tokens(t, l); got != want || health(t, l).Restarts != restarts {
			t.Errorf("%s: %d tokens and %d restarts, want %d and %d", what, got, health(t, l).Restarts, want, restarts)
		}
	}
	expect("as written", 11, 0)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	expect("moved away", 0, 1)
	record(t, l, cost.Recorded{Added: 1}, call("a", 5))
	expect("a new one", 5, 1)
	record(t, ledgerfile.New(path), cost.Recorded{Added: 1}, call("new", 100))
	expect("grown by another", 105, 1)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	expect("emptied", 0, 2)
	write(t, path, old)
	expect("filled", 11, 2)
	write(t, path, old+strings.ReplaceAll(old, `"id":"`, `"id":"x`)) // in place
	expect("grown", 22, 2)
	write(t, path, strings.Replace(old, `"input":10`, `"input":20`, 1)+strings.ReplaceAll(old, `"id":"`, `"id":"x`))
	expect("changed at its beginning", 32, 3)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("removed", 0, 4)
	expect("still removed", 0, 4)
}

// TestReplacedInPart: a long file of which only the beginning, the middle or the end is another is another file.
func TestReplacedInPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	var calls []cost.Call
	for n := range 40 {
		calls = append(calls, call(fmt.Sprint("c", n), 1))
	}
	record(t, ledgerfile.New(path), cost.Recorded{Added: 40}, calls...)
	old := read(t, path)
	for name, at := range map[string]int{"beginning": 0, "middle": 20, "end": 39} {
		write(t, path, old)
		l := ledgerfile.New(path)
		if got := tokens(t, l); got != 40 {
			t.Fatalf("%d tokens", got)
		}
		lines := strings.SplitAfter(old, "\n")
		lines[at] = strings.Replace(lines[at], `"input":1,`, `"input":3,`, 1)
		changed := strings.Join(lines, "")
		if name == "middle" { // where only another file is noticed
			write(t, path+".new", changed)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, path, changed)
		}
		if got := tokens(t, l); got != 42 || health(t, l).Restarts != 1 {
			t.Errorf("another %s: %d tokens, %d restarts", name, got, health(t, l).Restarts)
		}
	}
}

func TestALedgerThatCannotBeReadIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	l := ledgerfile.New(path)
	if _, err := l.Book(t.Context()); err == nil {
		t.Error("a folder was read")
	}
	if _, err := l.Record(t.Context(), call("a", 1)); err == nil {
		t.Error("a folder was written to")
	}
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("not applicable: permissions do not hold here")
	}
	path = filepath.Join(t.TempDir(), "calls.jsonl")
	record(t, ledgerfile.New(path), cost.Recorded{Added: 1}, call("a", 1))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := ledgerfile.New(path).Book(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error is %v", err)
	}
}

// TestProcesses: several processes record the same pairs and some are killed; each pair is there once, as soon as someone was told so.
// Whoever reads meanwhile sees pairs.
func TestProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	random := rand.New(rand.NewPCG(9, 10))
	var group sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for n := range 6 {
		cmd := childCommand(t, path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		left := random.IntN(writers * records)
		group.Go(func() {
			lines := bufio.NewScanner(stdout)
			for ; lines.Scan(); left-- {
				mu.Lock()
				acknowledged[lines.Text()] = true
				mu.Unlock()
				if n%2 == 0 && left == 0 {
					_ = cmd.Process.Kill()
				}
			}
			if err := cmd.Wait(); err != nil && n%2 == 1 {
				t.Errorf("process %d: %v", n, err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	l := ledgerfile.New(path)
	for reading := true; reading; {
		if got := tokens(t, l); got%2 != 0 {
			t.Errorf("half a record was seen: %d tokens", got)
		}
		select {
		case <-done:
			reading = false
		default:
		}
	}
	record(t, l, cost.Recorded{Added: 1}, call("last", 0))
	stored := map[string]int{}
	for _, c := range readText(t, path) {
		stored[c.ID]++
	}
	for id, times := range stored {
		if times != 1 {
			t.Errorf("%s is there %d times", id, times)
		}
	}
	for n := range acknowledged {
		if stored[n+"/left"]+stored[n+"/right"] != 2 {
			t.Errorf("pair %s was acknowledged and is lost", n)
		}
	}
	if len(acknowledged) != records || tokens(t, l) != 2*records || health(t, l).Restarts != 0 {
		t.Errorf("%d pairs are acknowledged, %d tokens, %+v", len(acknowledged), tokens(t, l), health(t, l))
	}
}

func TestConcurrentUseOfOneLedger(t *testing.T) {
	l := ledgerfile.New(filepath.Join(t.TempDir(), "calls.jsonl"))
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for n := range 10 {
				if _, err := l.Record(t.Context(), call(fmt.Sprint(w, "/", n), 1), call(fmt.Sprint("shared", n), 1)); err != nil {
					t.Error(err)
				}
				if _, err := l.Book(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := tokens(t, l); got != 50 {
		t.Errorf("%d tokens", got)
	}
}
