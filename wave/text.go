package wave

import (
	"iter"
	"strings"

	"aesop/driver"
	"aesop/tracker"
)

const workerRole = driver.Worker

// commandText is a test command as people read it.
func commandText(c tracker.Command) string {
	if c.Shell != "" {
		return c.Shell
	}
	return wordsText(c.Argv)
}

// wordsText quotes an argument vector for a shell.
func wordsText(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]#~%!\\{}") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

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
