package tracker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Ownership is a set of paths that one item may change. Its patterns are exact paths, directories ("dir/") and globs with *,
// **, ?, [class] and {a,b}. They are compared as FoldPath compares. The zero Ownership owns nothing.
type Ownership struct {
	patterns []pattern
}

// pattern is one entry of ownsFiles.
type pattern struct {
	source string // as written
	text   string // folded, of a directory without the slash
	dir    bool   // written with a slash at the end
	glob   string // what to match besides text; empty for an entry without wildcards
}

const wildcards = "*?[{"

// OwnershipError says why entries are no ownership.
type OwnershipError struct {
	Reason Reason // NoFileOwnership, InvalidOwnsFilesEntries or InvalidPath
	Entry  string // the offending entry, where there is one
	Detail string
}

func (e *OwnershipError) Error() string {
	if e.Entry == "" {
		return "ownsFiles: " + e.Detail
	}
	return fmt.Sprintf("ownsFiles: %q %s", e.Entry, e.Detail)
}

// ParseOwnership reads the entries of ownsFiles. Its error is an *OwnershipError.
func ParseOwnership(entries []string) (Ownership, error) {
	if len(entries) == 0 {
		return Ownership{}, &OwnershipError{Reason: NoFileOwnership, Detail: "name at least one path, dir/ or glob"}
	}
	owned := Ownership{patterns: make([]pattern, len(entries))}
	for i, entry := range entries {
		if strings.TrimSpace(entry) == "" {
			detail := fmt.Sprintf("entry %d is empty or not a string", i+1)
			return Ownership{}, &OwnershipError{Reason: InvalidOwnsFilesEntries, Detail: detail}
		}
		p, err := parsePattern(entry)
		if err != nil {
			return Ownership{}, &OwnershipError{Reason: InvalidPath, Entry: entry, Detail: err.Error()}
		}
		owned.patterns[i] = p
	}
	return owned, nil
}

func parsePattern(entry string) (pattern, error) {
	path, isDir := strings.CutSuffix(entry, "/")
	if err := CheckPath(path); err != nil {
		return pattern{}, err
	}
	p := pattern{source: entry, text: FoldPath(path), dir: isDir}
	if !strings.ContainsAny(p.text, wildcards) {
		return p, nil
	}
	p.glob = p.text
	if isDir {
		p.glob += "/**/*" // a last ** alone would own a file of the directory's name as well
	}
	if !doublestar.ValidatePattern(p.glob) {
		return pattern{}, errors.New("is not a valid glob")
	}
	return p, nil
}

// Names says whether an entry without wildcards is path itself or, where path is a folder, the path of a file below it.
func (o Ownership) Names(path string, folder bool) bool {
	folded := FoldPath(path)
	for _, p := range o.patterns {
		if p.glob == "" && !p.dir && (p.text == folded || folder && strings.HasPrefix(p.text, folded+"/")) {
			return true
		}
	}
	return false
}

// Contains says whether path is owned. A path that CheckPath refuses is owned by nobody.
func (o Ownership) Contains(path string) bool {
	if CheckPath(path) != nil {
		return false
	}
	folded := FoldPath(path)
	for _, p := range o.patterns {
		if p.contains(folded) {
			return true
		}
	}
	return false
}

// contains also takes a glob by its letter: some frameworks have brackets in file names (app/[id]/page.tsx).
func (p pattern) contains(folded string) bool {
	return p.dir && inside(folded, p.text) || !p.dir && folded == p.text ||
		p.glob != "" && doublestar.MatchUnvalidated(p.glob, folded)
}

// inside says whether path lies below dir.
func inside(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == '/' && strings.HasPrefix(path, dir)
}

// Overlaps says whether the two could own one path, or one a path below a path of the other, since a file and a directory of
// one name cannot be joined. It names a pair of entries that could. It errs on the side of yes: two globs overlap when their
// literal beginnings agree, and ** reaches everything.
func (o Ownership) Overlaps(other Ownership) (string, bool) {
	for _, p := range o.patterns {
		for _, q := range other.patterns {
			if p.overlaps(q) {
				return fmt.Sprintf("%s and %s", p.source, q.source), true
			}
		}
	}
	return "", false
}

func (p pattern) overlaps(q pattern) bool {
	if p.glob != "" && q.glob == "" {
		p, q = q, p
	}
	switch {
	case q.glob == "":
		return p.text == q.text || inside(p.text, q.text) || inside(q.text, p.text)
	case p.glob != "":
		return strings.HasPrefix(q.beginning(), p.beginning()) || strings.HasPrefix(p.beginning(), q.beginning())
	}
	return q.containsAbove(p.text) || q.reachesBelow(p.text)
}

// containsAbove says whether the path or a directory that it lies in is owned.
func (p pattern) containsAbove(path string) bool {
	for i := range len(path) {
		if path[i] == '/' && p.contains(path[:i]) {
			return true
		}
	}
	return p.contains(path)
}

// reachesBelow says whether a glob could own something below the path: whether it has more segments than the path, and those
// match. What cannot be decided segment by segment is a yes: **, and braces or brackets with a slash between them, whose
// halves are no globs.
func (p pattern) reachesBelow(path string) bool {
	segments := strings.Split(p.glob, "/")
	for _, s := range segments {
		if !doublestar.ValidatePattern(s) {
			return true
		}
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(segments) == 0 {
			return false
		}
		if strings.Contains(segments[0], "**") {
			return true
		}
		if !doublestar.MatchUnvalidated(segments[0], name) {
			return false
		}
		segments = segments[1:]
	}
	return len(segments) > 0
}

// beginning is what every path that the glob owns begins with.
func (p pattern) beginning() string { return p.glob[:strings.IndexAny(p.glob, wildcards)] }
