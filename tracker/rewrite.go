package tracker

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// rewrite edits the text of one item so that it reads as to instead of from. Only what requests change is compared: status,
// statusReason, attempts, epoch, claim and shipped.
func rewrite(text []byte, from, to Item) ([]byte, error) {
	e := editor{text: text}
	if from.Status != to.Status {
		e.set("status", quote(string(to.Status)))
	}
	if from.StatusReason != to.StatusReason {
		e.setText("statusReason", to.StatusReason)
	}
	if from.Attempts != to.Attempts {
		e.set("attempts", strconv.Itoa(to.Attempts))
	}
	if from.Epoch != to.Epoch {
		e.set("epoch", strconv.Itoa(to.Epoch))
	}
	if to.Shipped != nil && (from.Shipped == nil || *from.Shipped != *to.Shipped) {
		s := to.Shipped
		e.setObject("shipped", []member{{"wave", s.Wave}, {"branch", s.Branch}, {"commit", s.Commit}})
	}
	switch {
	case to.Claim == nil && from.Claim != nil:
		e.remove("claim")
	case to.Claim != nil && (from.Claim == nil || *from.Claim != *to.Claim):
		c := to.Claim
		e.setObject("claim", []member{
			{"wave", c.Wave}, {"owner", c.Owner}, {"attempt", c.Attempt}, {"leaseUntil", formatTime(c.LeaseUntil)},
		})
	}
	return e.text, e.err
}

// member is a member whose value is a string.
type member struct{ name, value string }

// editor carries edits of one item's text until the first error.
type editor struct {
	text []byte
	err  error
}

func (e *editor) set(name, value string) {
	if e.err == nil {
		e.text, e.err = setMember(e.text, name, value)
	}
}

func (e *editor) remove(name string) {
	if e.err == nil {
		e.text, e.err = removeMember(e.text, name)
	}
}

func (e *editor) setText(name, value string) {
	if value == "" {
		e.remove(name)
		return
	}
	e.set(name, quote(value))
}

// setObject gives the members to the object of that name. One that is there is edited, not replaced: people may have put
// comments and fields of their own into it.
func (e *editor) setObject(name string, members []member) {
	if e.err != nil {
		return
	}
	old, err := memberText(e.text, name)
	if err != nil {
		e.err = err
		return
	}
	if old == nil {
		e.set(name, objectText(members, compact(e.text)))
		return
	}
	inner := editor{text: old}
	for _, m := range members {
		inner.set(m.name, quote(m.value))
	}
	if e.err = inner.err; e.err == nil {
		e.set(name, string(inner.text))
	}
}

// memberText is the text of a member that is a filled object, or nil.
func memberText(text []byte, name string) ([]byte, error) {
	members, _, err := objectParts(text)
	for _, m := range members {
		if m.Name == name && m.Value.Kind() == "object" {
			if inner, err := m.Value.Object(); err != nil || len(inner) > 0 {
				return text[m.Value.Span().Start:m.Value.Span().End], err
			}
		}
	}
	return nil, err
}

// compact says whether an object is written without any white space after its colons.
func compact(object []byte) bool {
	members, _, _ := objectParts(object)
	return len(members) > 0 && members[0].Value.Span().Start == members[0].NameSpan.End+1
}

func objectText(members []member, compact bool) string {
	comma, colon := ", ", ": "
	if compact {
		comma, colon = ",", ":"
	}
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = quote(m.name) + colon + quote(m.value)
	}
	return "{" + strings.Join(parts, comma) + "}"
}

// quote is the JSON string of a text, with <, > and & as they are.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string in memory: cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ceilSecond rounds a lease up to what the file holds of it, so that it is never shorter than was asked.
func ceilSecond(t time.Time) time.Time {
	return t.Add(time.Second - time.Nanosecond).Truncate(time.Second).UTC()
}

// layout is how a new item is laid out in a list.
type layout struct {
	newline string // "" writes everything on one line
	indent  string // of the item's braces
	step    string // further indentation of its members
}

// layoutOf takes the layout of the last item, or of the file where there is none.
func layoutOf(s *snapshot) layout {
	l := layout{newline: "\n", step: "  "}
	if bytes.Contains(s.data, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(s.spans) == 0 {
		l.indent = indentOf(s.data, s.list.Start) + l.step
		return l
	}
	at := s.spans[len(s.spans)-1]
	l.indent = indentOf(s.data, at.Start)
	text := s.data[at.Start:at.End]
	if !bytes.Contains(text, []byte("\n")) {
		l.newline = ""
	} else if members, _, err := objectParts(text); err == nil && len(members) > 0 {
		l.step = strings.TrimPrefix(indentOf(text, members[len(members)-1].NameSpan.Start), l.indent)
	}
	return l
}

// indentOf is the white space at the beginning of the line of the given offset.
func indentOf(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// itemText writes a new item with the fields that are set.
func itemText(item Item, l layout) string {
	parts := make([]string, 0, 12)
	add := func(name, value string) { parts = append(parts, quote(name)+": "+value) }
	addText := func(name, value string) {
		if value != "" {
			add(name, quote(value))
		}
	}
	addTexts := func(name string, values []string) {
		if len(values) > 0 {
			add(name, listText(values))
		}
	}
	add("id", quote(item.ID))
	add("slug", quote(item.Slug))
	addText("title", item.Title)
	add("status", quote(string(item.Status)))
	addText("statusReason", item.StatusReason)
	addText("priority", item.Priority)
	if !item.CreatedAt.IsZero() {
		add("createdAt", quote(formatTime(item.CreatedAt)))
	}
	addTexts("ownsFiles", item.OwnsFiles)
	addText("prompt", item.Prompt)
	addText("testCmd", item.TestCmd.Shell)
	addTexts("testCmd", item.TestCmd.Argv)
	addText("workDir", item.WorkDir)
	addText("repo", item.Repo)
	addTexts("dependsOn", item.DependsOn)
	addTexts("acceptanceCriteria", item.AcceptanceCriteria)
	addText("model", item.Model)
	addText("notes", item.Notes)
	if l.newline == "" {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	inner := l.newline + l.indent + l.step
	return "{" + inner + strings.Join(parts, ","+inner) + l.newline + l.indent + "}"
}

func listText(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
