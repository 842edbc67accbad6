package transcript

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	"aesop/cost"
)

// The classes of counts.
const (
	input = iota
	cacheRead
	write5m
	write1h
	output
	reasoning
	classes
)

type counts [classes]int64

func (c counts) usage(model string) cost.Usage {
	return cost.Usage{Model: model, Input: c[input], CacheRead: c[cacheRead], CacheWrite5m: c[write5m], CacheWrite1h: c[write1h], Output: c[output],
		Reasoning: c[reasoning], Metered: true}
}

// tokens are all of them; reasoning is in the output.
func (c counts) tokens() int64 { return c[input] + c[cacheRead] + c[write5m] + c[write1h] + c[output] }

// greater says whether c is the later of two countings of one message. Of those that agree in all, the finer one is.
func (c counts) greater(d counts) bool {
	if n, m := c.tokens(), d.tokens(); n != m {
		return n > m
	}
	if c[write1h] != d[write1h] {
		return c[write1h] > d[write1h]
	}
	return c[reasoning] > d[reasoning]
}

// key names a message among all: a hash of its id and its request's.
type key uint64

func keyOf(id, request string) key {
	var space [128]byte
	sum := sha256.Sum256(append(append(append(space[:0], id...), 0), request...))
	return key(binary.BigEndian.Uint64(sum[:]))
}

func (k key) String() string { return strconv.FormatUint(uint64(k), 16) }

// MarshalText and UnmarshalText keep all digits where JSON is read with floats.
func (k key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func (k *key) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*k = key(n)
	return err
}

// message is an answer of Claude Code's model, as far as its lines were read.
type message struct {
	ID      string    `json:"id"`
	Request string    `json:"request,omitempty"`
	At      time.Time `json:"at"`
	Session string    `json:"session,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"`
	Service string    `json:"service,omitempty"`
	Counts  counts    `json:"counts"`
	Part    bool      `json:"part,omitempty"`   // the counts are not all
	Summed  bool      `json:"summed,omitempty"` // and are of several requests

	file string // where it was read last
	line int64
}

func (m *message) key() key { return keyOf(m.ID, m.Request) }

// grow takes what another line, or a copy in another file, says of the same message.
func (m *message) grow(o message) {
	if o.Counts.greater(m.Counts) || o.Counts == m.Counts && o.At.After(m.At) {
		m.Counts, m.At, m.Service, m.Model, m.file, m.line = o.Counts, o.At, o.Service, o.Model, o.file, o.line
		m.Part, m.Summed = o.Part, o.Summed
	}
	if o.Session < m.Session { // a fork's copy has another; which is first is not said
		m.Session = o.Session
	}
}

// usage is counts of the message.
func (m *message) usage(c counts) cost.Usage {
	u := c.usage(m.Model)
	u.Metered = !m.Part
	return u
}

// call is the row of the message.
func (m *message) call() cost.Call {
	id := "claude/" + m.ID
	if m.Request != "" {
		id += "/" + m.Request
	}
	return cost.Call{ID: id, At: m.At, Backend: "claude", Agent: m.Agent, Session: m.Session, Source: "transcript", Service: m.Service,
		Usage: m.usage(m.Counts), Summed: m.Summed}
}

// told are the counts of a message that was given to the caller.
type told struct {
	counts
	times int // as so many calls
}

// over is what c has more than d, of each class, and in all no more than it grew.
func (c counts) over(d counts) counts {
	grown := c.tokens() - d.tokens()
	for i := range c {
		c[i] = max(0, c[i]-d[i])
	}
	for i := range reasoning {
		c[i] -= min(c[i], max(0, c.tokens()-grown)) // a class that is less now was counted under another name
	}
	c[reasoning] = min(c[reasoning], c[output])
	return c
}
