package testrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyTree copies the files, folders and symlinks below from, or the file from, into to. What is none of these, such as a socket that
// a test left, and links that lead out of from are passed over; what is at its place in to already stays. A from that does not exist
// has nothing.
func CopyTree(to, from string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch d.Type() {
		case fs.ModeDir:
			return os.MkdirAll(target, 0o700)
		case fs.ModeSymlink:
			err = copyLink(target, path, name)
		case 0:
			err = copyFile(target, path)
		}
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}

func copyLink(to, from, name string) error {
	points, err := os.Readlink(from)
	if err != nil || filepath.IsAbs(points) || !filepath.IsLocal(filepath.Join(filepath.Dir(name), points)) {
		return err
	}
	return os.Symlink(points, to)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
