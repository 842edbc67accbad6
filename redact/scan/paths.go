package scan

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

// Paths scans files as they are on disk, folders with all below them. In a repository those are the files that git has or would add;
// outside of one, and below a folder that git ignores and that is named, all. A file that is named is always scanned. Folders of git are
// not, nor is what a symbolic link leads to, but for one that is named.
func (s *Scanner) Paths(ctx context.Context, paths ...string) (*Result, error) {
	return s.scan(ctx, "paths", true, func(r *run) error {
		root := ""
		if r.user == nil || r.user.Bare {
			if err := r.enact(file{}, nil); err != nil {
				return err
			}
		} else {
			root = r.user.Root
			own, err := fileOnDisk(root)
			if err != nil {
				return err
			}
			if err := r.govern(ctx, own); err != nil {
				return err
			}
		}
		for _, path := range paths {
			if err := r.path(ctx, path, root); err != nil {
				return err
			}
		}
		return nil
	})
}

// path scans a file or folder that was named. root is that of the work tree, or empty.
func (r *run) path(ctx context.Context, named, root string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	full, err := filepath.Abs(named)
	if err != nil {
		return err
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil { // as git names the root
		full = filepath.Join(folder, filepath.Base(full))
	}
	info, err := os.Stat(full)
	if err != nil {
		return r.unreadable(named, err)
	}
	show := func(path string) string {
		if name, err := filepath.Rel(root, path); root != "" && err == nil && filepath.IsLocal(name) {
			return filepath.ToSlash(name)
		}
		if name, err := filepath.Rel(full, path); err == nil && name != "." {
			return filepath.ToSlash(filepath.Join(named, name))
		}
		return filepath.ToSlash(named)
	}
	if !info.IsDir() {
		return r.file(full, show(full))
	}
	if full, err = filepath.EvalSymlinks(full); err != nil { // of a link, nobody goes on to what is below
		return r.unreadable(named, err)
	}
	return r.folder(ctx, full, root, show)
}

// folder scans a folder: of one that is in the work tree and not ignored as a whole, what git has or would add; else everything.
func (r *run) folder(ctx context.Context, full, root string, show func(string) string) error {
	folder, err := filepath.Rel(root, full)
	if root == "" || err != nil || !filepath.IsLocal(folder) {
		return r.walk(ctx, full, show)
	}
	names, err := r.user.Files(ctx, folder)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return r.walk(ctx, full, show)
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is in the index only
		}
		if err != nil {
			return r.unreadable(name, err)
		}
		if info.IsDir() { // a repository of its own
			err = r.walk(ctx, path, show)
		} else {
			err = r.visit(path, info.Mode().Type(), show)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) unreadable(name string, err error) error {
	return &Error{Code: "unreadable", Message: r.shown(fmt.Sprintf("%s cannot be read: %v", name, err)), Err: err}
}

// walk scans everything below a folder.
func (r *run) walk(ctx context.Context, folder string, show func(string) string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return r.unreadable(show(path), err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case path != folder && strings.EqualFold(d.Name(), ".git"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // it says where that folder is
		case d.IsDir():
			return nil
		}
		return r.visit(path, d.Type(), show)
	})
}

// visit scans what stands in a folder. What is neither file nor link, such as a socket, holds nothing.
func (r *run) visit(path string, kind fs.FileMode, show func(string) string) error {
	switch {
	case kind.IsRegular():
		return r.file(path, show(path))
	case kind&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return r.unreadable(show(path), err)
		}
		return r.text(strings.NewReader(target), path, show(path))
	}
	return nil
}

func (r *run) file(path, name string) error {
	in, err := os.Open(path)
	if err != nil {
		return r.unreadable(name, err)
	}
	if err := errors.Join(r.text(in, path, name), in.Close()); err != nil {
		return r.unreadable(name, err)
	}
	return nil
}

// text scans the content of a path and the name that it goes by, once.
func (r *run) text(from io.Reader, path, name string) error {
	if r.files[path] { // others can go by its name
		return nil
	}
	r.files[path] = true
	if err := r.name(InName, name, ""); err != nil {
		return err
	}
	c, err := r.content(from, -1)
	if err != nil {
		return err
	}
	r.found(c, name, "")
	if r.result.Counts.Blobs%100 == 0 {
		r.tell()
	}
	return nil
}
