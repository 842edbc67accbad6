package wave

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Place names a state directory: 16 hex digits in its file id, made at first use. Waves belong to the place that began them, for
// only there can their lock prove that their process is dead; the name moves with the directory, whatever the host is called. It is
// made before the directory's database; where that is there without it, *SetupError.
func Place(state string) (string, error) {
	path := filepath.Join(state, "id")
	if name, err := readPlace(path); !errors.Is(err, fs.ErrNotExist) {
		return name, err
	}
	if exists(filepath.Join(state, "state.db")) {
		return "", &SetupError{Code: "state_damaged", Message: fmt.Sprintf("%s is gone, and a database stands beside where it was", path),
			Hint: "restore the file; without it, waves that were left would not be found"}
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name the state: %w", err)
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", fmt.Errorf("state: %w", err)
	}
	// Whole before it has its name, so that nobody reads half of it; of two who make it, one is first.
	draft := path + "." + hex.EncodeToString(b[:])
	if err := os.WriteFile(draft, []byte(hex.EncodeToString(b[:])+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("name the state: %w", err)
	}
	defer os.Remove(draft)
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("name the state: %w", err)
	}
	return readPlace(path)
}

func readPlace(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(data))
	if b, err := hex.DecodeString(name); err != nil || len(b) != 8 {
		return "", fmt.Errorf("%s does not hold the name of a state: %q", path, name)
	}
	return name, nil
}
