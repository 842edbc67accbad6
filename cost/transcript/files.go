package transcript

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sources are the session files that there are.
type sources struct {
	files []source
	roots []*os.Root
}

// source is one of them. It is opened in its root, so that no link leads out of it.
type source struct {
	root    *os.Root
	inside  string // path in root
	path    string
	key     string // in the State
	codex   bool
	size    int64
	changed time.Time
}

func (f source) open() (*os.File, error) { return f.root.Open(f.inside) }

func (s *sources) close() {
	for _, root := range s.roots {
		_ = root.Close() // only read
	}
}

// find walks through the folders.
func (in *ingest) find() *sources {
	all := &sources{}
	for _, folder := range in.Claude {
		in.walk(all, filepath.Join(folder, "projects"), false)
	}
	for _, folder := range in.Codex {
		in.walk(all, filepath.Join(folder, "sessions"), true)
		in.walk(all, filepath.Join(folder, "archived_sessions"), true)
	}
	// A session that is in two places, as while it is moved, is read where there is more of it.
	slices.SortFunc(all.files, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path))
	})
	all.files = slices.CompactFunc(all.files, func(a, b source) bool { return a.key == b.key })
	return all
}

func (in *ingest) walk(all *sources, folder string, codex bool) {
	problem := func(kind Kind, path string, err error) {
		detail := ""
		if err != nil {
			detail = err.Error()
		}
		in.add(map[Kind]int{kind: 1}, []Problem{{Kind: kind, File: path, Detail: detail}})
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		problem(Unreadable, folder, err)
		return
	}
	all.roots = append(all.roots, root)
	_ = fs.WalkDir(root.FS(), ".", func(inside string, d fs.DirEntry, err error) error { // our function returns none
		path := filepath.Join(folder, filepath.FromSlash(inside))
		switch {
		case err != nil:
			problem(Unreadable, path, err)
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			problem(Link, path, nil)
			return nil
		case !d.Type().IsRegular() || !strings.HasSuffix(inside, ".jsonl"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			problem(Unreadable, path, err)
			return nil
		}
		f := source{root: root, inside: filepath.FromSlash(inside), path: path, key: path, codex: codex, size: info.Size(), changed: info.ModTime()}
		if codex {
			f.key = filepath.Base(path)
		}
		all.files = append(all.files, f)
		return nil
	})
}
