package stateapi

import (
	"errors"
	"testing"
)

// FuzzCursor: whatever somebody sends as a cursor is either one that a list made, or refused.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("W10")
	f.Add(cursor("jobs", "", "w1/greet"))
	f.Add(cursor("events", "", "7"))
	f.Add("WyJqb2JzIiwiIiwiYSIsImIiXQ")
	f.Fuzz(func(t *testing.T, sent string) {
		after, err := cursorAfter("jobs", "", sent)
		if err != nil {
			if !errors.Is(err, ErrBadPage) || after != "" {
				t.Errorf("%q: %q, %v", sent, after, err)
			}
			return
		}
		if again, err := cursorAfter("jobs", "", cursor("jobs", "", after)); sent != "" && (err != nil || again != after) {
			t.Errorf("%q is after %q, and once more %q, %v", sent, after, again, err)
		}
	})
}
