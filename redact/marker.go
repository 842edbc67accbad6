package redact

import "bytes"

// Marker stands where a secret was whose kind needs no word. Others are [REDACTED:rule].
const Marker = "[REDACTED]"

const markerStart = "[REDACTED"

func markerOf(id string) string { return markerStart + ":" + id + "]" }

// longestMarker is the most bytes that a marker has.
const longestMarker = len(markerStart) + 1 + longestID + 1

// markers are what a Redactor puts in the place of secrets, and whether the last pass does. Only these are taken for markers, or a
// text could hide a secret in what looks like one.
type markers map[string]bool

// at says whether a marker begins at i, and where it ends. With more, the end of the text leaves it open.
func (ms markers) at(t *text, i int) (end int, o outcome) {
	rest := t.b[i:]
	if len(rest) < len(markerStart) {
		if !t.done && bytes.HasPrefix([]byte(markerStart), rest) {
			return 0, more
		}
		return 0, no
	}
	if string(rest[:len(markerStart)]) != markerStart {
		return 0, no
	}
	n := bytes.IndexByte(rest[:min(len(rest), longestMarker)], ']')
	if n < 0 {
		if !t.done && len(rest) < longestMarker {
			return 0, more
		}
		return 0, no
	}
	if _, known := ms[string(rest[:n+1])]; known {
		return i + n + 1, yes
	}
	return 0, no
}

// holding says what a value has of markers.
type holding int

const (
	noMarker   holding = iota
	someMarker         // of a known value or a token: so all of it is one
	judged             // of the last pass, which has let the value be that the marker stands in; or nothing but a marker
)

// in says what a value has of markers.
func (ms markers) in(value []byte) holding {
	has := noMarker
	for i := 0; ; {
		n := bytes.Index(value[i:], []byte(markerStart))
		if n < 0 {
			return has
		}
		if end, o := ms.at(&text{b: value, done: true}, i+n); o == yes {
			if ms[string(value[i+n:end])] || i+n == 0 && end == len(value) {
				return judged
			}
			has = someMarker
		}
		i += n + len(markerStart)
	}
}

// across says whether a part of a text has an end inside of a marker.
func (ms markers) across(t *text, start, end int) outcome {
	for i := max(t.back(start), start-longestMarker); i < end; i++ {
		upto, o := ms.at(t, i)
		if o == more || o == yes && upto > start && (i < start || upto > end) {
			return o
		}
	}
	return no
}
