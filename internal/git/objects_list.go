package git

import (
	"context"
	"fmt"
	"strings"
)

// Ref is a ref and what it holds.
type Ref struct {
	Name string // full
	ID   SHA
}

// Refs are all refs below a prefix such as refs/remotes/; an empty one means all.
func (o *Objects) Refs(ctx context.Context, prefix string) ([]Ref, error) {
	out, err := o.run(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for row := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		if strings.HasPrefix(name, prefix) {
			refs = append(refs, Ref{name, id})
		}
	}
	return refs, nil
}

// Tree lists the files of a commit or tree.
func (o *Objects) Tree(ctx context.Context, id SHA) ([]Entry, error) {
	out, err := o.run(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	return readTree(out)
}

// Find is what a commit or tree has at a path; ok is false where that is nothing.
func (o *Objects) Find(ctx context.Context, id SHA, path string) (e Entry, ok bool, err error) {
	out, err := o.run(ctx, nil, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", id, "--", path)
	if err != nil {
		return e, false, err
	}
	entries, err := readTree(out)
	if err != nil || len(entries) != 1 {
		return e, false, err
	}
	return entries[0], true, nil
}

// Index lists an index, with every side of a conflict. file names it; "" is the repository's own.
func (o *Objects) Index(ctx context.Context, file string) ([]Entry, error) {
	cmd := o.command(ctx, "ls-files", "--stage", "-z", "--full-name")
	if file != "" {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "GIT_INDEX_FILE="+file)
	}
	out, err := o.program.run(ctx, call{env: cmd.Env, dir: cmd.Dir, args: cmd.Args[1:]})
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, row := range splitZ(out) {
		meta, path, ok := strings.Cut(row, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("git ls-files: cannot read %q", row)
		}
		entries = append(entries, Entry{Mode: fields[0], Blob: fields[1], Path: path})
	}
	return entries, nil
}
