package sink_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

func mirroredSeq(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	must(t, err)
	i, err := outbox.ParseDocument(text)
	if err != nil || string(i.Data) != fmt.Sprintf(`{"seq":%d}`, i.Seq) {
		t.Fatalf("a reader sees %q, %v", text, err)
	}
	return i.Seq
}

// TestMirrorNeverGoesBack: processes and goroutines bring the same transitions in orders of their own, and a reader beside them sees the seq grow
// only, up to the newest.
func TestMirrorNeverGoesBack(t *testing.T) {
	dir := t.TempDir()
	mirror, subjects := sink.NewMirror(dir), []string{"job/w1/a", "job/w1/b"}
	var children []process
	for range 2 {
		children = append(children, start(t, "mirror", dir))
	}
	var writers sync.WaitGroup
	for g := range 3 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 9))
			for _, n := range random.Perm(mirrored) {
				for _, subject := range subjects {
					if err := mirror.Send(t.Context(), identified(subject, n+1)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		writers.Wait()
		for _, child := range children {
			if err := child.Wait(); err != nil {
				t.Error(err)
			}
		}
	}()
	last := map[string]int{}
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		default:
		}
		for _, subject := range subjects {
			seq := mirroredSeq(t, mirror.Path(subject))
			if seq < last[subject] {
				t.Fatalf("%s went back from %d to %d", subject, last[subject], seq)
			}
			last[subject] = seq
		}
	}
	if last[subjects[0]] != mirrored || last[subjects[1]] != mirrored {
		t.Errorf("ended at %v", last)
	}
}

// TestAKilledWriterLeavesTheMirrorWhole, and not behind what it had acknowledged; what it left lying about is gone with the next write.
func TestAKilledWriterLeavesTheMirrorWhole(t *testing.T) {
	dir := t.TempDir()
	path := sink.NewMirror(dir).Path("job/w1/a")
	for n := range 6 {
		before := mirroredSeq(t, path)
		must(t, os.RemoveAll(path))
		child, acknowledged := start(t, "mirror-on", dir), 0
		for left := 5 * n; child.lines.Scan(); left-- {
			acknowledged, _ = strconv.Atoi(child.lines.Text())
			if left == 0 {
				_ = child.Process.Kill()
			}
		}
		_ = child.Wait()
		if seq := mirroredSeq(t, path); seq < acknowledged || acknowledged == 0 {
			t.Errorf("it is at %d (before %d), and %d was acknowledged", seq, before, acknowledged)
		}
	}
	must(t, os.WriteFile(filepath.Join(filepath.Dir(path), ".status-123"), []byte("half"), 0o600))
	must(t, sink.NewMirror(dir).Send(t.Context(), identified("job/w1/a", 1_000_000)))
	left, err := os.ReadDir(filepath.Dir(path))
	var names []string
	for _, entry := range left {
		names = append(names, entry.Name())
	}
	must(t, err)
	same(t, "files", names, ".lock", "status.json")
}

func TestMirrorReplacesWhatIsDamaged(t *testing.T) {
	mirror := sink.NewMirror(filepath.Join(t.TempDir(), "new"))
	path := mirror.Path("a")
	must(t, mirror.Send(t.Context(), identified("a", 5)))
	other, err := outbox.Document(identified("b", 9))
	must(t, err)
	for n, text := range []string{"", "{", "[]", `{"schemaVersion":1,"subject":"a","seq":99}`, string(other), strings.Repeat(" ", 3<<20)} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		must(t, mirror.Send(t.Context(), identified("a", n+1)))
		if seq := mirroredSeq(t, path); seq != n+1 {
			t.Errorf("over %.30q: it is at %d", text, seq)
		}
	}
	newer := `{"schemaVersion":2,"subject":"a"}`
	must(t, os.WriteFile(path, []byte(newer), 0o600))
	if err := mirror.Send(t.Context(), identified("a", 100)); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("error is %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != newer {
		t.Errorf("what a newer version wrote became %s, %v", text, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestMirrorSkipsWhatItHas(t *testing.T) {
	mirror := sink.NewMirror(t.TempDir())
	must(t, mirror.Send(t.Context(), identified("a", 5)))
	before, err := os.Stat(mirror.Path("a"))
	must(t, err)
	for _, seq := range []int{5, 4, 1} {
		must(t, mirror.Send(t.Context(), identified("a", seq)))
	}
	after, err := os.Stat(mirror.Path("a"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written anew, %v", err)
	}
}

func TestSubjectsHaveFoldersOfTheirOwn(t *testing.T) {
	mirror, seen := sink.NewMirror("m"), map[string]string{}
	for _, subject := range []string{"a", "A", "%41", "a/b", "a%2Fb", "..", ".", "../../x", "a.b", "a b", "é", strings.Repeat("x", 300), strings.Repeat("x", 301),
		strings.Repeat("/", 100), "con:1"} {
		path := mirror.Path(subject)
		if other, taken := seen[strings.ToLower(path)]; taken {
			t.Errorf("%q and %q share %s", subject, other, path)
		}
		seen[strings.ToLower(path)] = subject
		dir, name := filepath.Split(filepath.Dir(path))
		if dir != "m/" && dir != `m\` || len(name) > 250 || strings.ContainsAny(name, `./\ :`) {
			t.Errorf("%q is in %s", subject, path)
		}
	}
	if got := filepath.ToSlash(mirror.Path("job/w1/greet")); got != "m/job%2Fw1%2Fgreet/status.json" {
		t.Errorf("it is in %s", got)
	}
}
