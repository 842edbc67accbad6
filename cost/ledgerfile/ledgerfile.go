// Package ledgerfile keeps calls in files: a ledger that needs no store, and the formats that ledgers are brought from and to.
//
// A Ledger is a cost.Ledger on a JSONL file, for programs that only count. ReadJSONL, ReadCSV and ReadMarkdown stream the calls of a
// file to a function and report what they could not read, with the numbers of its lines; nothing is dropped without being counted.
// WriteJSONL, WriteCSV and WriteMarkdown write calls, and WritePrometheus writes totals for a scraper. Reading what was written gives
// the same calls, but for Markdown, whose table has fewer columns.
package ledgerfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"aesop/cost"
)

// Report is what became of the lines of a file.
type Report struct {
	Rows    int         `json:"rows"`    // calls that were read
	Corrupt int         `json:"corrupt"` // lines that are no calls
	Torn    bool        `json:"torn"`    // the file ends within a line or a record; what is there of it was not read
	Lines   []LineError `json:"lines"`   // the first of the corrupt ones
}

// maxLines bounds Report.Lines.
const maxLines = 20

// LineError is a line that is no call.
type LineError struct {
	Line int    `json:"line"` // from 1
	Text string `json:"error"`
}

func (e LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// bad counts a line that is no call.
func (r *Report) bad(line int, err error) {
	r.Corrupt++
	if len(r.Lines) < maxLines {
		r.Lines = append(r.Lines, LineError{line, err.Error()})
	}
}

// take gives the call of a line to add, or counts why it is none. The error is that of add.
func (r *Report) take(line int, c cost.Call, err error, add func(cost.Call) error) error {
	if err != nil {
		r.bad(line, err)
		return nil
	}
	if err := add(c); err != nil {
		return err
	}
	r.Rows++
	return nil
}

// maxLine bounds a line, in bytes. The longest call is far shorter.
const maxLine = 1 << 20

var errTooLong = errors.New("the line is longer than a mebibyte")

// line is a line of a file.
type line struct {
	number int
	from   int64 // where it begins
	to     int64 // where the next one does
	text   []byte
	ended  bool // by a newline
	err    error
}

// lines calls yield for each line until it returns false. Text is good until the next one, and only as much is held in memory.
func lines(r io.Reader, yield func(line) bool) error {
	buffered := bufio.NewReaderSize(r, 64<<10)
	var l line
	for {
		l = line{number: l.number + 1, from: l.to, to: l.to, text: l.text[:0]}
		for {
			part, err := buffered.ReadSlice('\n')
			l.to += int64(len(part))
			if len(l.text)+len(part) > maxLine {
				l.err = errTooLong
			} else {
				l.text = append(l.text, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && err != io.EOF {
				return err
			}
			l.ended = err == nil
			break
		}
		if l.to == l.from {
			return nil
		}
		l.text = bytes.TrimRight(l.text, "\r\n")
		if l.number == 1 {
			l.text = bytes.TrimPrefix(l.text, []byte("\ufeff"))
		}
		if !yield(l) || !l.ended {
			return nil
		}
	}
}
