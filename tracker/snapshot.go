package tracker

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"aesop/internal/document"
)

// snapshot is a backlog file at one moment: its bytes, its items, and where each stands in the bytes. It is never changed.
type snapshot struct {
	data  []byte
	items []Item
	spans []document.Span // of items[i]
	list  document.Span   // of the array of items
	index map[string]int  // by id
}

// parseBacklog reads a whole backlog. Its errors are *FileError.
func parseBacklog(file string, data []byte) (*snapshot, error) {
	doc, err := document.Parse(file, data)
	if err != nil {
		return nil, err
	}
	list, err := itemList(doc.Root())
	if err != nil {
		return nil, err
	}
	nodes, err := list.Array()
	if err != nil {
		return nil, err
	}
	s := &snapshot{data: data, list: list.Span(), index: make(map[string]int, len(nodes))}
	for i, n := range nodes {
		item, err := parseItem(n)
		if err != nil {
			return nil, err
		}
		s.items, s.spans, s.index[item.ID] = append(s.items, item), append(s.spans, n.Span()), i
	}
	if err := checkUnique(nodes, s.items); err != nil {
		return nil, err
	}
	if err := checkRepos(nodes, s.items); err != nil {
		return nil, err
	}
	return s, nil
}

// with is the snapshot after changes, by index of the item. Only the changed items are written and read again: one complete
// value in the place of another leaves the rest of the document what it was.
func (s *snapshot) with(changes map[int]Item) (*snapshot, error) {
	next := &snapshot{
		data: make([]byte, 0, len(s.data)+256*len(changes)), list: s.list, index: s.index,
		items: slices.Clone(s.items), spans: slices.Clone(s.spans),
	}
	copied, newline := 0, []byte("\n")
	for _, i := range slices.Sorted(maps.Keys(changes)) {
		old := s.text(i)
		text, err := rewrite(old, s.items[i], changes[i])
		if err == nil {
			err = checkEdit(old, text, changes[i])
		}
		if err != nil {
			return nil, fmt.Errorf("edit item %s: %w", s.items[i].ID, err)
		}
		next.data = append(next.data, s.data[copied:s.spans[i].Start]...)
		next.data = append(next.data, text...)
		copied = s.spans[i].End
		line := next.items[i].Line
		next.items[i] = changes[i]
		next.items[i].Line = line
		next.spans[i].End += len(text) - len(old)
		next.shift(i+1, len(text)-len(old), bytes.Count(text, newline)-bytes.Count(old, newline))
	}
	next.data = append(next.data, s.data[copied:]...)
	return next, nil
}

// shift moves the items from index i on by so many bytes and lines, and with them the end of the list.
func (s *snapshot) shift(i, offset, lines int) {
	s.list.End += offset
	for ; i < len(s.items); i++ {
		s.spans[i].Start += offset
		s.spans[i].End += offset
		s.items[i].Line += lines
	}
}

func (s *snapshot) text(i int) []byte { return s.data[s.spans[i].Start:s.spans[i].End] }

// checkEdit reads an edited item back: it must be what was intended, and no other member may have changed.
func checkEdit(old, edited []byte, want Item) error {
	doc, err := document.Parse("", edited)
	if err != nil {
		return err
	}
	if root := doc.Root().Span(); root.Start != 0 || root.End != len(edited) {
		return errors.New("the result is more than one value")
	}
	got, err := parseItem(doc.Root())
	if err != nil {
		return err
	}
	want.Line, got.Line = 0, 0
	if !reflect.DeepEqual(got, want) {
		return errors.New("the result reads differently")
	}
	before, err := otherMembers(old)
	if err != nil {
		return err
	}
	after, err := otherMembers(edited)
	if err != nil {
		return err
	}
	if !slices.Equal(before, after) {
		return errors.New("another member would change")
	}
	return nil
}

// otherMembers are the texts of the members that rewrite does not write, with their names.
func otherMembers(item []byte) ([]string, error) {
	members, _, err := objectParts(item)
	var others []string
	for _, m := range members {
		switch m.Name {
		case "status", "statusReason", "attempts", "epoch", "claim", "shipped":
		default:
			others = append(others, m.Name, string(item[m.Value.Span().Start:m.Value.Span().End]))
		}
	}
	return others, err
}
