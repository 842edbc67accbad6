package wave

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aesop/tracker"
)

// knownSecretError says that files of an item hold secrets that this process knows, so that an agent would be given them.
type knownSecretError struct{ paths []string }

func (e *knownSecretError) Error() string {
	named := strings.Join(e.paths[:min(len(e.paths), maxNamed)], ", ")
	if more := len(e.paths) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return "a secret that this process knows stands in what the item owns, so no agent was given it: " + named
}

// withoutKnown looks for known secrets in the files of the agent's tree that the item owns, before anything of that tree runs:
// *knownSecretError. Only what git tracks counts: what is carried, a person wants agents to have.
func (w *work) withoutKnown(ctx context.Context) error {
	owns, err := tracker.ParseOwnership(w.text.OwnsFiles)
	if err != nil {
		return err
	}
	entries, err := w.target.engine.List(ctx, w.from)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	found := &knownSecretError{}
	for _, e := range entries {
		if !owns.Contains(e.Path) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		known, err := w.knows(root, filepath.FromSlash(e.Path))
		if err != nil {
			return fmt.Errorf("look for known secrets: %w", err)
		}
		if known {
			found.paths = append(found.paths, e.Path)
		}
	}
	if len(found.paths) > 0 {
		return found
	}
	return nil
}

// knows says whether a file of a fresh tree holds a known secret. Of a link, that is its target's name.
func (w *work) knows(root *os.Root, name string) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return false, err
		}
		return w.s.config.Redactor.Knows(strings.NewReader(target))
	case !info.Mode().IsRegular(): // the folder of another repository
		return false, nil
	}
	f, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return w.s.config.Redactor.Knows(f)
}
