//go:build unix

package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"aesop/statestore/job/manifest"
)

// TestNothingBlocksOnAFifoOrReadsADevice in the place of any of the files.
func TestNothingBlocksOnAFifoOrReadsADevice(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"fifo": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link to a fifo": func(path string) error {
			return errors.Join(syscall.Mkfifo(path+"x", 0o600), os.Symlink(path+"x", path))
		},
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		dir := t.TempDir()
		finalise(t, dir, "x")
		must(t, os.Remove(filepath.Join(dir, manifest.ReportName)))
		must(t, put(filepath.Join(dir, manifest.ReportName)))
		if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrVoid) {
			t.Errorf("%s for the report: error %v", name, err)
		}
		must(t, os.Remove(filepath.Join(dir, manifest.Name)))
		must(t, put(filepath.Join(dir, manifest.Name)))
		if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrDamaged) {
			t.Errorf("%s for the manifest: error %v", name, err)
		}
		must(t, put(filepath.Join(dir, "staged")))
		var refused *manifest.DraftError
		if _, err := manifest.Finalize(t.Context(), draft(dir)); !errors.As(err, &refused) {
			t.Errorf("%s staged: error %v", name, err)
		}
		must(t, os.Remove(filepath.Join(dir, "staged")))
		finalise(t, dir, "y") // replaces both
		read(t, dir)
	}
}
