package tree

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"aesop/internal/git"
	"aesop/tracker"
)

// link is one symlink of the folder.
type link struct {
	name, target string
	changed      bool // against the base
}

// maxHops is how many links one path may lead through, as many as Linux follows.
const maxHops = 40

// link reads one symlink. Whether it may stay as it is, is judged when all are known.
func (s *scanner) link(name string, entry git.Entry) error {
	target, err := s.root.Readlink(name)
	if err != nil {
		return s.unreadable(name, err)
	}
	s.seen[name] = true
	data := []byte(target)
	changed := entry.Mode != symlink || hashBlob(entry.Blob, data) != entry.Blob
	s.links = append(s.links, link{name, target, changed})
	if changed {
		s.found = append(s.found, found{change: git.Change{Path: name, Mode: symlink, Data: data}})
	}
	return nil
}

// judgeLinks refuses the changed links that lead, by themselves or with others, to where no file of the tree is. The rules:
//   - A target is relative, every ".." in it stands at its beginning, and what it names could be paths of the tree. A chain of such
//     links cannot leave the tree, whatever a later merge puts beside them.
//   - Followed through all links of the folder it stays in the tree, outside of .git. So must the links of the base that lead
//     through a changed one.
//   - A link does not take the place of a folder of the base, whoever owns its files: paths of others would lead elsewhere.
func (s *scanner) judgeLinks(ctx context.Context) error {
	if !slices.ContainsFunc(s.links, func(l link) bool { return l.changed }) {
		return nil
	}
	all := make(map[string]link, len(s.links)) // by the form in which file systems compare
	for _, l := range s.links {
		all[tracker.FoldPath(l.name)] = l
	}
	folders, issues := s.baseFolders, make(map[string]found)
	blame := func(name, issue, detail string) {
		if _, ok := issues[name]; !ok {
			issues[name] = found{issue: issue, detail: detail}
		}
	}
	for _, l := range s.links {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		through, reason := follow(all, l)
		if l.changed && reason == "" {
			through, reason = l.name, refusedTarget(l.target)
		}
		if through != "" && reason != "" {
			blame(through, SymlinkEscapes, fmt.Sprintf("%s points to %q, which %s", l.name, l.target, reason))
		}
		if l.changed && folders[l.name] {
			blame(l.name, FolderLink, "a link in the place of a folder")
		}
	}
	for i := range s.found {
		f := &s.found[i]
		if issue, ok := issues[f.change.Path]; ok {
			f.issue, f.detail = issue.issue, issue.detail
		}
	}
	return nil
}

// refusedTarget says what is wrong with a target by its letter, or "".
func refusedTarget(target string) string {
	down := false
	for segment := range strings.SplitSeq(target, "/") {
		switch {
		case segment == "." || segment == "":
		case segment == "..":
			if down {
				return `has ".." after a name`
			}
		default:
			down = true
			if err := tracker.CheckPath(segment); err != nil {
				return err.Error()
			}
		}
	}
	if target == "" || path.IsAbs(target) {
		return "is not relative"
	}
	return ""
}

// follow walks to where a link leads. It returns why that is no place of the tree, or "", and the changed link that is to blame:
// the link itself, or else the last one on the way.
func follow(all map[string]link, l link) (through, reason string) {
	var at []string // where the walk is, free of links
	if dir := path.Dir(l.name); dir != "." {
		at = strings.Split(dir, "/")
	}
	var ahead []string // what is still to walk, reversed
	itself := l.changed
	for range maxHops {
		if l.changed && (through == "" || !itself) {
			through = l.name
		}
		if path.IsAbs(l.target) {
			return through, "leaves the tree"
		}
		segments := strings.Split(l.target, "/")
		slices.Reverse(segments)
		ahead = append(ahead, segments...)
		var met bool
		if l, met, reason = step(all, &at, &ahead); !met {
			return through, reason
		}
	}
	return through, "leads through more than " + strconv.Itoa(maxHops) + " links"
}

// step walks up to the next link, or else to the end or to where the walk must not go on.
func step(all map[string]link, at, ahead *[]string) (next link, met bool, reason string) {
	for len(*ahead) > 0 {
		last := len(*ahead) - 1
		segment := (*ahead)[last]
		*ahead = (*ahead)[:last]
		switch {
		case segment == "" || segment == ".":
		case segment == ".." && len(*at) == 0:
			return link{}, false, "leaves the tree"
		case segment == "..":
			*at = (*at)[:len(*at)-1]
		case strings.EqualFold(segment, ".git"):
			return link{}, false, "leads into .git"
		default:
			here := append(*at, segment)
			if next, met = all[tracker.FoldPath(strings.Join(here, "/"))]; met {
				return next, true, "" // its target begins in the folder that it is in
			}
			*at = here
		}
	}
	return link{}, false, ""
}
