package testrun

import (
	"fmt"
	"io"
	"sync"
)

// maxLogged is how much output of one run goes to its log; the end of it is in the outcome anyway.
const maxLogged = 8 << 20

// head passes on the beginning of what is written to it and counts the rest. It can be written to by several goroutines.
type head struct {
	to   io.Writer // nil: nobody
	mu   sync.Mutex
	seen int64
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.to == nil {
		return len(p), nil
	}
	room := max(0, maxLogged-h.seen)
	h.seen += int64(len(p))
	if n, err := h.to.Write(p[:min(room, int64(len(p)))]); err != nil {
		return n, err
	}
	return len(p), nil
}

// end says in the log how much it does not have.
func (h *head) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cut := h.seen - maxLogged; cut > 0 {
		fmt.Fprintf(h.to, "\n[%d more bytes of output were cut]\n", cut)
	}
}

// tee counts all output and logs it; a log that can no longer be written does not end the counting.
type tee struct {
	count io.Writer // never fails
	log   io.Writer
}

func (t tee) Write(p []byte) (int, error) {
	_, _ = t.log.Write(p)
	return t.count.Write(p)
}
