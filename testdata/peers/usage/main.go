// Command usage lets ccusage and aesop read the same sessions of Claude Code and Codex in one run, each as a process of its own: whether
// they agree on the tokens of each model, and what a gigabyte takes.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"aesop/cost"
	"aesop/cost/transcript"
	"aesop/cost/transcript/transcripttest"
)

func main() {
	p := peers{ccusage: os.Getenv("AESOP_TEST_CCUSAGE"), out: os.Stdout}
	flag.Uint64Var(&p.seed, "seed", 1, "what the sessions are made from")
	flag.Int64Var(&p.size, "size", 50, "megabytes of sessions of each program")
	flag.IntVar(&p.pairs, "pairs", 5, "how often both read them")
	flag.Float64Var(&p.atLeast, "at-least", 0, "fail unless aesop is that many times as fast")
	home := flag.String("read", "", "only read the sessions of this home, and print their tokens")
	flag.Parse()
	var err error
	if *home != "" {
		err = read(os.Stdout, *home)
	} else {
		err = p.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage:", err)
		os.Exit(1)
	}
}

// tokens are those that both count, of each model.
type tokens struct{ Input, Output, CacheCreation, CacheRead int64 }

func (t tokens) add(o tokens) tokens {
	return tokens{t.Input + o.Input, t.Output + o.Output, t.CacheCreation + o.CacheCreation, t.CacheRead + o.CacheRead}
}

func of(u cost.Usage) tokens {
	return tokens{u.Input, u.Output, u.CacheWrite5m + u.CacheWrite1h, u.CacheRead}
}

// read is aesop's part.
func read(w io.Writer, home string) error {
	sum := map[string]tokens{}
	c := transcript.Config{Claude: []string{filepath.Join(home, ".claude")}, Codex: []string{filepath.Join(home, ".codex")}}
	_, summary, err := transcript.Ingest(context.Background(), c, transcript.State{}, func(calls []cost.Call) error {
		for _, c := range calls {
			sum[c.Usage.Model] = sum[c.Usage.Model].add(of(c.Usage))
		}
		return nil
	})
	if err == nil && len(summary.Problems) > 0 {
		err = fmt.Errorf("problems: %v", summary.List)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(sum)
}

// peers are both readers and what they read.
type peers struct {
	ccusage string
	out     io.Writer
	seed    uint64
	size    int64
	pairs   int
	atLeast float64
}

func (p peers) run() error {
	if p.ccusage == "" {
		return fmt.Errorf("AESOP_TEST_CCUSAGE does not name ccusage: .ci/install-ccusage installs it and prints where")
	}
	home, err := os.MkdirTemp("", "usage")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	claude, codex, err := transcripttest.Write(home, p.seed, p.size*1e6)
	if err != nil {
		return err
	}
	written := map[string]tokens{}
	for model, u := range claude {
		written[model] = of(u)
	}
	for model, u := range codex {
		written[model] = of(u)
	}
	return p.race(home, written)
}

// race lets both read in turn, so that whatever else the machine does meets both.
func (p peers) race(home string, written map[string]tokens) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bytes := size(home)
	var ratios []float64
	for n := range p.pairs + 1 { // the first brings the files into memory
		aesop, ours, err := p.timed(home, self, "-read", home)
		if err != nil {
			return err
		}
		ccusage, theirs, err := p.timed(home, p.ccusage, "daily", "--offline", "--json")
		if err != nil {
			return err
		}
		if err := p.compare(written, ours, theirs); err != nil {
			return err
		}
		if n > 0 {
			ratios = append(ratios, ccusage/aesop)
			fmt.Fprintf(p.out, "aesop %.2f s/GB, ccusage %.2f s/GB: %.1f times\n", aesop/bytes*1e9, ccusage/bytes*1e9, ccusage/aesop)
		}
	}
	slices.Sort(ratios)
	middle := ratios[len(ratios)/2]
	fmt.Fprintf(p.out, "both agree on the tokens of %d models in %.0f MB; middle of %d: %.1f times\n", len(written), bytes/1e6, len(ratios), middle)
	if middle < p.atLeast {
		return fmt.Errorf("aesop is %.1f times as fast as ccusage, not %.1f", middle, p.atLeast)
	}
	return nil
}

// timed runs a program with home, and returns its seconds and what it printed.
func (p peers) timed(home, program string, arguments ...string) (float64, []byte, error) {
	command := exec.Command(program, arguments...)
	command.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	command.Stderr = os.Stderr
	began := time.Now()
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", program, err)
	}
	return time.Since(began).Seconds(), out, err
}

// compare is an error where the two, or what was written, differ.
func (p peers) compare(written map[string]tokens, ours, theirs []byte) error {
	found := map[string]tokens{}
	if err := json.Unmarshal(ours, &found); err != nil {
		return err
	}
	var report struct {
		Daily []struct {
			ModelBreakdowns []struct {
				ModelName                                                       string
				InputTokens, OutputTokens, CacheCreationTokens, CacheReadTokens int64
			}
		}
	}
	if err := json.Unmarshal(theirs, &report); err != nil {
		return fmt.Errorf("ccusage: %w", err)
	}
	peer := map[string]tokens{}
	for _, day := range report.Daily {
		for _, m := range day.ModelBreakdowns {
			peer[m.ModelName] = peer[m.ModelName].add(tokens{m.InputTokens, m.OutputTokens, m.CacheCreationTokens, m.CacheReadTokens})
		}
	}
	if !maps.Equal(found, written) || !maps.Equal(peer, written) {
		return fmt.Errorf("written was %+v,\naesop says %+v,\nccusage says %+v", written, found, peer)
	}
	return nil
}

// size is how many bytes the files below folder have.
func size(folder string) float64 {
	sum := int64(0)
	_ = filepath.WalkDir(folder, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return float64(cmp.Or(sum, 1))
}
