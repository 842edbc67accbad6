package stateapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"aesop/statestore"
)

// Bounds of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
	// MaxLooked is how many entries one call looks at that a filter leaves out. With a rare kind of entry a page may be
	// short of its limit, or empty, and go on all the same.
	MaxLooked = 1000
)

// Page asks for a part of a list.
type Page struct {
	Cursor string // Next of the page before; "": from the beginning
	Limit  int    // 1 to MaxLimit; 0: DefaultLimit
}

// Of is a part of a list.
type Of[T any] struct {
	Entries []T       `json:"entries"`
	Next    string    `json:"next,omitempty"` // cursor of the next part, also of one that is short; "": the list ended here
	At      time.Time `json:"at"`             // by the store's clock
}

// page is a part of a list that is being read.
type page[T any] struct {
	limit   int
	entries []T
	looked  int
	last    string // where the next one begins after
	more    bool
}

// add takes an entry, nil for one that a filter leaves out, that is in the list under a name. It says whether the page
// takes more; where it does not, the one that it was given is for the next page.
func (p *page[T]) add(name string, entry *T) bool {
	if p.full() {
		p.more = true
		return false
	}
	p.looked, p.last = p.looked+1, name
	if entry != nil {
		p.entries = append(p.entries, *entry)
	}
	return true
}

// full says that the page takes no more.
func (p *page[T]) full() bool {
	return len(p.entries) == p.limit || p.looked-len(p.entries) == MaxLooked
}

// pageOf reads a part of a list in one view of the store. The filter is what else the list is of: a cursor belongs to a
// list and a filter.
func pageOf[T any](ctx context.Context, a *ReadAPI, list, filter string, asked Page, read func(r statestore.Reader, after string, p *page[T]) error) (Of[T], error) {
	p := page[T]{limit: asked.Limit, entries: []T{}}
	if p.limit == 0 {
		p.limit = DefaultLimit
	}
	if p.limit < 0 || p.limit > MaxLimit {
		return Of[T]{}, fmt.Errorf("%s: limit %d: %w: must be 1 to %d", list, p.limit, ErrBadPage, MaxLimit)
	}
	after, err := cursorAfter(list, filter, asked.Cursor)
	if err != nil {
		return Of[T]{}, err
	}
	var at time.Time
	err = a.view(ctx, list, func(r statestore.Reader) error {
		at = r.Now()
		return read(r, after, &p)
	})
	if err != nil {
		return Of[T]{}, err
	}
	of := Of[T]{Entries: p.entries, At: at}
	if p.more {
		of.Next = cursor(list, filter, p.last)
	}
	return of, nil
}

// cursor says where a list goes on.
func cursor(list, filter, after string) string {
	data, _ := json.Marshal([3]string{list, filter, after}) // strings marshal without fail
	return base64.RawURLEncoding.EncodeToString(data)
}

func cursorAfter(list, filter, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	var parts []string
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, &parts)
	}
	if err != nil || len(parts) != 3 || parts[0] != list || parts[1] != filter {
		return "", fmt.Errorf("%s: cursor %.80q: %w: it is not one of this list", list, cursor, ErrBadPage)
	}
	return parts[2], nil
}

// filterOf is the form of a filter that cursors have.
func filterOf(filter any) string {
	data, _ := json.Marshal(filter) // filters are of strings and numbers
	return string(data)
}
