// Command peers lets gitleaks and aesop's redactor read the same text in one run: what each finds of what gitleaks has rules for, of
// the keys of common vendors, and of text without secrets; with -speed also how fast.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"aesop/redact"

	"github.com/zricethezav/gitleaks/v8/detect"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the text is made from")
	speed := flag.Bool("speed", false, "measure speed instead")
	atLeast := flag.Float64("at-least", 0, "with -speed: fail unless aesop is that many times as fast as gitleaks")
	flag.Parse()
	if err := run(os.Stdout, *seed, *speed, *atLeast); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, seed uint64, speed bool, atLeast float64) error {
	p, err := newPeers()
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	if speed {
		return p.race(w, rng, atLeast)
	}
	classes, err := p.classes(rng)
	if err != nil {
		return err
	}
	c := p.corpus(rng)
	report(w, classes, c)
	return nil
}

// peers are both finders.
type peers struct {
	gitleaks *detect.Detector
	aesop    *redact.Redactor
}

func newPeers() (*peers, error) {
	gitleaks, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return nil, err
	}
	aesop, err := redact.New(redact.Config{})
	return &peers{gitleaks, aesop}, err
}

// takes says whether aesop takes text[start:end] out, and under which rules. all asks for every byte; else three of four are enough:
// what gitleaks calls the secret may have a scheme, a host or a user's name in it.
func (p *peers) takes(text string, start, end int, all bool) (rules []string, taken bool) {
	covered := 0
	at := start
	for _, f := range p.aesop.Explain([]byte(text)) {
		from, upto := max(f.Start, at), min(f.End, end)
		if from < upto {
			rules = append(rules, f.Rule)
			covered += upto - from
			at = upto
		}
	}
	if all {
		return rules, covered == end-start
	}
	return rules, covered*4 >= (end-start)*3
}
