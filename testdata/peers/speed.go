package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"aesop/redact/redacttest"
)

// race lets both read the log of agents in turn, so that whatever else the machine does meets both, each as it is fastest and in pieces
// of 64 KiB: gitleaks text by text, of a part only since it is that slow, aesop as a stream.
func (p *peers) race(w io.Writer, rng *rand.Rand, atLeast float64) error {
	const (
		pairs = 5
		size  = 32 << 20
		part  = 1 << 20
	)
	log := redacttest.AgentLog(rng, size)
	var ratios []float64
	for n := range pairs + 1 { // the first makes both warm
		aesop, err := rate(log, p.stream)
		if err != nil {
			return err
		}
		gitleaks, err := rate(log[:part], func(pieces [][]byte) error {
			for _, piece := range pieces {
				p.gitleaks.DetectString(string(piece))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n > 0 {
			ratios = append(ratios, aesop/gitleaks)
			fmt.Fprintf(w, "aesop %.0f MB/s, gitleaks %.2f MB/s: %.0f times\n", aesop, gitleaks, aesop/gitleaks)
		}
	}
	slices.Sort(ratios)
	middle := ratios[len(ratios)/2]
	fmt.Fprintf(w, "middle of %d: %.0f times\n", len(ratios), middle)
	if middle < atLeast {
		return fmt.Errorf("aesop is %.0f times as fast as gitleaks, not %.0f", middle, atLeast)
	}
	return nil
}

// rate is how many MB a second read reads.
func rate(log []byte, read func(pieces [][]byte) error) (float64, error) {
	pieces := slices.Collect(slices.Chunk(log, 64<<10))
	began := time.Now()
	err := read(pieces)
	return float64(len(log)) / 1e6 / time.Since(began).Seconds(), err
}

func (p *peers) stream(pieces [][]byte) error {
	w := p.aesop.NewWriter(io.Discard)
	for _, piece := range pieces {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return w.Close()
}
