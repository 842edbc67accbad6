package template

import (
	"fmt"
	"regexp"
	"slices"

	"aesop/internal/document"
)

// The placeholders.
const (
	projectName = "project_name"
	baseDir     = "base_dir"
)

// Placeholders are the names that may stand between braces in a template.
func Placeholders() []string { return []string{projectName, baseDir} }

// Placeholder is a name between braces in a text of a template.
type Placeholder struct {
	Name  string // between the braces, as it stands there
	Line  int    // of the file, 1-based
	Field string // such as items[2].testCmd
}

func (p Placeholder) known() bool { return slices.Contains(Placeholders(), p.Name) }

// PlaceholderError is a placeholder that instantiating leaves, because no value has its name or because it is written in a way
// that is not seen, such as after a dollar sign, where it would be a variable of the shell.
type PlaceholderError struct{ Placeholder }

func (e *PlaceholderError) Error() string {
	if near := e.near(); near != "" {
		return fmt.Sprintf("%s: {%s} stands for nothing; did you mean {%s}?", e.Field, e.Name, near)
	}
	return fmt.Sprintf("%s: {%s} stands for nothing", e.Field, e.Name)
}

func (e *PlaceholderError) near() string {
	if e.known() {
		return ""
	}
	return document.Nearest(e.Name, Placeholders())
}

// placeholders finds what looks like a placeholder in the strings and keys of a document: a word between braces. ${word} is the
// shell's, unless the word is one of ours.
func placeholders(file string, text []byte) ([]Placeholder, error) {
	doc, err := document.Parse(file, text)
	if err != nil {
		return nil, err
	}
	var found []Placeholder
	word := regexp.MustCompile(`(\$?)\{\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}`)
	look := func(n document.Node, text string) {
		for _, match := range word.FindAllStringSubmatch(text, -1) {
			p := Placeholder{Name: match[2], Line: n.Line(), Field: n.Field()}
			if match[1] == "" || p.known() {
				found = append(found, p)
			}
		}
	}
	return found, walk(doc.Root(), look)
}

// walk calls look for every string and key.
func walk(n document.Node, look func(n document.Node, text string)) error {
	switch n.Kind() {
	case "string":
		text, err := n.Text()
		look(n, text)
		return err
	case "array":
		elements, err := n.Array()
		for _, e := range elements {
			if err := walk(e, look); err != nil {
				return err
			}
		}
		return err
	case "object":
		members, err := n.Object()
		for _, m := range members {
			look(m.Value, m.Name)
			if err := walk(m.Value, look); err != nil {
				return err
			}
		}
		return err
	}
	return nil
}
