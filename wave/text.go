package wave

import (
	"iter"
	"strings"

	"aesop/driver"
)

const workerRole = driver.Worker

// lines yields the non-empty lines of a text.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}
