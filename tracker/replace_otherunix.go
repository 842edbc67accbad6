//go:build !windows && !linux

package tracker

func takePlace(temp, path string, old, _ []byte) error { return renameOver(temp, path, old) }
