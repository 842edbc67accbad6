package hook

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// replaceFile makes name the file with that text, whole or not at all, and durable. With fresh it must not be there yet.
func replaceFile(root *os.Root, name, text string, mode fs.FileMode, fresh bool) (err error) {
	draft := "." + name + "." + rand.Text()
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if gone := root.Remove(draft); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil { // the mode is not what the umask leaves
		return fmt.Errorf("write %s: %w", name, err)
	}
	if fresh {
		err = root.Link(draft, name) // never over one that came meanwhile
	} else {
		err = root.Rename(draft, name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncFolder(root)
}

// syncFolder makes names durable.
func syncFolder(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil // which has no such thing
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
