package redact

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrValue is what Register says of a value that it cannot look for.
var ErrValue = errors.New("known value")

// shortest is how many bytes a known value needs. Anything shorter is in every text.
const shortest = 4

const knownID = "known-value"

// knownValues is the pass that finds them, which Register replaces.
type knownValues struct {
	rule   *rule
	mu     sync.Mutex      // of those that register
	values map[string]bool // that were registered
	forms  map[string]bool // of all of them
	pass   atomic.Pointer[pass]
}

// Register adds known values. They are found as they are, in base64 wherever they stand in what was encoded, in hexadecimal, as numbers
// of bytes, and as URL, JSON, HTML and shell-quoted text; of several lines, each long one also alone. "" is no value. Writers and
// readers that are open look for them from their next chunk on. After an error, ErrValue, the other values are registered all the same.
func (r *Redactor) Register(values ...string) error {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	var bad []error
	var added []string
	for n, v := range values {
		if v == "" || r.known.values[v] {
			continue
		}
		if err := r.usable(v); err != nil {
			bad = append(bad, fmt.Errorf("%w (number %d of those given) %w", ErrValue, n+1, err))
			continue
		}
		r.known.values[v] = true
		for _, form := range forms(v) {
			if !r.known.forms[form] && r.usable(form) == nil {
				r.known.forms[form] = true
				added = append(added, form)
			}
		}
	}
	if len(added) > 0 {
		r.known.pass.Store(r.knowing(added))
	}
	return errors.Join(bad...)
}

func (r *Redactor) usable(v string) error {
	if len(v) < shortest {
		return fmt.Errorf("has fewer than %d bytes, which are in every text", shortest)
	}
	if strings.Contains(v, "REDACTED") {
		return errors.New("has a part of what stands in the place of secrets")
	}
	for marker := range r.markers {
		if strings.Contains(marker, v) {
			return errors.New("is a part of what stands in the place of secrets")
		}
	}
	return nil
}

// knowing is the pass that looks for more values than the one there is, which others are reading.
func (r *Redactor) knowing(added []string) *pass {
	p := r.known.pass.Load().copy()
	for _, v := range added {
		brackets := strings.ContainsAny(v, "[]")
		p.add(v, false, 0, func(t *text, at int) (match, outcome) {
			end := at + len(v)
			if brackets {
				switch r.markers.across(t, at, end) {
				case yes:
					return match{}, no
				case more:
					return match{}, more
				}
			}
			start, end, o := t.whole(at, end)
			return match{start: start, end: end, rule: r.known.rule}, o
		})
	}
	return p.sorted()
}
