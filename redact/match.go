package redact

// outcome is what a look says of a place.
type outcome int

const (
	no   outcome = iota
	yes          // a match begins here
	more         // it cannot be said before more text has come
)

// match is a part of a text that is taken out.
type match struct {
	start, end int
	rule       *rule
	tail       tail // what follows, however long, and goes with it
}

// look decides about a place. It sees all of the text that there is.
type look func(t *text, at int) (match, outcome)
