package tracker

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReplacePutsASaveBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	content := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := os.WriteFile(path, []byte("saved by a person"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, []byte("what was read"), []byte("ours"), (*os.File).Sync); err != errSaved {
		t.Fatalf("error is %v", err)
	}
	if got := content(); got != "saved by a person" {
		t.Fatalf("the file has %q", got)
	}
	if err := replace(path, []byte("saved by a person"), []byte("ours"), (*os.File).Sync); err != nil {
		t.Fatal(err)
	}
	if got := content(); got != "ours" {
		t.Fatalf("the file has %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, []byte("ours"), []byte("more"), (*os.File).Sync); err != errSaved {
		t.Fatalf("a missing file: error is %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestPutBack: a displaced save returns by exchange, or into the place that an editor has just emptied.
func TestPutBack(t *testing.T) {
	for _, occupied := range []bool{true, false} {
		dir := t.TempDir()
		temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "f")
		if err := os.WriteFile(temp, []byte("save"), 0o600); err != nil {
			t.Fatal(err)
		}
		if occupied {
			if err := os.WriteFile(path, []byte("ours"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cameOut, err := putBack(temp, path)
		if err != nil || cameOut != occupied {
			t.Errorf("occupied %v: came out %v, %v", occupied, cameOut, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "save" {
			t.Errorf("occupied %v: the file has %q, %v", occupied, data, err)
		}
	}
	if _, err := putBack(filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nothing was put back without an error")
	}
}

// TestStrandedSaveIsKept: what cannot be put back gets a name that people see, and the error says it.
func TestStrandedSaveIsKept(t *testing.T) {
	dir := t.TempDir()
	swap, path, kept := filepath.Join(dir, ".f1.swap"), filepath.Join(dir, "f"), filepath.Join(dir, "f.displaced-1")
	if err := os.WriteFile(swap, []byte("save"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := (&strandedError{path: swap, cause: errSaved}).keep(path)
	if text := err.Error(); !strings.Contains(text, kept) || errors.Is(err, errSaved) {
		t.Errorf("%q does not say where the save is, or is tried again", text)
	}
	if !holds(kept, []byte("save")) {
		t.Errorf("%s is not the save", kept)
	}
}

// TestExchangeUnderAnotherName: whatever has been exchanged with the backlog bears the name that the sweep does not remove.
func TestExchangeUnderAnotherName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, dir, unix.IN_MOVED_FROM); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, []byte("old"), []byte("new"), (*os.File).Sync); err != nil {
		t.Fatal(err)
	}
	events := make([]byte, 64<<10)
	n, err := unix.Read(watch, events)
	if err != nil {
		t.Fatal(err)
	}
	var moved []string // names that a file was moved away from, in order
	for events = events[:n]; len(events) > 0; {
		length := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		moved = append(moved, strings.TrimRight(string(events[unix.SizeofInotifyEvent:length]), "\x00"))
		events = events[length:]
	}
	if len(moved) != 3 || moved[1] != moved[0]+swapEnding || moved[2] != "f" {
		t.Errorf("moved away from %q, want the first name, the second, and then the backlog's", moved)
	}
}
