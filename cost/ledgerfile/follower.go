package ledgerfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"aesop/cost"
)

// follower reads a JSONL file as it grows: each read begins where the one before ended. Of a record of several lines it takes all or
// none, and a line or a record that is not whole yet is left for the next read.
type follower struct {
	at     int64 // where the first line begins that was not taken
	number int   // how many lines were taken
	report Report
	last   []byte // the line at the end that has no newline
	inside bool   // the end is inside a record
	newer  error  // of the first line that a newer program wrote
}

// record is the lines of one that is being read.
type record struct {
	calls []cost.Call
	bad   []LineError
	need  int // lines to come
}

// read takes what r has, which begins at f.at. An error of add, or of r, ends it; what was given to add is taken.
func (f *follower) read(r io.Reader, add func(cost.Call) error) error {
	var open record
	var failed error
	at, number := f.at, f.number
	f.last, f.report.Torn = nil, false
	err := lines(r, func(l line) bool {
		if !l.ended {
			f.last = bytes.Clone(l.text)
			return false
		}
		at, number = at+l.to-l.from, number+1
		if len(l.text) > 0 || l.err != nil {
			if err := open.take(l, number); errors.Is(err, errNewer) && f.newer == nil {
				f.newer = fmt.Errorf("line %d: %w", number, err)
			}
		}
		if open.need > 0 {
			return true
		}
		failed = f.flush(&open, add)
		f.at, f.number = at, number
		return failed == nil
	})
	f.inside = open.need > 0
	f.report.Torn = f.inside || len(f.last) > 0
	return errors.Join(failed, err)
}

// take puts a line into the record, or says why it is no call.
func (r *record) take(l line, number int) error {
	call, size, err := decode(l)
	if r.need > 0 && size > 1 {
		// Another record begins: whoever wrote the one before died, and nobody was told that it is kept.
		for range r.calls {
			r.bad = append(r.bad, LineError{number, "the record before it is cut short"})
		}
		r.calls, r.need = nil, 0
	}
	if r.need == 0 {
		r.need = size
	}
	r.need--
	if err != nil {
		r.bad = append(r.bad, LineError{number, err.Error()})
		return err
	}
	r.calls = append(r.calls, call)
	return nil
}

// flush gives a whole record away.
func (f *follower) flush(r *record, add func(cost.Call) error) error {
	for _, bad := range r.bad {
		f.report.bad(bad.Line, errors.New(bad.Text))
	}
	for _, c := range r.calls {
		if err := add(c); err != nil {
			return err
		}
		f.report.Rows++
	}
	*r = record{}
	return nil
}

// tail is the call at the end whose line has no newline, if it is whole.
func (f *follower) tail() (c cost.Call, whole bool) {
	if f.inside || len(f.last) == 0 {
		return c, false
	}
	c, size, err := decode(line{text: f.last})
	return c, err == nil && size == 1
}

// cut says whether the end is what is left of a writer that died: not a line of its own that only lacks its newline.
func (f *follower) cut() bool {
	if f.inside || len(f.last) == 0 {
		return f.inside
	}
	_, size, _ := decode(line{text: f.last})
	return size > 1 || !json.Valid(f.last)
}
