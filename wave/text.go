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

// clipped is the beginning of a text.
func clipped(text string, runes int) string {
	count := 0
	for at := range text {
		if count == runes {
			return text[:at] + "…"
		}
		count++
	}
	return text
}
