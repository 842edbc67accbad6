package tracker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Add appends an item to the backlog, in the layout of the last one. An id or slug that is there already, also in other case,
// is a *ConflictError; an item that no wave could take is a *Skip. One that brings a claim, a shipment, attempts or an epoch of
// its own is an error too.
func (f *File) Add(ctx context.Context, item Item) error {
	if item.Claim != nil || item.Shipped != nil || item.Attempts != 0 || item.Epoch != 0 {
		return fmt.Errorf("add %s: claim, shipped, attempts and epoch are not an item's own to bring", item.ID)
	}
	item = item.asRead()
	if defect := item.Defect(); defect != nil {
		return fmt.Errorf("add %s: %w", item.ID, defect)
	}
	return f.update(ctx, func(s *snapshot) (*snapshot, error) {
		for _, other := range s.items {
			if fold(other.ID) == fold(item.ID) || fold(other.Slug) == fold(item.Slug) {
				return nil, &ConflictError{Conflicts: []Conflict{{ID: item.ID, Reason: ConflictExists}}}
			}
		}
		next, err := s.plus(f.name, item)
		if err != nil {
			return nil, fmt.Errorf("add %s: %w", item.ID, err)
		}
		return next, nil
	})
}

// asRead is the item as it is read back once written.
func (i Item) asRead() Item {
	i = i.clone()
	i.Status, i.Priority = cmp.Or(i.Status, Todo), cmp.Or(i.Priority, "P3")
	if !i.CreatedAt.IsZero() {
		i.CreatedAt = i.CreatedAt.UTC().Truncate(time.Second)
	}
	i.WorkDir = cleanWorkDir(i.WorkDir)
	for _, list := range []*[]string{&i.OwnsFiles, &i.TestCmd.Argv, &i.DependsOn, &i.AcceptanceCriteria} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return i
}

// plus is the snapshot with one more item. The result is read back whole.
func (s *snapshot) plus(file string, item Item) (*snapshot, error) {
	l := layoutOf(s)
	next, err := parseBacklog(file, appendElement(s.data, s.list, s.spans, itemText(item, l), l))
	if err != nil {
		return nil, err
	}
	if len(next.items) != len(s.items)+1 {
		return nil, errors.New("the result has another number of items")
	}
	for i := range s.items {
		if string(next.text(i)) != string(s.text(i)) {
			return nil, errors.New("another item would change")
		}
	}
	added := next.items[len(s.items)]
	added.Line = item.Line
	if !reflect.DeepEqual(added, item) {
		return nil, errors.New("the result reads differently")
	}
	return next, nil
}
