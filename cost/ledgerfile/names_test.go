package ledgerfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

// TestWritersUnderTwoNames: whoever writes through a link takes turns with who writes to the file itself.
func TestWritersUnderTwoNames(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "calls.jsonl"), filepath.Join(t.TempDir(), "link.jsonl")
	write(t, path, "")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	const each = 40
	var group sync.WaitGroup
	for n, name := range []string{path, link, path, link} {
		group.Go(func() {
			l := ledgerfile.New(name)
			for i := range each {
				if got, err := l.Record(t.Context(), call(fmt.Sprint(n, "/", i), 1)); err != nil || got.Added != 1 {
					t.Errorf("%s: %+v, %v", name, got, err)
				}
			}
		})
	}
	group.Wait()
	if got := health(t, ledgerfile.New(path)); got.Rows != 4*each || got.Corrupt != 0 {
		t.Errorf("of %d calls there are %+v", 4*each, got)
	}
}

// TestRowsOfANewerProgram: without them sums are too low, so that there are none.
func TestRowsOfANewerProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	l := ledgerfile.New(path)
	record(t, l, cost.Recorded{Added: 1}, call("mine", 1))
	newer := strings.Replace(whole, "{", `{"schemaVersion": 2, `, 1) + "\n"
	write(t, path, read(t, path)+newer)
	for _, l := range []*ledgerfile.Ledger{l, ledgerfile.New(path)} {
		for range 2 {
			if _, err := l.Book(t.Context()); err == nil || !strings.Contains(err.Error(), "line 2: schemaVersion is 2") {
				t.Errorf("got %v", err)
			}
			if _, err := l.Record(t.Context(), call("other", 1)); err == nil {
				t.Error("a call was recorded without a look at what is there")
			}
		}
	}
	write(t, path, whole+"\n")
	if got := health(t, l); tokens(t, l) != 1 || got.Restarts != 1 {
		t.Errorf("put back, it has %d tokens, %+v", tokens(t, l), got)
	}
}

// TestDifferingLinesAreCountedOnce, however often the file is read from its beginning.
func TestDifferingLinesAreCountedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	l := ledgerfile.New(path)
	other := strings.Replace(whole, "0.10", "0.20", 1)
	write(t, path, whole+"\n"+other+"\n")
	for n := range 3 {
		if got := health(t, l); got.Differ != 1 || got.Restarts != n {
			t.Errorf("got %+v", got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, fmt.Sprint(strings.Replace(whole, `"a"`, fmt.Sprintf(`"b%d"`, n), 1), "\n", whole, "\n", other, "\n"))
	}
}
