package aesop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aesop/internal/document"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/policy"
)

// Settings are the keys of aesop.json. A zero value means the default.
type Settings struct {
	Tracker           string // backlog file; "": tracker.json in the repository
	State             string // state directory; "": by repository below the user's state folder
	Store             string
	Remote            string
	Base              string
	Ship              string // push: to the remote, the default; local: to a branch of the repository itself
	Driver            string // name of a built-in driver
	Model             string
	AgentCmd          string
	Verify            tracker.Command
	Prepare           []string // lines for sh -c that make a fresh tree ready
	Carry             []string // paths of the user's work tree that are copied into each fresh tree
	PassEnv           []string
	MaxItems          int
	Parallel          int
	AgentTimeout      time.Duration
	IdleTimeout       time.Duration
	TestTimeout       time.Duration
	Lease             time.Duration
	MaxAttempts       int
	AllowRedBase      bool
	ProtectedBranches []string
	Supervise         bool
	Limits            Limits
	Policy            policy.Override
	Notify            []Notify // who is told what happens
}

// Setting is one key with its value and where that came from, as wave config explains it.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`  // null where nothing set it and there is no fixed default
	Source string `json:"source"` // flag, environment, file or default
}

// Sources are the places that settings come from, in the order of their weight.
type Sources struct {
	Flags  map[string]string                 // by key, as given on a command line
	Lookup func(string) (string, bool)       // environment; nil: none
	File   string                            // "": none
	Read   func(name string) ([]byte, error) // how File is read, such as from an embedded file system; nil: os.ReadFile
	Need   bool                              // File was named by the user, so it must exist
}

// EnvironmentName is the variable that sets a key: AESOP_ and the key in upper snake case.
func EnvironmentName(key string) string {
	var b strings.Builder
	b.WriteString("AESOP_")
	for _, r := range key {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToUpper(string(r)))
	}
	return b.String()
}

// LoadSettings reads the sources: a flag outweighs the environment, that the file, that the default. A key that no setting has is
// an error that names the nearest.
func LoadSettings(from Sources) (Settings, []Setting, error) {
	var s Settings
	source := map[string]string{}
	if err := s.readFile(from, source); err != nil {
		return s, nil, err
	}
	for _, f := range fields() {
		if from.Lookup != nil {
			if text, ok := from.Lookup(EnvironmentName(f.name)); ok && text != "" {
				if err := f.fromText(&s, text); err != nil {
					return s, nil, &document.Error{Code: "shape", File: "environment", Field: EnvironmentName(f.name), Message: err.Error()}
				}
				source[f.name] = "environment"
			}
		}
		if text, ok := from.Flags[f.name]; ok {
			if err := f.fromText(&s, text); err != nil {
				return s, nil, &document.Error{Code: "usage", File: "command line", Field: f.name, Message: err.Error()}
			}
			source[f.name] = "flag"
		}
	}
	var rows []Setting
	for _, f := range fields() {
		row := Setting{Key: f.name, Value: f.show(s), Source: source[f.name]}
		if row.Source == "" {
			row.Source = "default"
		}
		rows = append(rows, row)
	}
	return s, rows, nil
}

func (s *Settings) readFile(from Sources, source map[string]string) error {
	if from.File == "" {
		return nil
	}
	read := from.Read
	if read == nil {
		read = os.ReadFile
	}
	data, err := read(from.File)
	if errors.Is(err, fs.ErrNotExist) && !from.Need {
		return nil
	}
	if err != nil {
		return &document.Error{Code: "missing", File: from.File, Message: "the configuration cannot be read", Hint: "create it, or name another file", Err: err}
	}
	doc, err := document.Parse(from.File, data)
	if err != nil {
		return err
	}
	members, err := doc.Root().Object()
	if err != nil {
		return err
	}
	known := map[string]field{}
	names := []string{"schemaVersion"}
	for _, f := range fields() {
		known[f.name] = f
		names = append(names, f.name)
	}
	for _, m := range members {
		if m.Name == "schemaVersion" {
			if err := checkVersion(m.Value); err != nil {
				return err
			}
			continue
		}
		f, ok := known[m.Name]
		if !ok {
			return m.Unknown(names)
		}
		if err := f.fromNode(s, m.Value); err != nil {
			return err
		}
		source[m.Name] = "file"
	}
	return s.resolve(from.File, source)
}

func checkVersion(n document.Node) error {
	version, err := n.Int()
	if err != nil {
		return err
	}
	if version != wave.SchemaVersion {
		return n.Errorf("schema_version", "is %d, this version reads %d", version, wave.SchemaVersion)
	}
	return nil
}

// resolve makes paths of the file relative to its folder.
func (s *Settings) resolve(file string, source map[string]string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	for name, path := range map[string]*string{"tracker": &s.Tracker, "state": &s.State} {
		if source[name] == "file" && *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(file), *path)
		}
	}
	if source["notify"] == "file" {
		notifyPaths(s.Notify, filepath.Dir(file))
	}
	if prices := &s.Limits.Prices; source["limits"] == "file" && *prices != "" && !filepath.IsAbs(*prices) {
		*prices = filepath.Join(filepath.Dir(file), *prices)
	}
	if seat := s.Policy.Reviewer; source["policy"] == "file" && seat != nil && seat.Script != "" && !filepath.IsAbs(seat.Script) {
		seat.Script = filepath.Join(filepath.Dir(file), seat.Script)
	}
	return nil
}

// supported refuses keys whose part is not in this version: a limit that is not kept is worse than none.
func (s Settings) supported() error {
	for _, k := range []struct {
		set  bool
		name string
	}{
		{s.Store != "", "store"},
	} {
		if k.set {
			return &wave.SetupError{Code: "unsupported_setting", Message: fmt.Sprintf("%s is set, and this version has no such thing yet", k.name),
				Hint: "remove the key; nothing is run without what was asked for"}
		}
	}
	return nil
}
