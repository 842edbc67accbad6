package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aesop/internal/document"
	"aesop/tracker"
)

// Defect is one thing that is wrong with a template.
type Defect struct {
	// Code is a stable word: unknown_placeholder, leftover_placeholder, no_items, not_fresh, overlaps_selected; or that of the
	// tracker for a damaged file (such as syntax, shape, duplicate) or for an item that no wave could take.
	Code    string `json:"code"`
	Item    string `json:"item"`  // id, or "" where it is not about one item
	Field   string `json:"field"` // path in the document, such as items[2].testCmd
	Line    int    `json:"line"`  // 1-based; 0: none
	Message string `json:"message"`
}

// sample are values with which a template is tried out; like every value they mean only themselves.
func sample() Values { return Values{ProjectName: "sample-project", BaseDir: "sample/base"} }

// Validate finds all that is wrong with a template; nothing is wrong with one whose backlogs a wave can work on from the first item
// to the last. What makes an item good is decided by the tracker.
func (t Template) Validate() []Defect {
	before, err := placeholders(t.Name, t.Text)
	if err != nil {
		return []Defect{damage(err)}
	}
	var defects []Defect
	unknown := map[string]bool{}
	for _, p := range before {
		if !p.known() {
			unknown[p.Name] = true
			defects = append(defects, placeholderDefect("unknown_placeholder", p))
		}
	}
	text := sample().fill(t.Text)
	after, err := placeholders(t.Name, text)
	if err != nil {
		return append(defects, damage(err))
	}
	for _, p := range after {
		if !unknown[p.Name] {
			defects = append(defects, placeholderDefect("leftover_placeholder", p))
		}
	}
	backlog, err := tracker.Parse(t.Name, text)
	if err != nil {
		return append(defects, damage(err))
	}
	return append(defects, itemDefects(backlog.Items, listField(t.Name, text))...)
}

func placeholderDefect(code string, p Placeholder) Defect {
	message := (&PlaceholderError{p}).Error()
	return Defect{Code: code, Field: p.Field, Line: p.Line, Message: strings.TrimPrefix(message, p.Field+": ")}
}

// damage is what keeps a file from being read as a backlog.
func damage(err error) Defect {
	file, ok := errors.AsType[*tracker.FileError](err)
	if !ok {
		return Defect{Code: "unreadable", Message: err.Error()}
	}
	message := file.Message
	if file.Hint != "" {
		message += " (" + file.Hint + ")"
	}
	return Defect{Code: file.Code, Field: file.Field, Line: file.Line, Message: message}
}

// listField is the path of the list of items: the document may be the list itself.
func listField(file string, text []byte) string {
	if doc, err := document.Parse(file, text); err == nil && doc.Root().Kind() == "array" {
		return ""
	}
	return "items"
}

// itemDefects asks the tracker about each item as if all others were done, so that only what is wrong with the template is in the way.
func itemDefects(items []tracker.Item, list string) []Defect {
	if len(items) == 0 {
		return []Defect{{Code: "no_items", Field: list, Line: 1, Message: "has no items"}}
	}
	var defects []Defect
	for n, item := range items {
		add := func(code, field, message string) {
			defects = append(defects, Defect{Code: code, Item: item.ID, Field: fmt.Sprintf("%s[%d].%s", list, n, field), Line: item.Line, Message: message})
		}
		if item.Status != tracker.Todo && item.Status != "" {
			if _, err := tracker.ParseStatus(string(item.Status)); err == nil {
				add("not_fresh", "status", fmt.Sprintf("is %s, must be todo", item.Status))
			}
		}
		if item.Claim != nil || item.Shipped != nil || item.Attempts > 0 || item.Epoch > 0 {
			add("not_fresh", "claim", "claim, shipped, attempts and epoch are for the engine to write")
			item.Claim, item.Shipped, item.Attempts, item.Epoch = nil, nil, 0, 0
		}
		owned := item
		for skip := obstacle(items, n, item); skip != nil; skip = obstacle(items, n, item) {
			field := mend(&item, *skip)
			add(string(skip.Reason), field, strings.TrimPrefix(skip.Detail, field+": "))
			if field == "" {
				break
			}
		}
		for _, other := range items[:n] {
			if pair, yes := overlap(owned, other); yes {
				add(string(tracker.OverlapsSelected), "ownsFiles", fmt.Sprintf("overlaps %s: %s", other.ID, pair))
			}
		}
	}
	return defects
}

// obstacle is why a wave could not take an item although all others are done.
func obstacle(items []tracker.Item, n int, item tracker.Item) *tracker.Skip {
	backlog := tracker.Backlog{Items: slices.Clone(items)}
	for i := range backlog.Items {
		backlog.Items[i].Status, backlog.Items[i].Claim, backlog.Items[i].Shipped = tracker.Done, nil, nil
	}
	if item.Status == tracker.Done || item.Status == tracker.Failed || item.Status == tracker.Blocked || item.Status == tracker.InProgress {
		item.Status = tracker.Todo // said already
	}
	backlog.Items[n] = item
	if skipped := tracker.Intake(backlog, tracker.IntakeOptions{}).Skipped; len(skipped) > 0 {
		return &skipped[0]
	}
	return nil
}

// mend takes away what a skip is about, so that the next defect shows, and names the field; "" where it is not known.
func mend(item *tracker.Item, skip tracker.Skip) string {
	switch skip.Reason {
	case tracker.UnknownStatus:
		item.Status = tracker.Todo
		return "status"
	case tracker.MissingSlug:
		item.Slug = item.ID
		return "slug"
	case tracker.MissingPrompt:
		item.Prompt = "mended"
		return "prompt"
	case tracker.MissingTestCmd:
		item.TestCmd = tracker.Command{Shell: "true"}
		return "testCmd"
	case tracker.BlockedBy:
		item.DependsOn = nil
		return "dependsOn"
	}
	for _, place := range []struct {
		field string
		mend  func()
	}{{"ownsFiles", func() { item.OwnsFiles = []string{"mended"} }}, {"workDir", func() { item.WorkDir = "" }}, {"repo", func() { item.Repo = "" }}} {
		if strings.HasPrefix(skip.Detail, place.field) {
			place.mend()
			return place.field
		}
	}
	return ""
}

// overlap says whether two items could own one path; what is no ownership was a defect already.
func overlap(a, b tracker.Item) (string, bool) {
	own, err := tracker.ParseOwnership(a.OwnsFiles)
	if err != nil {
		return "", false
	}
	other, err := tracker.ParseOwnership(b.OwnsFiles)
	if err != nil {
		return "", false
	}
	return own.Overlaps(other)
}
