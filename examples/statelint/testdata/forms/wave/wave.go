package wave

import (
	"os"
	"path/filepath"
)

type Halt struct{ Dir string }

func (h Halt) Path() string { return filepath.Join(h.Dir, "HALT") }

func (h Halt) Note() ([]byte, error) { return os.ReadFile(h.Path()) }

func ReportPath(state, wave string) (path string) {
	path = filepath.Join(state, "waves", wave, "report.json")
	return
}

func lockFile(state string) string { return filepath.Join(state, "locks", "wave.lock") }

func Alive(state string) bool { return exists(lockFile(state)) }

func named(state string) bool { return exists(filepath.Join(state, "state.db")) } // want state.db

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
