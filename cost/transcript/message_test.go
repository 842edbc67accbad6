package transcript

import (
	"math/rand/v2"
	"testing"
)

// TestOver: the rest of a message is never more than it grew, whatever its classes were called before.
func TestOver(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 10000 {
		var c, d counts
		for i := range c {
			c[i], d[i] = rng.Int64N(50), rng.Int64N(50)
		}
		c[reasoning] = min(c[reasoning], c[output])
		rest := c.over(d)
		if want := max(0, c.tokens()-d.tokens()); rest.tokens() != want || rest.usage("m").Check() != nil {
			t.Fatalf("%v over %v is %v, want %d tokens", c, d, rest, want)
		}
	}
	if got := (counts{1, 0, 0, 0, 9, 4}).over(counts{1, 0, 0, 0, 2, 1}); got != (counts{0, 0, 0, 0, 7, 3}) {
		t.Errorf("got %v", got)
	}
}
