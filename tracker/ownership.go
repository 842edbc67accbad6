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
		p.glob += "/**"
	}
	if !doublestar.ValidatePattern(p.glob) {
		return pattern{}, errors.New("is not a valid glob")
	}
	return p, nil
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

// Overlaps says whether the two could own one path, and names a pair of entries that could. It errs on the side of yes: two
// globs overlap when their literal beginnings agree, and a path overlaps what lies below it, since a file and a directory
// of one name cannot be joined.
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
	case p.dir:
		return strings.HasPrefix(q.beginning(), p.text+"/") || strings.HasPrefix(p.text+"/", q.beginning())
	}
	return q.contains(p.text) || inside(q.beginning(), p.text)
}

// beginning is what every path that the glob owns begins with.
func (p pattern) beginning() string { return p.glob[:strings.IndexAny(p.glob, wildcards)] }
