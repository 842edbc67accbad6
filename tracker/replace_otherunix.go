//go:build !windows && !linux

package tracker

func takePlace(temp, path string, old, _ []byte, settle func() error) error {
	if err := renameOver(temp, path, old); err != nil {
		return err
	}
	return settle()
}
