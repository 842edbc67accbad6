// Package helper owns nothing.
package helper

import (
	"os"
	"path/filepath"
	"strings"

	"aesop/tracker"
	"aesop/wave"
)

var HaltFile = filepath.Join("state", "HALT")

func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Both hands on what it gets, through two more functions.
func Both(a, b string) error { return write(b, []byte(a)) }

func write(path string, data []byte) error { return Create(path, data) }

func Create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return err
}

func In(dir string, names ...string) string {
	return strings.TrimSpace(filepath.Join(append([]string{dir}, names...)...))
}

// Note asks the owner for a note.
func Note(dir string) ([]byte, error) { return wave.Halt{Dir: dir}.Note() }

// Reader remembers the path.
type Reader struct{ name string }

func NewReader(path string) *Reader { return &Reader{path} }

func (r *Reader) Read() ([]byte, error) { return os.ReadFile(r.name) }

// Options has the path in a field.
type Options struct {
	Path string
	Note string
}

func Load(o Options) ([]byte, error) { return load(&o) }

func load(o *Options) ([]byte, error) { return os.ReadFile(o.Path) }

// Where is the path of an option.
func (o Options) Where() string { return o.Path }

// Open takes it from there.
func Open(o Options) ([]byte, error) { return os.ReadFile(o.Where()) }

// Backlog hands the path to the package that opens a backlog.
func Backlog(path string) (*tracker.File, error) { return tracker.Open(tracker.Config{Path: path}) }

// First is generic.
func First[T any](values ...T) T { return values[0] }

// Touch is generic.
func Touch[S ~string](path S) { _ = os.Remove(string(path)) }
