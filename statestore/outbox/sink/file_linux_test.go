package sink_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

// TestFileGluesNothingToATornLineAfterAWriteThatFailed: not even where nothing at all could be written, as on a full disk.
func TestFileGluesNothingToATornLineAfterAWriteThatFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "news.jsonl")
	file := sink.NewFile(path)
	must(t, file.Send(t.Context(), identified("s", 1)))
	whole, err := os.ReadFile(path)
	must(t, err)
	torn := string(whole) + `{"schemaVersion":1,"id":"`
	must(t, os.WriteFile(path, []byte(torn), 0o600))

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	full := was
	full.Cur = uint64(len(torn))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
	failed := file.Send(t.Context(), identified("s", 2))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	if failed == nil {
		t.Fatal("a file that can grow no more took an intent")
	}

	must(t, file.Send(t.Context(), identified("s", 2)))
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.Split(string(text), "\n")
	if len(lines) != 4 || lines[1] != strings.TrimPrefix(torn, string(whole)) {
		t.Fatalf("the file has %q", lines)
	}
	if i, err := outbox.ParseDocument([]byte(lines[2])); err != nil || i.Seq != 2 {
		t.Errorf("the line after the torn one is %q: %v", lines[2], err)
	}
}
