package tracker

import (
	"fmt"

	"aesop/internal/document"
)

// NotFoundError says that no item has a name.
type NotFoundError struct {
	Name string
	Near string // the id or slug that was probably meant, or ""
}

func (e *NotFoundError) Error() string {
	if e.Near == "" {
		return fmt.Sprintf("there is no item %q", e.Name)
	}
	return fmt.Sprintf("there is no item %q; did you mean %q?", e.Name, e.Near)
}

// Find is the item with an id, or else with a slug, as people name it. Its error is a *NotFoundError.
func (b Backlog) Find(name string) (Item, error) {
	names := make([]string, 0, 2*len(b.Items))
	for _, item := range b.Items {
		if item.ID == name {
			return item, nil
		}
		names = append(names, item.ID)
	}
	for _, item := range b.Items {
		if item.Slug == name {
			return item, nil
		}
		names = append(names, item.Slug)
	}
	return Item{}, &NotFoundError{Name: name, Near: document.Nearest(name, names)}
}
