package manifest

import (
	"errors"
	"os"
	"runtime"
)

// disk is what Finalize does to a disk. The order of these steps is what makes a manifest trustworthy, so that tests record it and put
// failures and kills between them.
type disk interface {
	write(f *os.File, data []byte) error
	sync(f *os.File) error // of a file, or of a directory with its names
	rename(root *os.Root, from, to string) error
	remove(root *os.Root, name string) error
}

type realDisk struct{}

func (realDisk) write(f *os.File, data []byte) error         { _, err := f.Write(data); return err }
func (realDisk) sync(f *os.File) error                       { return f.Sync() }
func (realDisk) rename(root *os.Root, from, to string) error { return root.Rename(from, to) }
func (realDisk) remove(root *os.Root, name string) error     { return root.Remove(name) }

// syncNames makes the names in a directory durable.
func syncNames(on disk, root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil // it has nothing to sync a directory with
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(on.sync(d), d.Close())
}
