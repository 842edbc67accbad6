package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// drainLimit bounds how long Run listens to the pipes after the tree's end: something that no kill found may hold them open.
const drainLimit = 2 * time.Second

// pipes are the three standard streams of a child, with our ends and the goroutines that serve them. They are files of our
// own and not those of exec.Cmd, whose Wait would wait for whoever inherited them.
type pipes struct {
	ours, theirs []*os.File // standard output, standard error, and standard input where the child gets one
	mu           sync.Mutex
	out, err     sink
	served       sync.WaitGroup
	since        time.Time
	heard        atomic.Int64 // when a byte last came, as time passed since the start
}

// openPipes makes the streams of c and hands the child's ends to cmd.
func openPipes(c *Command, cmd *exec.Cmd) (*pipes, error) {
	p := &pipes{since: time.Now()}
	size := c.Tail
	if size == 0 {
		size = defaultTail
	}
	hear := func() { p.heard.Store(int64(time.Since(p.since))) }
	p.out = sink{mu: &p.mu, w: c.Stdout, end: ring{size: size}, heard: hear}
	p.err = sink{mu: &p.mu, w: c.Stderr, end: ring{size: size}, heard: hear}
	if err := p.connect(c, cmd); err != nil {
		p.close(p.ours, p.theirs)
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	return p, nil
}

func (p *pipes) connect(c *Command, cmd *exec.Cmd) error {
	out, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	p.ours, p.theirs, cmd.Stdout = append(p.ours, out), append(p.theirs, stdout), stdout
	errs, stderr, err := os.Pipe()
	if err != nil {
		return err
	}
	p.ours, p.theirs, cmd.Stderr = append(p.ours, errs), append(p.theirs, stderr), stderr
	if c.Stdin == nil {
		return nil // exec gives the null device
	}
	stdin, in, err := os.Pipe()
	if err != nil {
		return err
	}
	p.ours, p.theirs, cmd.Stdin = append(p.ours, in), append(p.theirs, stdin), stdin
	return nil
}

// serve begins to carry bytes; the child has its ends now, so ours of them go.
func (p *pipes) serve(stdin io.Reader) {
	p.close(p.theirs)
	p.served.Go(func() { p.out.copy(p.ours[0]) })
	p.served.Go(func() { p.err.copy(p.ours[1]) })
	if stdin == nil {
		return
	}
	p.served.Go(func() {
		_, _ = io.Copy(p.ours[2], stdin) // the child may stop reading whenever it likes
		_ = p.ours[2].Close()
	})
}

// quiet is how long no byte has come.
func (p *pipes) quiet() time.Duration { return time.Since(p.since) - time.Duration(p.heard.Load()) }

// drain takes what is still in the pipes and ends the serving.
func (p *pipes) drain() (out, err Tail) {
	done := make(chan struct{})
	go func() {
		p.served.Wait()
		close(done)
	}()
	limit := time.NewTimer(drainLimit)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	}
	p.close(p.ours)
	return p.out.close(), p.err.close()
}

func (*pipes) close(sets ...[]*os.File) {
	for _, files := range sets {
		for _, f := range files {
			_ = f.Close()
		}
	}
}
