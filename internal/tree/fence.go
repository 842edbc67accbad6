package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"aesop/internal/git"
	"aesop/tracker"
)

// What a Violation can be.
const (
	OutsideOwned   = "outside_owned"
	GitDirectory   = "git_directory"
	Submodule      = "submodule"
	NotAFile       = "not_a_file"
	HardLink       = "hard_link"
	Twin           = "twin"
	SymlinkEscapes = "symlink_escapes"
	FolderLink     = "folder_link" // a symlink in the place of a folder
	InvalidName    = "invalid_name"
	TooLarge       = "too_large"
	Unreadable     = "unreadable"
)

// Violation is one path that may not become part of a commit.
type Violation struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
}

func (v Violation) String() string {
	if v.Detail == "" {
		return fmt.Sprintf("%s (%s)", v.Path, v.Kind)
	}
	return fmt.Sprintf("%s (%s: %s)", v.Path, v.Kind, v.Detail)
}

// Found is what a folder has that its commit has not.
type Found struct {
	Changes    []git.Change // with the very bytes that were read
	Violations []Violation  // every reason why something may not be committed
	Ignored    []string     // new files and folders that are left out, not read and no violation
}

// Fence compares the folder dir with the files of the commit that was checked out there. New paths that ignored says yes to are left
// out, owned or not, unless owns names them in so many words; what the commit has is never left out. ignored may be nil.
func Fence(ctx context.Context, dir string, base []git.Entry, owns tracker.Ownership, ignored func(path string, folder bool) (bool, error)) (Found, error) {
	leave := ignored
	if ignored != nil {
		leave = func(path string, folder bool) (bool, error) {
			if owns.Names(path, folder) {
				return false, nil
			}
			return ignored(path, folder)
		}
	}
	differing, left, err := scan(ctx, dir, base, leave)
	if err != nil {
		return Found{}, err
	}
	var changes []git.Change
	var violations []Violation
	for _, f := range differing {
		name := f.change.Path
		badName := tracker.CheckPath(name)
		switch {
		case f.issue != "":
			violations = append(violations, Violation{name, f.issue, f.detail})
		case badName != nil:
			violations = append(violations, Violation{name, InvalidName, badName.Error()})
		case !owns.Contains(name):
			violations = append(violations, Violation{Path: name, Kind: OutsideOwned})
		default:
			changes = append(changes, f.change)
		}
	}
	return Found{changes, append(violations, Twins(base, changes)...), left}, nil
}

// Twins finds changed paths that some file system would take for another path of the same tree. Twins that the base has are no
// concern of the change.
func Twins(base []git.Entry, changes []git.Change) []Violation {
	owner := make(map[string]string, len(base)+len(changes)) // folded path or folder to its spelling
	spelled := make(map[string]bool, len(base))              // paths and folders of the base that stay
	removed := make(map[string]bool)
	for _, c := range changes {
		if c.Mode == "" {
			removed[c.Path] = true
		}
	}
	var violations []Violation
	add := func(name string, report bool) {
		for i := range len(name) + 1 {
			if i < len(name) && name[i] != '/' {
				continue
			}
			part := name[:i]
			if spelled[part] {
				continue
			}
			folded := tracker.FoldPath(part)
			if other, taken := owner[folded]; report && taken && other != part {
				violations = append(violations, Violation{name, Twin, "of " + other})
				return
			}
			owner[folded] = part
			spelled[part] = !report
		}
	}
	for _, e := range base {
		if !removed[e.Path] {
			add(e.Path, false)
		}
	}
	for _, c := range changes {
		if c.Mode != "" {
			add(c.Path, true)
		}
	}
	return violations
}

// Modified lists the files of base that differ in dir, sorted: what a test run changed of what it was given. Files that are
// new in dir are no concern here.
func Modified(ctx context.Context, dir string, base []git.Entry) ([]string, error) {
	differing, _, err := scan(ctx, dir, base, nil)
	if err != nil {
		return nil, err
	}
	tracked := make(map[string]bool, len(base))
	for _, e := range base {
		tracked[e.Path] = true
	}
	var names []string
	for _, f := range differing {
		if tracked[f.change.Path] {
			names = append(names, f.change.Path)
		}
	}
	return names, nil
}

// Digest stands for a list of changes: equal digests mean equal paths, modes and contents, whether the contents are given as
// data or by id. like gives the hash that ids are made with.
func Digest(changes []git.Change, like git.SHA) string {
	lines := make([]string, len(changes))
	for i, c := range changes {
		blob := c.Blob
		if c.Mode != "" && blob == "" {
			blob = hashBlob(like, c.Data)
		}
		lines[i] = fmt.Sprintf("%d:%s %s %s", len(c.Path), c.Path, c.Mode, blob)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
