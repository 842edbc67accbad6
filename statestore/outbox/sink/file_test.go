package sink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

func readLines(t *testing.T, path string) (ids []string, torn int) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		torn++
	}
	for line := range bytes.Lines(text) {
		i, err := outbox.ParseDocument(line)
		if err != nil {
			torn++
			continue
		}
		ids = append(ids, i.ID)
	}
	return ids, torn
}

func TestFileHasEachIntentOnceAcrossRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "news.jsonl")
	var want []string
	for range 3 { // each a restart
		file := sink.NewFile(path)
		for n := 1; n <= 5; n++ {
			must(t, file.Send(t.Context(), identified("s", n)))
			must(t, file.Send(t.Context(), identified("s", n)))
		}
	}
	for n := 1; n <= 5; n++ {
		want = append(want, identified("s", n).ID)
	}
	ids, torn := readLines(t, path)
	same(t, "ids", ids, want...)
	info, err := os.Stat(path)
	if err != nil || torn != 0 || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%d torn lines, %v, %v", torn, info, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), `{"schemaVersion":1,"id":"`+want[0]+`","kind":"job.complete","subject":"s","seq":1,"at":"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestATornLineIsNeverGluedToTheNext: whatever a crash left of the last line, the next one is whole, and what the torn one told of comes again, unless
// only its end was missing.
func TestATornLineIsNeverGluedToTheNext(t *testing.T) {
	first, second := identified("s", 1), identified("s", 2)
	line, err := outbox.Document(second)
	must(t, err)
	for _, length := range []int{1, 30, len(line) - 1, len(line)} {
		for _, next := range []outbox.Intent{second, identified("s", 3)} {
			path := filepath.Join(t.TempDir(), "news.jsonl")
			file := sink.NewFile(path)
			must(t, file.Send(t.Context(), first))
			text, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, append(text, line[:length]...), 0o600))
			for _, file := range []*sink.File{file, sink.NewFile(path)} { // it noticed, or is started anew
				must(t, file.Send(t.Context(), next))
			}
			want, tornWant := []string{first.ID}, 1
			if length == len(line) {
				want, tornWant = append(want, second.ID), 0
			}
			if next.ID != second.ID || length < len(line) {
				want = append(want, next.ID)
			}
			ids, torn := readLines(t, path)
			same(t, fmt.Sprintf("%d bytes, then %d", length, next.Seq), ids, want...)
			if torn != tornWant {
				t.Errorf("%d bytes: %d torn lines", length, torn)
			}
		}
	}
}

func TestFileGoesOnWhereItIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "news.jsonl")
	file := sink.NewFile(path)
	must(t, file.Send(t.Context(), identified("s", 1)))
	must(t, os.Rename(path, path+".1"))
	must(t, file.Send(t.Context(), identified("s", 2)))
	ids, torn := readLines(t, path)
	if same(t, "ids", ids, identified("s", 2).ID); torn != 0 {
		t.Errorf("%d torn lines", torn)
	}
	must(t, os.Rename(path, path+".2")) // and by one that is longer
	other := sink.NewFile(path)
	var want []string
	for n := 3; n <= 6; n++ {
		must(t, other.Send(t.Context(), identified("s", n)))
		want = append(want, identified("s", n).ID)
	}
	must(t, file.Send(t.Context(), identified("s", 3)))
	ids, _ = readLines(t, path)
	same(t, "ids", ids, want...)
}

// TestFileRemembersWhatIsInItsTail, and reads no more of a long file.
func TestFileRemembersWhatIsInItsTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "news.jsonl")
	file := sink.NewFile(path)
	for n := 1; n <= 6; n++ {
		i := identified("s", n)
		i.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", 1_000_000))
		must(t, file.Send(t.Context(), i))
	}
	file = sink.NewFile(path)
	for _, n := range []int{6, 4, 1} {
		must(t, file.Send(t.Context(), identified("s", n)))
	}
	ids, _ := readLines(t, path)
	if len(ids) != 7 || ids[6] != identified("s", 1).ID {
		t.Errorf("ids %q", ids)
	}
}

func TestProcessesWriteOneFile(t *testing.T) {
	dir := t.TempDir()
	var children []process
	for range 4 {
		children = append(children, start(t, "append-all", dir))
	}
	for _, child := range children {
		must(t, child.Wait())
	}
	ids, torn := readLines(t, filepath.Join(dir, "news.jsonl"))
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(ids) != 50 || len(seen) != 50 || torn != 0 {
		t.Errorf("%d lines of %d intents, %d torn", len(ids), len(seen), torn)
	}
}

// TestAKilledWriterOfAFileLosesNothing that it had acknowledged.
func TestAKilledWriterOfAFileLosesNothing(t *testing.T) {
	dir := t.TempDir()
	var acknowledged []string
	for n := range 6 {
		child := start(t, "append", dir)
		for left := 3 * n; child.lines.Scan(); left-- {
			acknowledged = append(acknowledged, child.lines.Text())
			if left == 0 {
				_ = child.Process.Kill()
			}
		}
		_ = child.Wait()
	}
	path := filepath.Join(dir, "news.jsonl")
	must(t, sink.NewFile(path).Send(t.Context(), identified("last", 1)))
	ids, torn := readLines(t, path)
	found := map[string]int{}
	for _, id := range ids {
		found[id]++
	}
	for _, id := range append(acknowledged, identified("last", 1).ID) {
		if found[id] != 1 {
			t.Errorf("%s is there %d times", id, found[id])
		}
	}
	if torn > 6 {
		t.Errorf("%d torn lines", torn)
	}
}

func TestFileSaysWhatItCannotDo(t *testing.T) {
	path := t.TempDir() // a folder
	err := sink.NewFile(path).Send(t.Context(), identified("s", 1))
	if !errors.Is(err, outbox.ErrUnreachable) || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sink.NewFile(filepath.Join(path, "f")).Send(ctx, identified("s", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
