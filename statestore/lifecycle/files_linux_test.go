package lifecycle_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aesop/statestore/lifecycle"
)

// TestAFolderThatBecomesAPipeIsNotWaitedFor swaps the two all the time, as an agent can: opening a pipe waits until somebody writes.
func TestAFolderThatBecomesAPipeIsNotWaitedFor(t *testing.T) {
	root := t.TempDir()
	folder, pipe := filepath.Join(root, "folder"), filepath.Join(t.TempDir(), "pipe")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	walked := make(chan struct{})
	go func() {
		defer close(walked)
		for range 2000 {
			_, _ = lifecycle.NewestChange(ctx, root) // of a moment it may be an error
		}
	}()
	for swap := true; swap; {
		if err := unix.Renameat2(unix.AT_FDCWD, folder, unix.AT_FDCWD, pipe, unix.RENAME_EXCHANGE); err != nil {
			t.Fatal(err)
		}
		select {
		case <-walked:
			swap = false
		case <-ctx.Done():
			t.Error("it waits")
			for _, path := range []string{folder, pipe} { // and is let go
				if fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
					_ = unix.Close(fd)
				}
			}
			<-walked
			swap = false
		default:
		}
	}
}
