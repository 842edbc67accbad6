package process

import (
	"io"
	"sync"
)

const (
	defaultTail = 64 << 10
	readSize    = 32 << 10
)

// ring keeps the end of what is written to it. It holds up to twice its size and moves the end to the front when full, so
// that a byte is moved once on average.
type ring struct {
	size  int
	data  []byte
	total int64
}

func (r *ring) write(p []byte) {
	r.total += int64(len(p))
	if len(p) >= r.size {
		r.data = append(r.data[:0], p[len(p)-r.size:]...)
		return
	}
	if len(r.data)+len(p) > 2*r.size {
		r.data = append(r.data[:0], r.data[len(r.data)-r.size:]...)
	}
	r.data = append(r.data, p...)
}

func (r *ring) tail() Tail {
	text := r.data[max(0, len(r.data)-r.size):]
	return Tail{Text: append([]byte(nil), text...), Dropped: r.total - int64(len(text))}
}

// sink takes what one pipe carries. Both sinks of a child share one mutex, so that a caller may give the same writer twice.
type sink struct {
	mu     *sync.Mutex
	w      io.Writer // nil: none, or one that failed
	end    ring
	closed bool
	heard  func()
}

// copy reads until the pipe's end, whatever becomes of the writer: a child must never block on a full pipe.
func (s *sink) copy(r io.Reader) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.heard()
			s.write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (s *sink) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.end.write(p)
	if s.w == nil {
		return
	}
	if _, err := s.w.Write(p); err != nil {
		s.w = nil
	}
}

// close ends the writing; once it returned, the writer is the caller's again.
func (s *sink) close() Tail {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.end.tail()
}
