// Package tree reads what an agent left in its folder, byte by byte and without any rule that the agent could have written,
// and decides whether it may become a commit.
package tree

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"aesop/internal/git"
)

// Limits bound what is read.
type Limits struct {
	File  int64 // bytes of one changed file
	Total int64 // bytes of all changed files
}

// defaultLimits are far above what a change by hand or agent has.
var defaultLimits = Limits{File: 64 << 20, Total: 512 << 20}

// found is one path that differs from the base.
type found struct {
	change git.Change
	issue  string // why it can be no part of a commit, or ""
	detail string
}

// scanner compares a folder with the files of a commit.
type scanner struct {
	root   *os.Root
	base   map[string]git.Entry
	ignore func(path string) bool
	limits Limits
	total  int64
	found  []found
	seen   map[string]bool
}

// scan returns every path below dir that differs from base, sorted by path.
func scan(ctx context.Context, dir string, base []git.Entry, ignore func(string) bool) ([]found, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &scanner{root: root, base: make(map[string]git.Entry, len(base)), ignore: ignore, limits: defaultLimits, seen: make(map[string]bool, len(base))}
	for _, e := range base {
		s.base[e.Path] = e
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return s.unreadable(name, d, err)
		case name == ".":
			return nil
		case name == ".git": // the throw-away one
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case s.ignore != nil && s.ignore(name):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return s.visit(name, d)
	})
	if err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	for _, e := range base {
		if !s.seen[e.Path] && (ignore == nil || !ignore(e.Path)) && e.Mode != gitlink {
			s.found = append(s.found, found{change: git.Change{Path: e.Path}})
		}
	}
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.change.Path, b.change.Path) })
	return s.found, nil
}

const (
	regular    = "100644"
	executable = "100755"
	symlink    = "120000"
	gitlink    = "160000"
)

func (s *scanner) refuse(name, issue, detail string) {
	s.seen[name] = true
	s.found = append(s.found, found{change: git.Change{Path: name, Mode: regular}, issue: issue, detail: detail})
}

// unreadable keeps an agent from hiding a folder by taking its permissions away.
func (s *scanner) unreadable(name string, d fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		s.refuse(name, Unreadable, err.Error())
		if d != nil && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	return err
}

func (s *scanner) visit(name string, d fs.DirEntry) error {
	if strings.EqualFold(path.Base(name), ".git") {
		s.refuse(name, GitDirectory, "a repository inside the tree")
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	entry, inBase := s.base[name]
	if d.IsDir() {
		if inBase && entry.Mode == gitlink {
			return s.submodule(name)
		}
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return s.unreadable(name, d, err)
	}
	switch info.Mode().Type() {
	case 0:
		return s.file(name, info, entry)
	case fs.ModeSymlink:
		return s.link(name, entry)
	}
	s.refuse(name, NotAFile, info.Mode().Type().String())
	return nil
}

// submodule accepts the empty folder that a checkout leaves in the place of a submodule.
func (s *scanner) submodule(name string) error {
	s.seen[name] = true
	children, err := fs.ReadDir(s.root.FS(), name)
	if err != nil {
		return err
	}
	if len(children) > 0 {
		s.refuse(name, Submodule, "files in the place of a submodule")
	}
	return fs.SkipDir
}

func (s *scanner) link(name string, entry git.Entry) error {
	target, err := s.root.Readlink(name)
	if err != nil {
		return s.unreadable(name, nil, err)
	}
	s.seen[name] = true
	data := []byte(target)
	if entry.Mode == symlink && hashBlob(entry.Blob, data) == entry.Blob {
		return nil
	}
	f := found{change: git.Change{Path: name, Mode: symlink, Data: data}}
	if path.IsAbs(target) || strings.Contains(target, "\\") || escapes(path.Join(path.Dir(name), target)) {
		f.issue, f.detail = SymlinkEscapes, "points to "+strconv.Quote(target)
	}
	s.found = append(s.found, f)
	return nil
}

func escapes(joined string) bool {
	first, _, _ := strings.Cut(joined, "/")
	return first == ".." || strings.EqualFold(first, ".git")
}

func (s *scanner) file(name string, info fs.FileInfo, entry git.Entry) error {
	s.seen[name] = true
	mode := modeOf(info, entry)
	inBase := entry.Mode == regular || entry.Mode == executable
	if !inBase && info.Size() > s.limits.File {
		s.refuse(name, TooLarge, strconv.FormatInt(info.Size(), 10)+" bytes")
		return nil
	}
	data, err := s.read(name, info)
	if errors.Is(err, errSwapped) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		s.refuse(name, Unreadable, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if inBase && mode == entry.Mode && hashBlob(entry.Blob, data) == entry.Blob {
		return nil
	}
	f := found{change: git.Change{Path: name, Mode: mode, Data: data}}
	s.total += int64(len(data))
	switch {
	case links(info) > 1:
		f.issue, f.detail = HardLink, strconv.FormatUint(links(info), 10)+" links"
	case int64(len(data)) > s.limits.File:
		f.issue, f.detail = TooLarge, strconv.Itoa(len(data))+" bytes"
	case s.total > s.limits.Total:
		return fmt.Errorf("the changed files have more than %d bytes", s.limits.Total)
	}
	s.found = append(s.found, f)
	return nil
}

var errSwapped = errors.New("it changed while it was read")

// read opens the file once; what it returns is what is hashed, checked and committed.
func (s *scanner) read(name string, info fs.FileInfo) ([]byte, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !opened.Mode().IsRegular() || !os.SameFile(info, opened) {
		return nil, errSwapped
	}
	data := make([]byte, 0, opened.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, 64<<10)
		}
	}
}

// hashBlob is the id that git gives to data, in the hash that like has.
func hashBlob(like git.SHA, data []byte) git.SHA {
	var h hash.Hash = sha1.New()
	if len(like) == 64 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
