package document

import "strings"

// Nearest returns the candidate that word is most likely a misspelling of, or "" where none is close or has a letter of it.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", 1+len(word)/3
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < max(len(word), len(c)) && (d < bestDistance || best == "" && d == bestDistance) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of single-character edits between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
