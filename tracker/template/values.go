package template

import (
	"fmt"
	"regexp"

	"aesop/tracker"
)

// Values are what the placeholders stand for.
type Values struct {
	ProjectName string // {project_name}: letters, digits, dots, dashes and underscores, beginning with a letter or digit
	BaseDir     string // {base_dir}: folders of such names, separated by slashes, relative to the repository; "." is its root
}

// ValueError is a value that a template cannot take.
type ValueError struct {
	Placeholder string // project_name or base_dir
	Value       string
	Detail      string // in words, with what is allowed
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s %q %s", e.Placeholder, e.Value, e.Detail) }

// maxValue bounds a value in bytes: names of items and files are made from it.
const maxValue = 64

func (v Values) check() error {
	name := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	switch {
	case len(v.ProjectName) > maxValue:
		return &ValueError{projectName, v.ProjectName, fmt.Sprintf("has %d bytes, more than %d", len(v.ProjectName), maxValue)}
	case !name.MatchString(v.ProjectName):
		return &ValueError{projectName, v.ProjectName, "must be letters, digits, dots, dashes and underscores, beginning with a letter or digit"}
	}
	if err := tracker.CheckPath(v.ProjectName); err != nil { // it may be the name of a file
		return &ValueError{projectName, v.ProjectName, err.Error()}
	}
	if v.BaseDir == root {
		return nil
	}
	// A segment begins like no option of a program; a dot is for folders such as .config.
	if !regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._-]*(/[A-Za-z0-9._][A-Za-z0-9._-]*)*$`).MatchString(v.BaseDir) {
		return &ValueError{baseDir, v.BaseDir, `must be "." or folders separated by slashes, of letters, digits, dots, dashes and underscores`}
	}
	if err := tracker.CheckPath(v.BaseDir); err != nil {
		return &ValueError{baseDir, v.BaseDir, err.Error()}
	}
	return nil
}

// root is the base directory that stands for the repository itself.
const root = "."

// fill puts the values in the place of the placeholders. What the shell would take for a variable of its own is left alone.
func (v Values) fill(text []byte) []byte {
	values := map[string]string{"{" + projectName + "}": v.ProjectName, "{" + baseDir + "}": v.BaseDir, "{" + baseDir + "}/": v.BaseDir + "/"}
	if v.BaseDir == root {
		values["{"+baseDir+"}/"] = "" // paths do not begin with "./"
	}
	known := regexp.MustCompile(`\$?\{(` + projectName + `\}|` + baseDir + `\}/?)`)
	return known.ReplaceAllFunc(text, func(found []byte) []byte {
		if value, ok := values[string(found)]; ok {
			return []byte(value)
		}
		return found
	})
}
