package drivertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"aesop/driver"
)

// place is a directory with everything around a task.
type place struct {
	root  string // holds tree, attempt and a neighbour's file
	task  driver.Task
	known map[string]string
}

// newPlace makes a task with nothing in its tree but one file.
func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"tree/present.txt": "old\n", "attempt/.keep": "", "neighbour/file.txt": "mine\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
	p := &place{root: root, task: driver.Task{
		Item: "item", Slug: "slug", Wave: "20261130-090000-0000", AttemptID: "0123456789abcdef", Prompt: "Do it.",
		Dir: filepath.Join(root, "tree"), AttemptDir: filepath.Join(root, "attempt"), Owns: []string{"**"},
		Environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root + "/neighbour"},
		Mark:        fmt.Sprintf("drivertest-%d-%s-%s", os.Getpid(), name, filepath.Base(root)), Round: 1,
	}}
	p.known = p.files(t)
	return p
}

// files reads everything outside the tree and the attempt's folder.
func (p *place) files(t *testing.T) map[string]string {
	t.Helper()
	outside := map[string]string{}
	err := filepath.WalkDir(p.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == p.task.Dir || path == p.task.AttemptDir {
			return fs.SkipDir
		}
		text := ""
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		outside[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return outside
}

// run runs the task and checks what holds for every run: the kind of the error, the events, what lies around the tree, and
// that no process is left.
func (p *place) run(t *testing.T, ctx context.Context, d driver.Driver) (driver.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var returned atomic.Bool
	var late atomic.Int32
	var events []driver.Event // without a lock: the race detector sees an emit beside another
	result, err := d.Run(ctx, p.task, func(e driver.Event) {
		if returned.Load() {
			late.Add(1)
			return
		}
		events = append(events, e)
	})
	returned.Store(true)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("Run took more than %s", limit)
	}
	var typed *driver.Error
	if err != nil && (!errors.As(err, &typed) || !typed.Class.Known()) {
		t.Errorf("the error is %T (%v), want a *driver.Error with a known class", err, err)
	}
	for _, e := range events {
		if e.Kind == "" {
			t.Errorf("an event has no kind: %+v", e)
		}
	}
	for pid, name := range Running(p.task.Mark) {
		t.Errorf("process %d (%s) is left", pid, name)
	}
	p.checkOutside(t)
	if n := late.Load(); n > 0 {
		t.Errorf("%d events came after Run returned", n)
	}
	return result, err
}

func (p *place) checkOutside(t *testing.T) {
	t.Helper()
	now := p.files(t)
	for path, text := range now {
		if old, ok := p.known[path]; !ok {
			t.Errorf("%s appeared outside the tree", path)
		} else if old != text {
			t.Errorf("%s changed outside the tree", path)
		}
	}
	for path := range p.known {
		if _, ok := now[path]; !ok {
			t.Errorf("%s vanished outside the tree", path)
		}
	}
}

// checkFiles compares files in the tree.
func (p *place) checkFiles(t *testing.T, want map[string]string) {
	t.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(p.task.Dir, filepath.FromSlash(name)))
		if err != nil || string(got) != text {
			t.Errorf("%s holds %d bytes (%v), want %d", name, len(got), err, len(text))
		}
	}
}
