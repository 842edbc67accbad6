//go:build !windows && !linux

package tracker

import "github.com/google/renameio/v2"

func takePlace(pending *renameio.PendingFile, path string, old, _ []byte) error {
	return renameOver(pending, path, old)
}
