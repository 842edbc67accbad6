package tracker_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"aesop/tracker"
)

func TestCreateMakesABacklogWhereThereIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracker.json")
	const text = `[ {"id": "a", "slug": "a"} ] // mine`
	backlog, err := tracker.Create(path, []byte(text))
	if err != nil || len(backlog.Items) != 1 {
		t.Fatalf("%+v, %v", backlog, err)
	}
	if _, err := tracker.Create(path, []byte("[]")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
		t.Errorf("the file says %s (%v)", kept, err)
	}
}

func TestCreateMakesNothingOfWhatIsNoBacklog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracker.json")
	var wrong *tracker.FileError
	if _, err := tracker.Create(path, []byte(`[{"id": "a"}]`)); !errors.As(err, &wrong) || wrong.File != path {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made (%v)", err)
	}
}
