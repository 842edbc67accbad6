package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// partial says whether the user's repository leaves out objects that a remote promised to have.
func (u *User) partial(ctx context.Context) (bool, error) {
	promisors, err := u.text(ctx, "config", "--get-regexp", `^remote\..*\.(promisor|partialclonefilter)$|^extensions\.partialclone$`)
	return promisors != "", err
}

// complete brings what is missing of the files of commit, which a partial repository need not have.
func (e *Engine) complete(ctx context.Context, remote *Remote, commit SHA) error {
	for before := 0; ; {
		out, err := e.run(ctx, "rev-list", "--objects", "--no-object-names", "--missing=print", "--no-walk", commit)
		if err != nil {
			return err
		}
		var missing []SHA
		for line := range strings.Lines(string(out)) {
			if id, ok := strings.CutPrefix(line, "?"); ok {
				missing = append(missing, strings.TrimSpace(id))
			}
		}
		switch {
		case len(missing) == 0:
			return nil
		case len(missing) == before:
			return fmt.Errorf("fetch %s: the repository is a partial clone, and %d objects are at no place of %s", Short(commit), before, remote.Name)
		}
		before = len(missing)
		if err := e.fetchObjects(ctx, remote, missing, "-c", "fetch.negotiationAlgorithm=noop"); err != nil {
			return err
		}
	}
}

// link brings all objects of a partial repository here, also those that it borrows. Git itself does not hand them on: what they
// refer to is not all there.
func (e *Engine) link(ctx context.Context) error {
	out, err := e.user.run(ctx, "count-objects", "-v")
	if err != nil {
		return err
	}
	folders := []string{filepath.Join(e.user.Common, "objects")}
	for line := range strings.Lines(string(out)) {
		if lender, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: "); ok {
			folders = append(folders, lender)
		}
	}
	for _, from := range folders {
		if err := e.linkObjects(from); err != nil {
			return fmt.Errorf("engine repository: %w", err)
		}
	}
	shallow, err := os.ReadFile(filepath.Join(e.user.Common, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.Dir, "shallow"), shallow, 0o600)
}

// linkObjects brings the objects of one folder here.
func (e *Engine) linkObjects(from string) error {
	var files, indexes []string
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // the user's git tidies up meanwhile
			return nil
		case err != nil:
			return err
		case d.IsDir() && path == filepath.Join(from, "info"):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "tmp_") || strings.HasPrefix(d.Name(), "multi-pack-index"):
		case filepath.Ext(d.Name()) == ".idx":
			indexes = append(indexes, path)
		default:
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, path := range append(files, indexes...) { // an index last, for git finds a pack by it
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(e.objects(), name)
		if filepath.Ext(name) == ".idx" && !exists(strings.TrimSuffix(to, ".idx")+".pack") {
			continue
		}
		if err := linkFile(to, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// linkFile makes to the file from, by a link where the file system allows it. A file that is there stays: its name is its content.
func linkFile(to, from string) error {
	if exists(to) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), "tmp_obj_") // as git names its own
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(0o444), out.Close()); err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(out.Name()))
	}
	return err
}
