//go:build unix

package ledgerfile_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

// fullVariable makes TestFullDisk the process that has no room to write to the ledger that it names.
const fullVariable = "AESOP_TEST_FULL_LEDGER"

// TestFullDisk: a record for which there is no room leaves nothing of itself, and the next one that has room is kept.
func TestFullDisk(t *testing.T) {
	if path := os.Getenv(fullVariable); path != "" {
		signal.Ignore(unix.SIGXFSZ)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		room := uint64(info.Size()) + 150 // for one call and a part of another
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: room, Max: room}); err != nil {
			t.Fatal(err)
		}
		l := ledgerfile.New(path)
		if done, err := l.Record(t.Context(), call("b", 1), call("c", 1)); !errors.Is(err, unix.EFBIG) || done != (cost.Recorded{}) {
			t.Errorf("got %+v, %v", done, err)
		}
		if got := tokens(t, l); got != 1 {
			t.Errorf("there are %d tokens, want 1", got)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	l := ledgerfile.New(path)
	record(t, l, cost.Recorded{Added: 1}, call("a", 1))
	before := read(t, path)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$")
	cmd.Env = append(os.Environ(), fullVariable+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := read(t, path); after != before {
		t.Errorf("left behind: %s", strings.TrimPrefix(after, before))
	}
	record(t, l, cost.Recorded{Added: 2}, call("b", 1), call("c", 1))
}
