package tracker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/tracker"
	"aesop/tracker/trackertest"
)

// Environment of a child: its part and the directory of the backlog.
const (
	childPart = "AESOP_TEST_PART"
	childDir  = "AESOP_TEST_DIR"
)

const (
	partClaimAll = "claim all"
	partRewrite  = "rewrite for ever"
)

// playChild waits for a line on stdin, so that all children begin at once, and plays its part.
func playChild(part string) int {
	_, _ = fmt.Scanln()
	dir := os.Getenv(childDir)
	f, err := tracker.OpenFile(tracker.FileConfig{Path: filepath.Join(dir, "tracker.json"), LockDir: filepath.Join(dir, "locks")})
	if err == nil && part == partClaimAll {
		err = claimAll(f)
	} else if err == nil {
		err = rewriteForEver(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// claimAll tries for every item by itself and prints those that it won.
func claimAll(f *tracker.File) error {
	ctx := context.Background()
	backlog, err := f.Backlog(ctx)
	if err != nil {
		return err
	}
	for _, item := range backlog.Items {
		_, err := f.Claim(ctx, tracker.Holder{Wave: "w", Owner: "same"}, time.Hour, tracker.Want{ID: item.ID})
		var conflict *tracker.ConflictError
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(item.ID)
	}
	return nil
}

// rewriteForEver claims and releases one item until it is killed.
func rewriteForEver(f *tracker.File) error {
	ctx := context.Background()
	for {
		claims, err := f.Claim(ctx, tracker.Holder{Wave: "w", Owner: "killed"}, time.Nanosecond, tracker.Want{ID: "a"})
		if err != nil {
			return err
		}
		fmt.Println("claimed")
		end := tracker.Settlement{ID: "a", Token: claims[0].Token, Request: tracker.Release}
		if err := f.Settle(ctx, end); err != nil {
			return err
		}
	}
}

// child prepares a process that plays a part in dir once a line comes on the returned writer.
func child(t *testing.T, part, dir string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childPart+"="+part, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, stdin
}

func TestProcessesWinEachItemOnce(t *testing.T) {
	const processes, count = 8, 100
	dir := t.TempDir()
	items := make([]tracker.Item, count)
	for i := range items {
		items[i] = trackertest.Item(fmt.Sprintf("i%d", i))
	}
	write(t, filepath.Join(dir, "tracker.json"), encode(t, items...))
	outputs := make([]bytes.Buffer, processes)
	var cmds []*exec.Cmd
	var starters []io.WriteCloser
	for i := range processes {
		cmd, stdin := child(t, partClaimAll, dir)
		cmd.Stdout = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, starters = append(cmds, cmd), append(starters, stdin)
	}
	for _, s := range starters {
		_, _ = io.WriteString(s, "go\n")
	}
	wins := map[string]int{}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
		for _, id := range strings.Fields(outputs[i].String()) {
			wins[id]++
		}
	}
	backlog, err := openAt(t, dir, nil).Backlog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range backlog.Items {
		if wins[item.ID] != 1 || item.Status != tracker.InProgress || item.Epoch != 1 {
			t.Errorf("%s was won %d times and is %s in epoch %d", item.ID, wins[item.ID], item.Status, item.Epoch)
		}
	}
}

func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.json")
	neighbour := trackertest.Item("b")
	neighbour.Prompt = strings.Repeat("a long prompt ", 2000) // so that a torn write would show
	write(t, path, encode(t, trackertest.Item("a"), neighbour))
	for kill := range 40 {
		cmd, stdin := child(t, partRewrite, dir)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(stdin, "go\n")
		claimed := make([]byte, len("claimed\n")*(1+kill%3)+kill%2) // dies at another point each time
		_, readErr := io.ReadFull(stdout, claimed)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if readErr != nil {
			t.Fatalf("the writer ended by itself: %v", readErr)
		}
		backlog, err := openAt(t, dir, nil).Backlog(t.Context())
		if err != nil {
			t.Fatalf("after kill %d: %v", kill, err)
		}
		if got := backlog.Items[1]; len(backlog.Items) != 2 || got.Prompt != neighbour.Prompt {
			t.Fatalf("after kill %d: the backlog is not whole", kill)
		}
		a := backlog.Items[0]
		if (a.Status == tracker.InProgress) != (a.Claim != nil) {
			t.Fatalf("after kill %d: half a change: %s, %v", kill, a.Status, a.Claim)
		}
		mend(t, dir)
	}
	sweepAll(t, dir)
}

// mend frees the item of a killed writer.
func mend(t *testing.T, dir string) {
	t.Helper()
	f := openAt(t, dir, func() time.Time { return time.Now().Add(time.Minute) }) // when the lease has lapsed
	for _, order := range []tracker.Order{
		{ID: "a", Request: tracker.Finalize, Status: tracker.Failed}, {ID: "a", Request: tracker.Reopen},
	} {
		if err := f.Operate(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
}

// sweepAll opens the backlog an hour later, when nothing of the killed may be left beside it.
func sweepAll(t *testing.T, dir string) {
	t.Helper()
	openAt(t, dir, func() time.Time { return time.Now().Add(staleAge) })
	names, err := filepath.Glob(filepath.Join(dir, ".tracker.json*"))
	if err != nil || len(names) > 0 {
		t.Errorf("left beside the backlog: %v, %v", names, err)
	}
}

const staleAge = 2 * time.Hour

// TestSweepKeepsSaves: a writer that was killed between the exchange and putting back leaves a person's save. What a writer
// left before the exchange, or what the backlog holds too, is no save.
func TestSweepKeepsSaves(t *testing.T) {
	dir := t.TempDir()
	present := encode(t, trackertest.Item("a"))
	old := time.Now().Add(-staleAge)
	for name, content := range map[string][]byte{
		"tracker.json": present, ".tracker.json1": []byte("half of a wri"), ".tracker.json2.swap": present,
		".tracker.json3.swap": []byte("a save"), ".tracker.json4.swap": nil, "tracker.json.displaced-1": []byte("an older save"),
	} {
		write(t, filepath.Join(dir, name), content)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		openAt(t, dir, nil)
		got := map[string]string{}
		names, err := filepath.Glob(filepath.Join(dir, "*tracker.json*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			got[filepath.Base(name)] = read(t, name)
		}
		want := map[string]string{"tracker.json": string(present), "tracker.json.displaced-1": "an older save", "tracker.json.displaced-2": "a save",
			"tracker.json.displaced-3": ""}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestSweepSparesWhatIsYoungOrForeign(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tracker.json"), encode(t))
	old := time.Now().Add(-staleAge)
	keep := map[string]bool{".tracker.json77": false, ".tracker.json.swp": true, ".tracker.json12x": true, "tracker.json12": true, ".other.json12": true}
	for name := range keep {
		write(t, filepath.Join(dir, name), nil)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".tracker.json88"), nil)
	keep[".tracker.json88"] = true
	openAt(t, dir, nil)
	for name, kept := range keep {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s: kept is %v, want %v", name, err == nil, kept)
		}
	}
}
