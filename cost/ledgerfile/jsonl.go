package ledgerfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"aesop/cost"
)

// schemaVersion is of a line of JSONL.
const schemaVersion = 1

// errNewer is of a line that a newer program wrote.
var errNewer = errors.New("use a newer one")

// maxRecord bounds the calls of one record.
const maxRecord = 1 << 20

// row is a line of JSONL: a call, and how many lines from it on are one record, where it is more than one.
type row struct {
	SchemaVersion int `json:"schemaVersion"`
	Record        int `json:"record"`
	cost.Call
}

// encode appends the lines of a record.
func encode(to []byte, record ...cost.Call) ([]byte, error) {
	for n, c := range record {
		if err := c.Check(); err != nil {
			return nil, err
		}
		data, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("call %q: %w", c.ID, err)
		}
		to = fmt.Appendf(to, `{"schemaVersion":%d,`, schemaVersion)
		if n == 0 && len(record) > 1 {
			to = fmt.Appendf(to, `"record":%d,`, len(record))
		}
		to = append(append(to, data[1:]...), '\n')
	}
	return to, nil
}

// decode reads a line. The number of lines of the record is 1 where it says none.
func decode(l line) (c cost.Call, record int, err error) {
	if l.err != nil {
		return c, 1, l.err
	}
	var in row
	if err := json.Unmarshal(l.text, &in); err != nil {
		return c, 1, inWords(err)
	}
	switch {
	case in.SchemaVersion > schemaVersion:
		return c, 1, fmt.Errorf("schemaVersion is %d and this program knows %d: %w", in.SchemaVersion, schemaVersion, errNewer)
	case in.Record < 0 || in.Record > maxRecord:
		return c, 1, fmt.Errorf("record is %d, must be at most %d", in.Record, maxRecord)
	}
	return in.Call, max(1, in.Record), in.Check()
}

// ReadJSONL gives the calls of r to add, one by one in their order, until add returns an error, which comes back as it is. A last line
// that has no newline is a call if it is whole. Empty lines are nothing.
func ReadJSONL(r io.Reader, add func(cost.Call) error) (Report, error) {
	var f follower
	err := f.read(r, add)
	if last, whole := f.tail(); err == nil && whole {
		if err = add(last); err == nil {
			f.report.Rows++
			f.report.Torn = false
		}
	}
	return f.report, err
}

// WriteJSONL writes calls, one a line.
func WriteJSONL(w io.Writer, calls iter.Seq2[cost.Call, error]) error {
	out := bufio.NewWriter(w)
	var text []byte
	for c, err := range calls {
		if err != nil {
			return err
		}
		if text, err = encode(text[:0], c); err != nil {
			return fmt.Errorf("write JSONL: %w", err)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return out.Flush()
}
