package transcript

import "fmt"

// Kind is a kind of Problem.
type Kind string

// The kinds. Lines that are corrupt, invalid, too long or in the future are no calls; what they used is not known.
const (
	Corrupt    Kind = "corrupt"    // not JSON
	TooLong    Kind = "too_long"   // longer than 32 MiB
	Invalid    Kind = "invalid"    // counts that are negative, no integers, or contradict each other
	Future     Kind = "future"     // more than a day ahead of the clock, or before 1970
	NoTime     Kind = "no_time"    // of a line whose time cannot be read
	NoZone     Kind = "no_zone"    // a time without a zone, which was read as UTC
	Reset      Kind = "reset"      // a session's sums fell, and were counted from zero
	Late       Kind = "late"       // a message grew after it was given: the rest is a call of its own
	Torn       Kind = "torn"       // the last line has no end; it is read when it has
	Replaced   Kind = "replaced"   // a file is not the one that was read before, and was read from its beginning
	Link       Kind = "link"       // a symbolic link, which was not followed
	Unreadable Kind = "unreadable" // a file or folder
)

// Problem is something that was found in a file.
type Problem struct {
	Kind   Kind   `json:"kind"`
	File   string `json:"file"`
	Line   int64  `json:"line,omitempty"`
	Detail string `json:"detail,omitempty"`
}

func (p Problem) String() string {
	text := p.File
	if p.Line > 0 {
		text += fmt.Sprint(":", p.Line)
	}
	text += ": " + string(p.Kind)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// maxProblems bounds the list, not the counts.
const maxProblems = 100
