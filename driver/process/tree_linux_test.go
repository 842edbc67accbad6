package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"aesop/driver/process"
)

// running says whether pid names a process that has not ended.
func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// TestNothingOfTheTreeIsLeft lets a child leave a process that can be told by one sign only.
func TestNothingOfTheTreeIsLeft(t *testing.T) {
	for _, test := range []struct {
		sign, fake string
		lost       string
		exclusive  bool
	}{
		{"group", "leave", "environment limit directory", false},
		{"session", "leave-orphan", "group environment limit directory", false},
		{"environment", "leave-orphan", "session limit directory", false},
		{"limit", "leave-orphan", "session environment directory", false},
		{"directory", "leave-orphan", "session environment limit", true},
		{"descent", "leave-and-stay", "session environment limit directory", false},
	} {
		t.Run(test.sign, func(t *testing.T) {
			t.Parallel()
			c := fake(t, test.fake, strings.Fields(test.lost)...)
			c.Exclusive = test.exclusive
			want := process.Exited
			ctx, cancel := context.WithCancel(t.Context())
			if test.fake == "leave-and-stay" {
				want, c.Stdout = process.Cancelled, &once{word: "ready", f: cancel}
			}
			r := run(t, ctx, c)
			cancel()
			if r.Reason != want {
				t.Fatalf("got %s, want %s", r.Reason, want)
			}
			if pid := readyPID(t, r.Stdout.Text); running(pid) {
				t.Errorf("process %d is left", pid)
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		})
	}
}

// TestRunReturnsThoughAStrangerHoldsThePipes is about a process that no sign leads to.
func TestRunReturnsThoughAStrangerHoldsThePipes(t *testing.T) {
	t.Parallel()
	c := fake(t, "leave-orphan", "session", "environment", "limit")
	r := run(t, t.Context(), c) // not exclusive: the directory does not count
	pid := readyPID(t, r.Stdout.Text)
	if !running(pid) {
		t.Errorf("process %d is gone, and the test shows nothing", pid)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Error(err)
	}
}

// TestExclusiveSparesWhoWasThereBefore has a person's shell in the directory.
func TestExclusiveSparesWhoWasThereBefore(t *testing.T) {
	t.Parallel()
	c := fake(t, "echo")
	c.Exclusive = true
	shell := exec.Command(os.Args[0], "fake", "stay")
	shell.Dir = c.Dir
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	before := uptime(t)
	until(t, "the clock ticks", func() bool { return uptime(t) != before }) // start times are counted in ticks
	before = uptime(t)
	until(t, "the clock ticks", func() bool { return uptime(t) != before })
	run(t, t.Context(), c)
	if !running(shell.Process.Pid) {
		t.Error("the shell was killed")
	}
	_ = shell.Process.Kill()
	_ = shell.Wait()
}

func uptime(t *testing.T) string {
	data, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

// TestOtherChildrenOfTheHost checks that the host can wait for its own children beside ours.
func TestOtherChildrenOfTheHost(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	for i := range 8 {
		c := fake(t, "leave", "group")
		c.Mark += strconv.Itoa(i)
		group.Go(func() {
			for range 3 {
				if r, err := process.Run(t.Context(), c); err != nil || !r.OK() {
					t.Errorf("got %+v, %v", r, err)
				}
			}
		})
		group.Go(func() {
			for range 6 {
				if err := exec.Command(os.Args[0], "fake", "exit-3").Run(); err == nil || err.Error() != "exit status 3" {
					t.Errorf("the host's own child: %v", err)
				}
			}
		})
	}
	group.Wait()
}

// TestChildDiesWithItsHost kills the program that called Run.
func TestChildDiesWithItsHost(t *testing.T) {
	t.Parallel()
	c := fake(t, "stay")
	pid, _ := killedHost(t, c.Mark, c.Dir, "stay")
	until(t, "the child died", func() bool { return !running(pid) })
}

// killedHost starts a host that runs the fake, kills it when the fake printed its line, and returns the pids in the line.
func killedHost(t *testing.T, args ...string) (first, second int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"fake", "host"}, args...)...)
	cmd.Env = []string{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if n, _ := fmt.Sscan(line, &first, &second); n == 0 {
		t.Fatalf("no pid in the line %q", line)
	}
	return first, second
}

// TestKillFindsWhatADeadHostLeft leaves two orphans: one with the mark, one that only shares its resource limit.
func TestKillFindsWhatADeadHostLeft(t *testing.T) {
	t.Parallel()
	c := fake(t, "stay")
	bystander := exec.Command(os.Args[0], "fake", "stay")
	bystander.Env = []string{"AESOP_MARK=other-" + c.Mark}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	first, second := killedHost(t, c.Mark, c.Dir, "leave-two-and-stay")
	if !running(first) || !running(second) {
		t.Fatal("the orphans died with their host, and the test shows nothing")
	}
	survivors, err := process.Kill(t.Context(), func(mark string) bool { return mark == c.Mark })
	if err != nil || len(survivors) > 0 {
		t.Errorf("got %v, %v", survivors, err)
	}
	for _, pid := range []int{first, second} {
		if running(pid) {
			t.Errorf("process %d is left", pid)
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if !running(bystander.Process.Pid) {
		t.Error("a process with another mark was killed")
	}
	_ = bystander.Process.Kill()
	_ = bystander.Wait()
}

func TestKillSparesItsCaller(t *testing.T) {
	t.Parallel()
	if r := run(t, t.Context(), fake(t, "kill-own-mark")); !r.OK() || string(r.Stdout.Text) != "alive <nil>\n" {
		t.Errorf("got %+v", r)
	}
}

func TestConfinerHasAThreadThatEnds(t *testing.T) {
	c := fake(t, "echo")
	confiner := &threads{}
	c.Confiner = confiner
	run(t, t.Context(), c)
	until(t, "the confined thread ended", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(confiner.id))
		return err != nil
	})
}

// TestConfinerIsOffTheMainThread runs a host with one processor, where a new goroutine runs on the main thread at once.
func TestConfinerIsOffTheMainThread(t *testing.T) {
	c := fake(t, "confining-host")
	c.Env = append(c.Env, "GOMAXPROCS=1")
	if r := run(t, t.Context(), c); !r.OK() || string(r.Stdout.Text) != "0 of 10 starts on the main thread\n" {
		t.Errorf("got %q, %q", r.Stdout.Text, r.Stderr.Text)
	}
}

func confiningHost() int {
	hits := 0
	for i := range 10 {
		confiner := &threads{}
		_, err := process.Run(context.Background(), process.Command{
			Argv: []string{os.Args[0], "fake", "echo"}, Dir: "/", Mark: fmt.Sprint("confined-", os.Getpid(), "-", i), Confiner: confiner,
		})
		check(err)
		if confiner.id == os.Getpid() {
			hits++
		}
	}
	fmt.Println(hits, "of 10 starts on the main thread")
	return 0
}

type threads struct{ id int }

func (*threads) Name() string { return "threads" }

func (c *threads) Start(cmd *exec.Cmd) error {
	c.id = unix.Gettid()
	return cmd.Start()
}
