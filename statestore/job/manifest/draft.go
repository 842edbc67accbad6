package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Draft is what an agent declares.
type Draft struct {
	Dir string // folder of the attempt; not one that has the manifest of another job, or another file of its name
	// Staged is the finished report: a regular file in Dir or below, by an absolute path or one that counts from Dir. It is moved, so it
	// has to be in Dir's file system. The promoted report itself may be given, to finalise what was edited in place or what a cut-off
	// call left.
	Staged      string
	Job         string
	Attempt     string
	Session     string           // "": none
	SideEffects []SideEffect     // at most MaxSideEffects
	Kinds       []string         // that side effects may have; nil: those of this package
	Now         func() time.Time // nil: time.Now
}

// DraftError is a draft that was refused before anything was touched.
type DraftError struct {
	Field   string // of the Draft, such as sideEffects[0].ref
	Message string
}

func (e *DraftError) Error() string { return "finalise: " + e.Field + ": " + e.Message }

// check refuses what needs no look at the disk.
func (d Draft) check() error {
	for _, required := range []struct{ field, value string }{{"dir", d.Dir}, {"staged", d.Staged}, {"job", d.Job}, {"attempt", d.Attempt}} {
		if wrong := defect(required.value); wrong != "" {
			return &DraftError{required.field, wrong}
		}
	}
	if wrong := defect(d.Session); wrong != "" && d.Session != "" {
		return &DraftError{"session", wrong}
	}
	if len(d.SideEffects) > MaxSideEffects {
		return &DraftError{"sideEffects", fmt.Sprintf("are more than %d", MaxSideEffects)}
	}
	kinds := d.Kinds
	if kinds == nil {
		kinds = []string{File, Commit, URL, Command}
	}
	for i, effect := range d.SideEffects {
		if wrong := defect(effect.Kind); wrong != "" {
			return &DraftError{fmt.Sprintf("sideEffects[%d].kind", i), wrong}
		}
		if !slices.Contains(kinds, effect.Kind) {
			return &DraftError{fmt.Sprintf("sideEffects[%d].kind", i), fmt.Sprintf("%q is not one of %q", effect.Kind, kinds)}
		}
		if wrong := defect(effect.Ref); wrong != "" {
			return &DraftError{fmt.Sprintf("sideEffects[%d].ref", i), wrong}
		}
	}
	return nil
}

func (d Draft) now() time.Time {
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	return now().UTC()
}

func realDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// hold opens the staged report.
func (d Draft) hold(root *os.Root, dir string) (*held, error) {
	name := filepath.Clean(d.Staged)
	if filepath.IsAbs(name) {
		parent, err := filepath.EvalSymlinks(filepath.Dir(name)) // as dir is
		if err != nil {
			return nil, err
		}
		if name, err = filepath.Rel(dir, filepath.Join(parent, filepath.Base(name))); err != nil {
			return nil, err
		}
	}
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%s is not in %s", d.Staged, dir)
	}
	if name == Name {
		return nil, fmt.Errorf("%s is the manifest", d.Staged)
	}
	flag := os.O_RDONLY
	if runtime.GOOS == "windows" {
		flag = os.O_RDWR // it syncs nothing that is open for reading only
	}
	staged, err := hold(root, name, flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there; if it was promoted already, stage %q", d.Staged, ReportName)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Staged, err)
	}
	if staged.info.Size() > MaxReport {
		staged.close()
		return nil, fmt.Errorf("%s has more than %d bytes", d.Staged, MaxReport)
	}
	return staged, nil
}
