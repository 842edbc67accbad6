package testcount

import (
	"strconv"
	"strings"
)

// maxTests is more than any run has; beyond it the words are not about tests.
const maxTests = 1 << 30

// sum adds the numbers of parts such as "3 passed" whose word counts. A word that is not known makes it no sum.
func sum(parts []string, counts map[string]bool) (int, bool) {
	total := 0
	for _, part := range parts {
		number, word, ok := strings.Cut(strings.TrimSpace(part), " ")
		n, err := strconv.Atoi(number)
		yes, known := counts[word]
		if !ok || err != nil || n < 0 || !known {
			return 0, false
		}
		if yes {
			total += n
		}
		if total > maxTests {
			return 0, false
		}
	}
	return total, true
}
