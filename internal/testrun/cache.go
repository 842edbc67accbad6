package testrun

import (
	"crypto/sha256"
	"encoding/hex"
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
	return copyTree(to, from, func(name, points string) (bool, error) { return staysInside(name, points), nil })
}

// OutsideError is a link that leads out of the tree that it was to be copied into.
type OutsideError struct{ Link, Points string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("the link %s leads to %s", e.Link, e.Points)
}

// CopyWithin copies from to the path name of the tree root, as CopyTree does, but for links: those that stay inside of root are copied
// too, and one that leads out of it is an *OutsideError.
func CopyWithin(root, name, from string) error {
	return copyTree(filepath.Join(root, name), from, func(below, points string) (bool, error) {
		if link := filepath.Join(name, below); !staysInside(link, points) {
			return false, &OutsideError{link, points}
		}
		return true, nil
	})
}

// staysInside says whether the link name of a tree leads to a place of that tree, by its letter.
func staysInside(name, points string) bool {
	return !filepath.IsAbs(points) && filepath.IsLocal(filepath.Join(filepath.Dir(name), points))
}

// copyTree copies the links that keep says yes to.
func copyTree(to, from string, keep func(name, points string) (bool, error)) error {
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
			err = copyLink(target, path, name, keep)
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

func copyLink(to, from, name string, keep func(name, points string) (bool, error)) error {
	points, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if kept, err := keep(name, points); !kept || err != nil {
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

// DigestTree stands for the files, folders and symlinks below dir: equal digests mean equal names, contents and, of files, whether they
// can be executed.
func DigestTree(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch d.Type() {
		case fs.ModeSymlink:
			points, err := os.Readlink(path)
			fmt.Fprintf(h, "link %q %q\n", name, points)
			return err
		case 0:
			return digestFile(h, path, name)
		}
		fmt.Fprintf(h, "%v %q\n", d.Type(), name)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func digestFile(h io.Writer, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "file %q %t %d\n", name, info.Mode()&0o100 != 0, info.Size())
	_, err = io.Copy(h, f)
	return err
}
