// Package redact takes secrets out of text: known values first, then what has the shape of a credential, then what stands under a
// name, or in a place, that says so. It works on text of any size, cut at any place, and leaves clean text as it is, byte for byte.
//
//	r, err := redact.New(redact.Config{})
//	if err != nil { … }
//	if err := r.Register(os.Getenv("DEPLOY_TOKEN")); err != nil { … }
//	w := r.NewWriter(logFile)
//	defer w.Close()
//
// Where it is not certain it takes out more rather than less. It is no guarantee: a secret that is neither known nor shaped nor named
// like one looks like any other text.
package redact

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// Config of a Redactor. Zero values mean the default.
type Config struct {
	Profile Profile // what is taken out beside credentials
	Rules   []Rule  // of the caller, after those of Rules
}

// Profile says what is taken out beside credentials.
type Profile int

// Profiles.
const (
	Logs          Profile = iota // credentials only
	Transcripts                  // and email addresses
	PublicDataset                // and the names of people in paths
)

// Severity is how much a match says.
type Severity int

// Severities. A scanner refuses Critical always, High unless the value is a placeholder, and Low never.
const (
	Critical Severity = iota // a credential by its own shape, or a known value
	High                     // a value under a name, or in a place, that says that it is one
	Low                      // personal data
)

func (s Severity) String() string {
	switch s {
	case Critical:
		return "critical"
	case High:
		return "high"
	case Low:
		return "low"
	}
	return fmt.Sprintf("severity %d", int(s))
}

// MarshalText is String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Redactor takes secrets out of text. It is safe for concurrent use.
type Redactor struct {
	pair    *rule // of a user and a password without a scheme
	markers markers
	tokens  *pass
	places  *pass
	known   *knownValues
	config  Config
	scratch sync.Pool
}

// New makes a Redactor. Its errors are those of rules that the caller adds.
func New(c Config) (*Redactor, error) {
	known := &knownValues{values: map[string]bool{}, forms: map[string]bool{}}
	known.pass.Store(newPass(0))
	return newRedactor(c, known)
}

// With is a Redactor with more rules and the same known values: what either is told from now on, both know.
func (r *Redactor) With(rules ...Rule) (*Redactor, error) {
	if len(rules) == 0 {
		return r, nil
	}
	c := r.config
	c.Rules = slices.Concat(c.Rules, rules)
	return newRedactor(c, r.known)
}

func newRedactor(c Config, known *knownValues) (*Redactor, error) {
	r := &Redactor{config: c, known: known, markers: markers{Marker: true}, tokens: newPass(escapes), places: newPass(escapes)}
	r.scratch.New = func() any { return new(scratch) }
	seen := map[string]bool{}
	for _, data := range append(Rules(), c.Rules...) {
		if seen[data.ID] {
			return nil, fmt.Errorf("%w %s: there is one of this id", errRule, data.ID)
		}
		seen[data.ID] = true
		if data.from > c.Profile {
			continue
		}
		if err := r.add(data); err != nil {
			return nil, err
		}
	}
	r.tokens.sorted()
	return r, nil
}

func (r *Redactor) add(data Rule) error {
	one, err := ready(data)
	if err != nil {
		return err
	}
	r.markers[one.marker] = data.placed || data.Name != "" || data.ID == pairID || data.ID == emailID
	switch {
	case data.ID == knownID:
		if r.known.rule == nil {
			r.known.rule = one
		}
	case data.ID == pairID:
		r.places.at = atSign(one, nil)
		r.pair = one
	case data.ID == emailID:
		r.places.at = atSign(r.pair, one)
	case data.Name != "":
		return one.addNamed(r.places)
	case data.placed:
		return one.addTo(r.places, r.markers)
	default:
		return one.addTo(r.tokens, r.markers)
	}
	return nil
}

// passes are the readings of a text, in their order.
func (r *Redactor) passes() [3]*pass { return [3]*pass{r.known.pass.Load(), r.tokens, r.places} }

// scratch is what one call needs, and the next can use again.
type scratch struct {
	reading
	stream stream
	out    []byte
}

// Bytes is text without secrets: text itself where it is clean.
func (r *Redactor) Bytes(text []byte) []byte {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	if !r.dirty(s, text) {
		return text
	}
	return r.clean(s, nil, text)
}

// String is text without secrets.
func (r *Redactor) String(text string) string {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // nothing writes to it
	if !r.dirty(s, b) {
		return text
	}
	s.out = r.clean(s, s.out[:0], b)
	text = string(s.out)
	if cap(s.out) > 16*piece { // one large text needs it, and hardly the next
		s.out = nil
	}
	return text
}

// AppendTo appends text without secrets to dst. It allocates nothing where dst has room.
func (r *Redactor) AppendTo(dst, text []byte) []byte {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	if !r.dirty(s, text) {
		return append(dst, text...)
	}
	return r.clean(s, dst, text)
}

// dirty says whether there is anything to take out of a text.
func (r *Redactor) dirty(s *scratch, b []byte) bool {
	defer func() { s.reading = reading{} }()
	for _, p := range r.passes() {
		s.reading = reading{text: textOf(b)}
		if _, _, o := p.next(&s.text, 0); o == yes {
			return true
		}
	}
	return false
}

// clean appends text without secrets to dst, a piece at a time, so that what is between the passes stays small.
func (r *Redactor) clean(s *scratch, dst, b []byte) []byte {
	s.stream.begin(r)
	dst = slices.Grow(dst, len(b)+len(b)/16)
	for len(b) > piece {
		dst = s.stream.push(dst, b[:piece], false)
		b = b[piece:]
	}
	return s.stream.push(dst, b, true)
}
