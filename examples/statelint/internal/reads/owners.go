package reads

import (
	"path"
	"reflect"
	"slices"
	"strings"
)

// File is a file, or a folder, that some packages own: others ask those packages.
type File struct {
	Name    string   // last element of its path; that of a folder ends with a slash and stands for all in it
	Beside  []string // what may follow the name: other files that belong to it
	Owners  []string // import paths of the packages that may open it, and that may be handed its path
	Sealed  bool     // being handed the path is for the owners alone: how they open it matters to what others find there
	Instead string   // what everybody else calls
}

// module is the path of the module whose packages own the files, whatever a copy of it is called: this package lies there. In Files owners
// are named from it.
func module() string {
	return strings.TrimSuffix(reflect.TypeFor[File]().PkgPath(), "/examples/statelint/internal/reads")
}

// Files are all that are watched. This table is the only place that says who may touch what.
func Files() []File {
	files := []File{
		{Name: "HALT", Owners: []string{"wave"},
			Instead: "aesop.Place.Halt or wave.Halt, which tells what cannot be read from what is not there"},
		{Name: "aesop-scan.json", Owners: []string{"redact/scan"}, Instead: "redact/scan, which takes it from the protected branch"},
		{Name: "aesop.json", Owners: []string{""}, Instead: "aesop.LoadSettings, which knows flags, environment and defaults too"},
		{Name: "alerts.jsonl", Owners: []string{"cost"}, Instead: "cost.AlertFile"},
		{Name: "locks/", Owners: []string{"internal/filelock", "wave"}, Instead: "wave.Alive, or the package that locks"},
		{Name: "manifest.json", Owners: []string{"statestore/job/manifest"}, Instead: "manifest.Read, which hashes the report again"},
		{Name: "publish.json", Owners: []string{"statestore/job/drop"}, Instead: "drop.Read, which expects anything of an agent's file"},
		{Name: "report.json", Owners: []string{"wave"}, Instead: "wave.NewReport of journal.Fold, which the file is a copy of"},
		{Name: "scan-approvals.json", Owners: []string{"redact/scan"}, Instead: "redact/scan"},
		{Name: "security-audit.log", Owners: []string{"redact/hook"}, Instead: "hook.OpenLog, which checks the chain of its lines"},
		{Name: "state.db", Beside: []string{"-wal", "-shm", "-journal"}, Sealed: true,
			Owners:  []string{"", "statestore/sqlite"},
			Instead: "aesop.Place.OpenStore or ReadStore, which name the state before its database is made"},
		{Name: "status.json", Owners: []string{"statestore/outbox/sink"}, Instead: "the job's record in the store, which the file mirrors"},
		{Name: "tracker.json", Owners: []string{"tracker"}, Instead: "aesop.Place.OpenBacklog or tracker.OpenFile"},
	}
	for _, f := range files {
		for i, owner := range f.Owners {
			f.Owners[i] = path.Join(module(), owner)
		}
	}
	return files
}

// Lookup is the file of a name, as Files has it.
func Lookup(name string) (File, bool) {
	for _, f := range Files() {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// table is Files, made once for a package.
type table []File

// owned are the names of what a package owns.
func (t table) owned(pkg string) []string {
	var own []string
	for _, f := range t {
		if slices.Contains(f.Owners, pkg) {
			own = append(own, f.Name)
		}
	}
	return own
}

// handed are the names of what anybody may hand a package the path of.
func (t table) handed(pkg string) []string {
	var names []string
	for _, f := range t {
		if slices.Contains(f.Owners, pkg) && !f.Sealed {
			names = append(names, f.Name)
		}
	}
	return names
}

// named are the files that a piece of a path names: with its last element, or, where it is a folder's, with any. It may be the name of
// a data source, or a format.
func (t table) named(piece string) []string {
	piece, _, _ = strings.Cut(strings.TrimPrefix(piece, "file:"), "?")
	piece = strings.TrimRight(strings.ReplaceAll(piece, `\`, "/"), "/")
	last := path.Base(piece)
	elements := strings.Split(piece, "/")
	var names []string
	for _, f := range t {
		if folder, ok := strings.CutSuffix(f.Name, "/"); ok {
			if slices.Contains(elements, folder) {
				names = append(names, f.Name)
			}
			continue
		}
		beside, ok := strings.CutPrefix(last, f.Name)
		if ok && (beside == "" || slices.Contains(f.Beside, beside)) {
			names = append(names, f.Name)
		}
	}
	return names
}
