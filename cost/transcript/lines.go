package transcript

import (
	"bytes"
	"errors"
	"io"
)

// A line is read whole only if it may matter, and only up to so many bytes.
const (
	chunk   = 256 << 10
	maxLine = 32 << 20
)

// verdict is what is known of a line from its first bytes.
type verdict int

const (
	matters verdict = iota
	skipped         // it holds no counts
	damaged         // it is not JSON
	unsure          // more of it has to be seen
)

// lines reads the whole lines of a file from an offset on. What follows the last line end is left for another time.
type lines struct {
	r       io.Reader
	read    func(int) // told of bytes
	buffer  []byte
	offset  int64 // of the first byte that belongs to no line yet
	number  int64 // of the last line that was given
	filled  int
	begin   int   // of what is not given yet in buffer[:filled]
	passing bool  // inside a line that is not wanted
	passed  int64 // bytes of it that the buffer has no more
	lost    func(kind Kind, line int64)
}

// each gives all lines: head judges a line that is not in memory as a whole, take gets those that matter.
func (l *lines) each(head func([]byte) verdict, take func(line []byte, number int64) error) error {
	for {
		if err := l.give(take); err != nil {
			return err
		}
		if l.begin > 0 {
			l.filled = copy(l.buffer, l.buffer[l.begin:l.filled])
			l.begin = 0
		}
		if l.filled == len(l.buffer) || l.passing {
			l.tooBig(head)
		}
		n, err := l.r.Read(l.buffer[l.filled:])
		l.filled += n
		l.read(n)
		if errors.Is(err, io.EOF) {
			return l.give(take)
		}
		if err != nil {
			return err
		}
	}
}

// give gives the lines that are in the buffer.
func (l *lines) give(take func([]byte, int64) error) error {
	for {
		n := bytes.IndexByte(l.buffer[l.begin:l.filled], '\n')
		if n < 0 {
			return nil
		}
		line := l.buffer[l.begin : l.begin+n]
		l.begin += n + 1
		l.number++
		if l.passing {
			l.offset += l.passed + int64(n+1)
			l.passing, l.passed = false, 0
			continue
		}
		if err := take(line, l.number); err != nil {
			l.number--
			return err
		}
		l.offset += int64(n + 1)
	}
}

// tooBig makes room when a line does not fit: it is passed over if it does not matter or is longer than any, else there is more room.
func (l *lines) tooBig(head func([]byte) verdict) {
	if !l.passing {
		switch verdict := head(l.buffer[:l.filled]); {
		case verdict == skipped:
		case verdict == damaged:
			l.lost(Corrupt, l.number+1)
		case len(l.buffer) >= maxLine:
			l.lost(TooLong, l.number+1)
		default:
			more := make([]byte, min(4*len(l.buffer), maxLine))
			copy(more, l.buffer)
			l.buffer = more
			return
		}
		l.passing = true
	}
	l.passed += int64(l.filled)
	l.filled = 0
}
