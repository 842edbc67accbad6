package scan

import (
	"bytes"
	"sort"
)

// wideRun is a run of characters of UTF-16 whose other half is NUL: where it begins in the narrow text, and in the wide one.
type wideRun struct{ narrow, wide int }

// wideRuns are in the order of their places.
type wideRuns []wideRun

// wide is the place of a narrow character in the wide text.
func (rs wideRuns) wide(at int) int {
	one := rs[sort.Search(len(rs), func(n int) bool { return rs[n].narrow > at })-1]
	return one.wide + 2*(at-one.narrow)
}

// narrowed are the parts of a text that are UTF-16, of either byte order and without regard to any mark, as bytes: no rule would see what
// stands there. Each part is on lines of its own. runs is nil where there is none.
func narrowed(text []byte) (narrow []byte, runs wideRuns) {
	const least = 8 // characters, so that the zeros of binaries make no text
	first := bytes.IndexByte(text, 0)
	if first < 0 {
		return nil, nil
	}
	for i := max(0, first-1); i+1 < len(text); i++ {
		if text[i] == 0 || text[i+1] != 0 {
			continue
		}
		begin := i
		for i+1 < len(text) && text[i] != 0 && text[i+1] == 0 {
			i += 2
		}
		if i-begin < 2*least {
			continue
		}
		runs = append(runs, wideRun{len(narrow), begin})
		for at := begin; at <= i && at < len(text); at += 2 { // the last of a run with the high byte first has no NUL behind it
			narrow = append(narrow, text[at])
		}
		narrow = append(narrow, '\n')
	}
	return narrow, runs
}
