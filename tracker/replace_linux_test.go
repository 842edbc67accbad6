package tracker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if text := (&strandedError{path: "/x/.f1", cause: errSaved}).Error(); !strings.Contains(text, "/x/.f1") {
		t.Errorf("%q does not say where the save is", text)
	}
}
