package sqlite

import (
	"context"
	"path/filepath"

	"aesop/internal/filelock"
)

// gate lets in one writer at a time, over all processes and handles.
type gate interface {
	// Lock waits for its turn or for ctx, whose error it then returns and holds nothing.
	Lock(ctx context.Context) (unlock func() error, err error)
}

// newGate is the turnstile of the database at path: two files in the folder locks beside it.
func newGate(path string) gate {
	return filelock.NewTurnstile(filepath.Join(filepath.Dir(path), "locks"), filepath.Base(path))
}
