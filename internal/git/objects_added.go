package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Commits are the commits that tips reach and not reaches not, parents before children. What of not is no commit here is passed over.
// The error can be ErrShallow.
func (o *Objects) Commits(ctx context.Context, tips, not []SHA) ([]SHA, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, id := range tips {
		in.WriteString(id + "\n")
	}
	for _, id := range not {
		known, err := o.Object(id + "^{commit}")
		if errors.Is(err, ErrAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		in.WriteString("^" + known.ID + "\n")
	}
	out, err := o.run(ctx, in.Bytes(), "rev-list", "--topo-order", "--reverse", "--stdin")
	if err != nil {
		return nil, err
	}
	commits := strings.Fields(string(out))
	for _, id := range commits {
		if o.shallow[id] {
			return nil, fmt.Errorf("commit %s: %w", Short(id), ErrShallow)
		}
	}
	return commits, nil
}

// Added calls visit for everything that each of the commits adds: what stands at a path and is not what any of its parents has there.
func (o *Objects) Added(ctx context.Context, commits []SHA, visit func(SHA, Entry) error) error {
	if len(commits) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := o.command(ctx, "diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-textconv", "--no-ext-diff")
	cmd.Stdin = strings.NewReader(strings.Join(commits, "\n") + "\n")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := visitAdded(bufio.NewReaderSize(out, 64<<10), visit)
	if failed != nil {
		cancel()
	}
	if err := cmd.Wait(); err != nil && failed == nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return readError("diff-tree", cmd.ProcessState.ExitCode(), said.Bytes(), err)
	}
	return failed
}

// visitAdded reads rows that end in NUL: a commit's id, and for each path of it the modes and ids, a colon for each parent before them,
// and then the path.
func visitAdded(in *bufio.Reader, visit func(SHA, Entry) error) error {
	commit := ""
	for {
		row, err := in.ReadString(0)
		if err == io.EOF && row == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("git diff-tree: %w", err)
		}
		row = strings.TrimSuffix(row, "\x00")
		if IsSHA(row) {
			commit = row
			continue
		}
		parents := len(row) - len(strings.TrimLeft(row, ":"))
		fields := strings.Fields(row[parents:])
		path, err := in.ReadString(0)
		if err != nil || parents == 0 || len(fields) != 2*parents+3 || commit == "" {
			return fmt.Errorf("git diff-tree: cannot read %q", row)
		}
		mode, id := fields[parents], fields[2*parents+1]
		if strings.Trim(mode, "0") == "" {
			continue // it is removed
		}
		if err := visit(commit, Entry{Mode: mode, Blob: id, Path: strings.TrimSuffix(path, "\x00")}); err != nil {
			return err
		}
	}
}
