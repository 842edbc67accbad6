// Package template makes a first backlog: a template is a backlog in which {project_name} and {base_dir} stand for what only the
// user knows. A few are built in:
//
//	preset, err := template.Find("service")
//	backlog, err := preset.Instantiate(template.Values{ProjectName: "shop", BaseDir: "services/shop"})
//
// Placeholders may stand anywhere, also in test commands. Values are therefore such that they mean only themselves in JSON, in a
// path and to a shell; everything else is refused, not escaped. It reads and writes no files.
package template

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"aesop/internal/document"
	"aesop/tracker"
)

//go:embed presets/*.json
var presets embed.FS

// Template is a backlog with placeholders.
type Template struct {
	Name string // of a preset, or of the file
	Text []byte // by the rules of backlogs, comments included
}

// Names are the names of the presets, sorted.
func Names() []string {
	entries, _ := presets.ReadDir("presets") // embedded, so always there
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Find is the preset of a name; *UnknownError where there is none.
func Find(name string) (Template, error) {
	if !slices.Contains(Names(), name) {
		return Template{}, &UnknownError{Name: name, Near: document.Nearest(name, Names())}
	}
	text, err := presets.ReadFile("presets/" + name + ".json")
	return Template{Name: name, Text: text}, err
}

// UnknownError says that no preset has the name.
type UnknownError struct {
	Name string
	Near string // the one that was probably meant, or ""
}

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no template %q", e.Name) }

// Instantiate is the template as a backlog for a project. It fails with *ValueError for a value that could mean more than itself,
// with *PlaceholderError where a placeholder is left, and with the tracker's *FileError where the result is no backlog.
func (t Template) Instantiate(v Values) ([]byte, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	text := v.fill(t.Text)
	left, err := placeholders(t.Name, text)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, &PlaceholderError{left[0]}
	}
	_, err = tracker.Parse(t.Name, text)
	return text, err
}
