package sink_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

// childVariable makes the test binary another process that does what it names in the folder that childDir names.
const (
	childVariable = "AESOP_TEST_SINK_CHILD"
	childDir      = "AESOP_TEST_SINK_DIR"
)

func TestMain(m *testing.M) {
	play := map[string]func(dir string) error{
		"mirror":     childMirror,
		"mirror-on":  childMirrorOn,
		"append":     childAppend,
		"append-all": childAppendAll,
	}[os.Getenv(childVariable)]
	if play == nil {
		goleak.VerifyTestMain(m)
		os.Exit(0)
	}
	if err := play(os.Getenv(childDir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a child that was started.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, what, dir string) process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), childVariable+"="+what, childDir+"="+dir), os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return process{cmd, bufio.NewScanner(stdout)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// identified is news of a subject with its ID.
func identified(subject string, seq int) outbox.Intent {
	return outbox.Intent{ID: outbox.ID(subject, seq, "job.complete"), Kind: "job.complete", Subject: subject, Seq: seq, Data: fmt.Appendf(nil, `{"seq":%d}`, seq)}
}

const mirrored = 60 // transitions of each subject

// childMirror brings all transitions of two subjects to the mirror, in an order of its own, from several goroutines.
func childMirror(dir string) error {
	mirror := sink.NewMirror(dir)
	var group sync.WaitGroup
	errs := make([]error, 4)
	for g := range errs {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(g)))
			for _, n := range random.Perm(mirrored) {
				for _, subject := range []string{"job/w1/a", "job/w1/b"} {
					errs[g] = errors.Join(errs[g], mirror.Send(context.Background(), identified(subject, n+1)))
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// childMirrorOn brings growing transitions to the mirror until it is killed, and prints each that is there.
func childMirrorOn(dir string) error {
	mirror := sink.NewMirror(dir)
	for seq := 1; ; seq++ {
		if err := mirror.Send(context.Background(), identified("job/w1/a", seq)); err != nil {
			return err
		}
		fmt.Println(seq)
	}
}

// childAppend appends to a file until it is killed, and prints each intent that is there.
func childAppend(dir string) error {
	file := sink.NewFile(filepath.Join(dir, "news.jsonl"))
	for n := 1; ; n++ {
		i := identified(fmt.Sprint("p", os.Getpid()), n)
		i.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", 20_000))
		if err := file.Send(context.Background(), i); err != nil {
			return err
		}
		fmt.Println(i.ID)
	}
}

// childAppendAll appends the same intents as its siblings.
func childAppendAll(dir string) error {
	file := sink.NewFile(filepath.Join(dir, "news.jsonl"))
	for n := range 50 {
		if err := file.Send(context.Background(), identified("s", n+1)); err != nil {
			return err
		}
	}
	return nil
}
