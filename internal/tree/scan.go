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

// What is kept in memory of the changed files, in bytes; far above what a change by hand or agent has.
const (
	maxFile  = 64 << 20
	maxTotal = 512 << 20
)

// found is one path that differs from the base.
type found struct {
	change git.Change
	issue  string // why it can be no part of a commit, or ""
	detail string
}

// scanner compares a folder with the files of a commit.
type scanner struct {
	root  *os.Root
	base  map[string]git.Entry
	total int64
	found []found
	seen  map[string]bool
	links []link // all symlinks of the folder

	leave       func(name string, folder bool) (bool, error) // which new paths to leave out; nil: none
	baseFolders map[string]bool
	left        []string
}

// maxDepth is how deep folders may lie in each other: any path that could be committed is far shorter. maxShown bounds what is shown
// of a path that is too long.
const (
	maxDepth = 512
	maxShown = 100
)

// ErrReplaced says that something else stands where the folder was that an agent was given.
var ErrReplaced = errors.New("the folder was replaced")

// scan returns every path below dir that differs from base, sorted by path, but for the new ones that leave says yes to: those it
// names apart, a folder in place of all that is in it.
func scan(ctx context.Context, dir string, base []git.Entry, leave func(name string, folder bool) (bool, error)) (differing []found, left []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	// A link in the place of the folder would have been followed, to whatever this process can read.
	stands, err := os.Lstat(dir)
	if err != nil {
		return nil, nil, err
	}
	opened, err := root.Stat(".")
	if err != nil {
		return nil, nil, err
	}
	if !stands.IsDir() || !os.SameFile(stands, opened) {
		return nil, nil, ErrReplaced
	}
	s := &scanner{root: root, base: make(map[string]git.Entry, len(base)), seen: make(map[string]bool, len(base)),
		leave: leave, baseFolders: map[string]bool{}}
	for _, e := range base {
		s.base[e.Path] = e
		for folder := path.Dir(e.Path); folder != "." && !s.baseFolders[folder]; folder = path.Dir(folder) {
			s.baseFolders[folder] = true
		}
	}
	if err := s.folder(ctx, "."); err != nil {
		return nil, nil, fmt.Errorf("read tree: %w", err)
	}
	for _, e := range base {
		switch {
		case s.seen[e.Path]:
		case e.Mode == gitlink:
			s.refuse(e.Path, Submodule, "the submodule is gone")
		default:
			s.found = append(s.found, found{change: git.Change{Path: e.Path}})
		}
	}
	if err := s.judgeLinks(ctx); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.change.Path, b.change.Path) })
	return s.found, s.left, nil
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
func (s *scanner) unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errSwapped) {
		s.refuse(name, Unreadable, err.Error())
		return nil
	}
	return err
}

// folder visits what is in a folder. It walks by itself since fs.WalkDir refuses names that are not UTF-8, which a base can have.
func (s *scanner) folder(ctx context.Context, dir string) error {
	if strings.Count(dir, "/") > maxDepth {
		s.refuse(dir[:maxShown]+"…", InvalidName, fmt.Sprintf("folders deeper than %d", maxDepth))
		return nil
	}
	names, err := s.names(dir)
	if err != nil {
		if dir == "." {
			return err
		}
		return s.unreadable(dir, err)
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if dir == "." && name == ".git" { // the throw-away one
			continue
		}
		if err := s.visit(ctx, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// names lists a folder, sorted.
func (s *scanner) names(dir string) ([]string, error) {
	f, err := s.root.OpenFile(dir, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (s *scanner) visit(ctx context.Context, name string) error {
	if strings.EqualFold(path.Base(name), ".git") {
		s.refuse(name, GitDirectory, "a repository inside the tree")
		return nil
	}
	info, err := s.root.Lstat(name)
	if err != nil {
		return s.unreadable(name, err)
	}
	entry, inBase := s.base[name]
	if s.leave != nil && !inBase && !s.baseFolders[name] {
		leave, err := s.leave(name, info.IsDir())
		if err != nil {
			return err
		}
		if leave {
			s.left = append(s.left, name)
			return nil
		}
	}
	switch kind := info.Mode().Type(); {
	case inBase && entry.Mode == gitlink:
		return s.submodule(name, info)
	case kind == fs.ModeDir:
		return s.folder(ctx, name)
	case kind == fs.ModeSymlink:
		return s.link(name, entry)
	case kind == 0:
		return s.file(name, info, entry)
	default:
		s.refuse(name, NotAFile, kind.String())
		return nil
	}
}

// submodule accepts the empty folder that a checkout leaves in the place of a submodule.
func (s *scanner) submodule(name string, info fs.FileInfo) error {
	if !info.IsDir() {
		s.refuse(name, Submodule, "something else in the place of a submodule")
		return nil
	}
	children, err := s.names(name)
	if err != nil {
		return s.unreadable(name, err)
	}
	s.seen[name] = true
	if len(children) > 0 {
		s.refuse(name, Submodule, "files in the place of a submodule")
	}
	return nil
}

func (s *scanner) file(name string, info fs.FileInfo, entry git.Entry) error {
	s.seen[name] = true
	mode := modeOf(info, entry)
	inBase := entry.Mode == regular || entry.Mode == executable
	data, id, err := s.read(name, info, entry.Blob)
	if errors.Is(err, errSwapped) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		s.refuse(name, Unreadable, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if inBase && mode == entry.Mode && id == entry.Blob {
		return nil
	}
	if data == nil || s.total+int64(len(data)) > maxTotal {
		s.refuse(name, TooLarge, strconv.FormatInt(info.Size(), 10)+" bytes")
		return nil
	}
	s.total += int64(len(data))
	f := found{change: git.Change{Path: name, Mode: mode, Data: data}}
	if links(info) > 1 {
		f.issue, f.detail = HardLink, strconv.FormatUint(links(info), 10)+" links"
	}
	s.found = append(s.found, f)
	return nil
}

var errSwapped = errors.New("it changed while it was read")

// read opens the file once; what it returns is what is hashed, checked and committed. Of a file that is too large only the id
// comes back, in the hash that like has, and only where like could be its id; no data is nil.
func (s *scanner) read(name string, info fs.FileInfo, like git.SHA) (data []byte, id git.SHA, err error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	if !opened.Mode().IsRegular() || !os.SameFile(info, opened) {
		return nil, "", errSwapped
	}
	if opened.Size() > maxFile {
		id, err = s.hashLarge(f, opened.Size(), like)
		return nil, id, err
	}
	data = make([]byte, opened.Size()+1) // one more, to see that it does not grow
	n, err := io.ReadFull(f, data)
	if err == nil {
		return nil, "", errSwapped
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	data = data[:n]
	return data, hashBlob(like, data), nil
}

// hashLarge is the id of a large file. One that is new, or sparse beyond anything that git could hold, is not read at all.
func (s *scanner) hashLarge(f io.Reader, size int64, like git.SHA) (git.SHA, error) {
	if like == "" || size > maxHashed {
		return "", nil
	}
	h := blobHash(like, size)
	n, err := io.Copy(h, io.LimitReader(f, size))
	if err == nil && n != size {
		err = errSwapped
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// maxHashed is the size up to which a file of the base is read to see whether it is still the same.
const maxHashed = 8 << 30

// hashBlob is the id that git gives to data, in the hash that like has.
func hashBlob(like git.SHA, data []byte) git.SHA {
	h := blobHash(like, int64(len(data)))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func blobHash(like git.SHA, size int64) hash.Hash {
	var h hash.Hash = sha1.New()
	if len(like) == 64 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}
