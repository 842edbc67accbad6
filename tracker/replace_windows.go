package tracker

import (
	"errors"
	"os"
	"path/filepath"
)

// replace puts data in the place of the file at path if its content is still old; else it returns errSaved. Windows has
// nothing to sync a directory with: the file's own data are on disk before the rename.
func replace(path string, old, data []byte, sync func(*os.File) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, sync(temp), temp.Close())
	if err == nil {
		err = renameOver(temp.Name(), path, old)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp.Name()))
	}
	return err
}
