package tracker

import (
	"fmt"
	"strings"
	"time"

	"aesop/internal/document"
)

// schemaVersion is the newest version of a backlog that is understood.
const schemaVersion = 1

// itemList is the root of a bare array, or the member items of an object.
func itemList(root document.Node) (document.Node, error) {
	if root.Kind() == "array" {
		return root, nil
	}
	if root.Kind() != "object" {
		return root, root.Errorf("shape", "must be an object with items, or an array")
	}
	members, err := root.Object()
	if err != nil {
		return root, err
	}
	var list *document.Node
	for _, m := range members {
		switch m.Name {
		case "items":
			list = &m.Value
		case "schemaVersion":
			if v, err := m.Value.Int(); err != nil {
				return root, err
			} else if v != schemaVersion {
				return root, m.Value.Errorf("schema_version", "is %d, this version reads %d", v, schemaVersion)
			}
		}
	}
	if list == nil {
		return root, root.Errorf("shape", "has no items")
	}
	return *list, nil
}

func checkUnique(nodes []document.Node, items []Item) error {
	ids, slugs := make(map[string]int, len(items)), make(map[string]int, len(items))
	for i, item := range items {
		if err := checkFirst(nodes[i], "id", item.ID, ids, i, items); err != nil {
			return err
		}
		if item.Slug == "" {
			continue // a defect of the item
		}
		if err := checkFirst(nodes[i], "slug", item.Slug, slugs, i, items); err != nil {
			return err
		}
	}
	return nil
}

func checkFirst(n document.Node, field, value string, seen map[string]int, i int, items []Item) error {
	key := fold(value)
	first, twice := seen[key]
	if !twice {
		seen[key] = i
		return nil
	}
	e := memberNode(n, field).Errorf("duplicate", "%q stands twice, first in the item on line %d", value, items[first].Line)
	e.Hint = "names that differ only by case are the same"
	return e
}

// memberNode is the value of the named member, or n where there is none.
func memberNode(n document.Node, name string) document.Node {
	members, _ := n.Object() // n was read before
	for _, m := range members {
		if m.Name == name {
			return m.Value
		}
	}
	return n
}

func checkRepos(nodes []document.Node, items []Item) error {
	with, without := 0, -1
	for i, item := range items {
		if item.Repo != "" {
			with++
		} else if without < 0 {
			without = i
		}
	}
	if with == 0 || without < 0 {
		return nil
	}
	e := nodes[without].Errorf("shape", "has no repo, but %d of %d items have one", with, len(items))
	e.Hint = "set repo on all items or on none"
	return e
}

// field reads one known member of an item.
type field func(item *Item, n document.Node) error

// itemFields are the known members. What is not named here is kept and means nothing.
func itemFields(name string) field {
	switch name {
	case "id":
		return textField(func(i *Item) *string { return &i.ID })
	case "slug":
		return textField(func(i *Item) *string { return &i.Slug })
	case "title":
		return textField(func(i *Item) *string { return &i.Title })
	case "status":
		return func(i *Item, n document.Node) error { s, err := n.Text(); i.Status = Status(s); return err }
	case "statusReason":
		return textField(func(i *Item) *string { return &i.StatusReason })
	case "priority":
		return readPriority
	case "createdAt":
		return func(i *Item, n document.Node) (err error) { i.CreatedAt, err = readTime(n); return err }
	case "ownsFiles":
		return readOwnsFiles
	case "prompt":
		return textField(func(i *Item) *string { return &i.Prompt })
	case "testCmd":
		return readCommand
	case "workDir":
		return readWorkDir
	case "repo":
		return textField(func(i *Item) *string { return &i.Repo })
	case "dependsOn":
		return textsField(func(i *Item) *[]string { return &i.DependsOn })
	case "acceptanceCriteria":
		return textsField(func(i *Item) *[]string { return &i.AcceptanceCriteria })
	case "model":
		return textField(func(i *Item) *string { return &i.Model })
	case "notes":
		return textField(func(i *Item) *string { return &i.Notes })
	case "attempts":
		return countField(func(i *Item) *int { return &i.Attempts })
	case "epoch":
		return countField(func(i *Item) *int { return &i.Epoch })
	case "claim":
		return readClaim
	case "shipped":
		return readShipped
	}
	return nil
}

// parseItem reads one element of the list. Wrong types are errors; all else that is wrong is for Item.Defect to find.
func parseItem(n document.Node) (Item, error) {
	item := Item{Line: n.Line(), Status: Todo, Priority: "P3"}
	members, err := n.Object()
	if err != nil {
		return item, err
	}
	var hasSlug bool
	for _, m := range members {
		hasSlug = hasSlug || m.Name == "slug" && !m.Value.Null()
		read := itemFields(m.Name)
		if read == nil || m.Value.Null() {
			continue
		}
		if err := read(&item, m.Value); err != nil {
			return item, err
		}
	}
	if item.ID == "" {
		return item, n.Errorf("shape", "has no id")
	}
	if !hasSlug {
		return item, n.Errorf("shape", "has no slug")
	}
	return item, nil
}

func textField(at func(*Item) *string) field {
	return func(i *Item, n document.Node) (err error) { *at(i), err = n.Text(); return err }
}

func textsField(at func(*Item) *[]string) field {
	return func(i *Item, n document.Node) (err error) { *at(i), err = n.Strings(); return err }
}

func countField(at func(*Item) *int) field {
	return func(i *Item, n document.Node) error {
		v, err := n.Int()
		if err == nil && (v < 0 || v > 1<<31-1) {
			err = n.Errorf("shape", "is %d, must be between 0 and %d", v, 1<<31-1)
		}
		*at(i) = int(v)
		return err
	}
}

func readPriority(i *Item, n document.Node) error {
	s, err := n.Text()
	if err != nil {
		return err
	}
	switch s {
	case "P0", "P1", "P2", "P3":
		i.Priority = s
		return nil
	}
	return n.Errorf("shape", "is %q, must be P0, P1, P2 or P3", s)
}

// readTime also takes a date alone, as people write it.
func readTime(n document.Node) (time.Time, error) {
	s, err := n.Text()
	if err != nil {
		return time.Time{}, err
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, n.Errorf("shape", "is %q, must be a time such as 2026-01-31T09:00:00Z", s)
}

// readWorkDir writes the root as the empty path.
func readWorkDir(i *Item, n document.Node) error {
	s, err := n.Text()
	i.WorkDir = cleanWorkDir(s)
	return err
}

func cleanWorkDir(dir string) string {
	if dir == "." {
		return ""
	}
	return strings.TrimPrefix(dir, "./")
}

// readOwnsFiles keeps an entry that is not a string as an empty one, which is the same defect.
func readOwnsFiles(i *Item, n document.Node) error {
	entries, err := n.Array()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		s, _ := entry.Text()
		i.OwnsFiles = append(i.OwnsFiles, s)
	}
	return nil
}

func readCommand(i *Item, n document.Node) (err error) {
	i.TestCmd.Shell, i.TestCmd.Argv, err = n.Command()
	return err
}

// readClaim insists on attempt and leaseUntil: without them nobody can tell whether the item is held.
func readClaim(i *Item, n document.Node) error {
	var claim ClaimState
	var hasLease bool
	members, err := n.Object()
	for _, m := range members {
		switch m.Name {
		case "wave":
			claim.Wave, err = m.Value.Text()
		case "owner":
			claim.Owner, err = m.Value.Text()
		case "attempt":
			claim.Attempt, err = m.Value.Text()
		case "leaseUntil":
			hasLease = true
			claim.LeaseUntil, err = readTime(m.Value)
		}
		if err != nil {
			return err
		}
	}
	if err == nil && (claim.Attempt == "" || !hasLease) {
		err = withHint(n.Errorf("shape", "must have attempt and leaseUntil"), "remove the claim if nobody works on the item")
	}
	i.Claim = &claim
	return err
}

func readShipped(i *Item, n document.Node) error {
	var shipped Shipped
	members, err := n.Object()
	for _, m := range members {
		switch m.Name {
		case "wave":
			shipped.Wave, err = m.Value.Text()
		case "branch":
			shipped.Branch, err = m.Value.Text()
		case "commit":
			shipped.Commit, err = m.Value.Text()
		}
		if err != nil {
			return err
		}
	}
	if err == nil && shipped.Commit == "" {
		err = withHint(n.Errorf("shape", "must have commit"), fmt.Sprintf("remove it if %s is not shipped", i.ID))
	}
	i.Shipped = &shipped
	return err
}

func withHint(e *FileError, hint string) error {
	e.Hint = hint
	return e
}
