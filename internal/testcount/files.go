package testcount

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// What is looked at of a tree that a test has written: enough for any test run, and no more than a moment's work.
const (
	maxEntries    = 200_000
	maxReports    = 1_000
	maxReportSize = 64 << 20 // of all reports together
)

// errTooMuch says that a tree holds more than is looked at.
var errTooMuch = errors.New("more than is looked at")

// Files are the files NAME.xml below dir, by slash-separated path, but for those of others (.git, node_modules, site-packages). Links
// are not followed. It is an error if the tree is too large to be looked at, dir cannot be read, or ctx ended.
func Files(ctx context.Context, dir string) (map[string]bool, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	found := map[string]bool{}
	err = walk(ctx, root, func(name string) error { found[name] = true; return nil })
	return found, err
}

// Reports counts in the JUnit reports among the Files below dir, those whose root is testsuites or testsuite, but for the ones that were
// there before the test. A tree too large to be looked at makes the count unknown. The error is that dir cannot be read, or ctx ended.
func Reports(ctx context.Context, dir string, before map[string]bool) (Count, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Count{}, err
	}
	defer root.Close()
	r := reports{root: root}
	err = walk(ctx, root, func(name string) error {
		if before[name] {
			return nil
		}
		return r.read(name)
	})
	if errors.Is(err, errTooMuch) {
		return Count{Runner: junitName}, nil
	}
	if err != nil {
		return Count{}, err
	}
	return r.count(), nil
}

func walk(ctx context.Context, root *os.Root, each func(name string) error) error {
	entries := 0
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if entries++; entries > maxEntries {
			return errTooMuch
		}
		switch {
		case err != nil:
			return nil // went away, or is not for us to read: no report
		case entry.IsDir() && foreign(path.Base(name)):
			return fs.SkipDir
		case entry.Type().IsRegular() && strings.EqualFold(path.Ext(name), ".xml"):
			return each(name)
		}
		return nil
	})
}

func foreign(name string) bool {
	return name == ".git" || name == "node_modules" || name == "site-packages"
}

type reports struct {
	root  *os.Root
	found int
	size  int64
	tests int
	doubt bool
}

func (r *reports) count() Count {
	if r.found == 0 {
		return Count{}
	}
	c := Count{Runner: junitName, Known: !r.doubt}
	if c.Known {
		c.Tests = r.tests
	}
	return c
}

// read adds one file, if it is a report.
func (r *reports) read(name string) error {
	file, err := r.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil // a link that was put there meanwhile, say
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	head := make([]byte, 4<<10)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || !isReport(head[:n]) {
		return nil
	}
	if r.found++; r.found > maxReports {
		return errTooMuch
	}
	var document report
	document.write(head[:n])
	r.size += int64(n)
	buffer := make([]byte, 64<<10)
	for {
		n, err := file.Read(buffer)
		document.write(buffer[:n])
		if r.size += int64(n); r.size > maxReportSize {
			return errTooMuch
		}
		if err != nil {
			r.doubt = r.doubt || !errors.Is(err, io.EOF)
			break
		}
	}
	t := document.tally()
	r.tests += t.tests
	r.doubt = r.doubt || t.doubt || !t.seen
	return nil
}

// isReport says whether the first element of a document is a root of a report.
func isReport(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		var end []byte
		switch {
		case bytes.HasPrefix(head, []byte("<?")):
			end = []byte("?>")
		case bytes.HasPrefix(head, []byte("<!--")):
			end = []byte("-->")
		default:
			rest, ok := bytes.CutPrefix(head, []byte("<"))
			return ok && rootTag(cutTag(rest))
		}
		_, after, ok := bytes.Cut(head, end)
		if !ok {
			return false
		}
		head = after
	}
}

// cutTag is the beginning of a text up to the end of its first tag.
func cutTag(text []byte) []byte {
	tag, _, _ := bytes.Cut(text, []byte(">"))
	return tag
}
