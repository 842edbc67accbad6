package redact

import (
	"errors"
	"io"
)

// piece is how much of a large chunk is read at once, so that memory does not follow the size of chunks.
const piece = 64 << 10

// stream is the passes over a text that comes in chunks.
type stream struct {
	redactor *Redactor
	passes   [3]reading
	between  [2][]byte // what one pass has for the next
}

func newStream(r *Redactor) *stream {
	s := &stream{}
	s.begin(r)
	return s
}

// begin makes a stream ready for a text.
func (s *stream) begin(r *Redactor) {
	s.redactor = r
	for n := range s.passes {
		s.passes[n] = reading{text: text{b: s.passes[n].b[:0], kept: s.passes[n].kept[:0], sign: -1, hit: -1}}
	}
}

// push appends to dst what can be handed on after one more chunk, which is not kept.
func (s *stream) push(dst, chunk []byte, done bool) []byte {
	for n, p := range s.redactor.passes() {
		last := n == len(s.passes)-1
		out := dst
		if !last {
			out = s.between[n][:0]
		}
		s.passes[n].take(chunk, done)
		out = p.read(&s.passes[n], out, nil)
		if last {
			return out
		}
		s.between[n], chunk = out, out
	}
	return dst
}

// take adds a chunk to the text, and forgets what nothing looks at any more.
func (r *reading) take(chunk []byte, done bool) {
	if cut := min(r.sent, r.from) - 2*context; cut > 0 && cut >= len(r.b)/2 {
		r.count(cut)
		r.counted -= cut
		r.b = r.b[:copy(r.b, r.b[cut:])]
		r.from, r.sent, r.edge, r.sign = r.from-cut, r.sent-cut, r.edge-cut, -1
	}
	if r.sign >= len(r.b) {
		r.sign = -1
	}
	r.hit = -1 // what comes next may have it earlier, and so may other known values
	r.b, r.done = append(r.b, chunk...), done
}

// NewWriter writes to w what is written to it, without secrets. It holds back the end of what it has as long as more text could make
// it part of a secret, at most some ten kilobytes; Close writes that, and does not close w. Not safe for concurrent use.
func (r *Redactor) NewWriter(w io.Writer) io.WriteCloser { return &writer{to: w, stream: newStream(r)} }

type writer struct {
	to     io.Writer
	stream *stream
	out    []byte
	err    error // of w, which gets nothing more; or that it is closed
}

var errClosed = errors.New("redact: the writer is closed")

func (w *writer) Write(p []byte) (n int, err error) {
	for n < len(p) && w.err == nil {
		chunk := p[n:min(n+piece, len(p))]
		w.push(chunk, false)
		if w.err == nil {
			n += len(chunk)
		}
	}
	return n, w.err
}

func (w *writer) push(chunk []byte, done bool) {
	w.out = w.stream.push(w.out[:0], chunk, done)
	if len(w.out) > 0 {
		_, w.err = w.to.Write(w.out)
	}
}

func (w *writer) Close() error {
	if w.err != nil {
		if errors.Is(w.err, errClosed) {
			return nil
		}
		return w.err
	}
	w.push(nil, true)
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	return nil
}

// NewReader reads what from gives, without secrets. What it gave before an error of from is handed on first. Not safe for concurrent
// use.
func (r *Redactor) NewReader(from io.Reader) io.Reader {
	return &reader{from: from, stream: newStream(r), in: make([]byte, piece/2)}
}

type reader struct {
	from   io.Reader
	stream *stream
	in     []byte
	out    []byte // ready
	given  int    // of out
	err    error
}

func (r *reader) Read(p []byte) (int, error) {
	for r.given == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		var n int
		n, r.err = r.from.Read(r.in)
		r.out, r.given = r.stream.push(r.out[:0], r.in[:n], r.err != nil), 0
	}
	n := copy(p, r.out[r.given:])
	r.given += n
	return n, nil
}
