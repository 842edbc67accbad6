//go:build unix

package drop_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aesop/statestore/job/drop"
)

// TestAFifoBlocksNobody.
func TestAFifoBlocksNobody(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, drop.Name), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := drop.Read(dir, attempt); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}
