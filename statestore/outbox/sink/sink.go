// Package sink has sinks of an outbox that need nothing but the standard library: File appends news to a file, Mirror keeps the newest of each
// subject in a file of its own, Webhook posts it to a URL. They de-duplicate for their receivers, or name the intent so that those can.
package sink

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"aesop/statestore/outbox"
)

var (
	_ outbox.Sink = (*File)(nil)
	_ outbox.Sink = (*Mirror)(nil)
	_ outbox.Sink = (*Webhook)(nil)
)

// syncDir makes a name in dir durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such call
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncNew makes a new file durable, with the folder that it is in and may have brought with it.
func syncNew(path string) error {
	dir := filepath.Dir(path)
	return errors.Join(syncDir(dir), syncDir(filepath.Dir(dir)))
}
