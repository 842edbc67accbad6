package transcript

import (
	"context"
	"errors"
	"io"
	"time"

	"aesop/cost"
)

// contents understands the lines of a file.
type contents interface {
	begin(path string)
	head([]byte) verdict // of a line that is not in memory as a whole
	take(line []byte, number int64) error
	contents() ([]*message, []cost.Call)
}

// reading is the reading of one file.
type reading struct {
	name     string
	clock    time.Time
	known    bool // it was read before
	report   func(bytes int)
	now      fileState
	bytes    int64
	problems map[Kind]int
	list     []Problem
}

func (r *reading) problem(kind Kind, line int64, detail string) {
	r.problems[kind]++
	if len(r.list) < maxProblems {
		r.list = append(r.list, Problem{kind, r.name, line, detail})
	}
}

// read gives the new lines of a file to what understands them.
func (r *reading) read(ctx context.Context, f source, into contents, buffer []byte) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if r.known && !r.now.same(file) {
		r.problem(Replaced, 0, "")
		r.now = r.now.again()
	}
	r.now.Size, r.now.Changed = info.Size(), info.ModTime()
	into.begin(f.path)
	l := &lines{r: io.NewSectionReader(file, r.now.Offset, info.Size()-r.now.Offset), buffer: buffer, offset: r.now.Offset, number: r.now.Lines}
	l.read = func(n int) {
		r.bytes += int64(n)
		r.report(n)
	}
	l.lost = func(kind Kind, line int64) { r.problem(kind, line, "") }
	err = l.each(into.head, func(line []byte, number int64) error {
		if number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return into.take(line, number)
	})
	if err != nil {
		return err
	}
	r.now.Offset, r.now.Lines = l.offset, l.number
	if l.offset < info.Size() {
		r.problem(Torn, l.number+1, "")
	}
	return r.now.print(file)
}

// time is the time of a line; ok is false where it has none that can be used.
func (r *reading) time(text []byte, line int64) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		if at, err = time.Parse("2006-01-02T15:04:05", string(text)); err == nil {
			r.problem(NoZone, line, "")
		}
	}
	if err != nil {
		r.problem(NoTime, line, "")
		return r.now.LastTime, !r.now.LastTime.IsZero()
	}
	at = at.UTC()
	if at.After(r.clock.Add(24*time.Hour)) || at.Year() < 1970 {
		r.problem(Future, line, at.Format(time.RFC3339))
		return at, false
	}
	r.now.LastTime = at
	return at, true
}
