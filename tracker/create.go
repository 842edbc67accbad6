package tracker

import (
	"errors"
	"os"
)

// Create makes a backlog file of a text where there is none, and returns what the text says; fs.ErrExist where something is there already,
// and the file's own *FileError where the text is no backlog. Then no file is made.
func Create(path string, text []byte) (Backlog, error) {
	backlog, err := Parse(path, text)
	if err != nil {
		return Backlog{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return Backlog{}, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Backlog{}, errors.Join(err, os.Remove(path))
	}
	return backlog, nil
}
