package scan

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"aesop/internal/git"
)

// commits scans the commits that tips reach and not reaches not: their texts, and everything that they add.
func (r *run) commits(ctx context.Context, tips, not []git.SHA) error {
	all, err := r.objects.Commits(ctx, tips, not)
	if err != nil {
		return err
	}
	return r.each(ctx, all)
}

// each scans given commits, each once in a run.
func (r *run) each(ctx context.Context, commits []git.SHA) error {
	var fresh []git.SHA
	for _, id := range commits {
		if !r.visited[id] {
			r.visited[id] = true
			fresh = append(fresh, id)
		}
	}
	r.progress.OfCommits += len(fresh)
	for _, id := range fresh {
		object, err := r.objects.Object(id)
		if err != nil {
			return err
		}
		if _, err := r.signed(object); err != nil {
			return err
		}
		r.result.Counts.Commits++
	}
	last := git.SHA("")
	return r.objects.Added(ctx, fresh, func(commit git.SHA, e git.Entry) error {
		if commit != last {
			last = commit
			r.progress.Commits++
			r.tell()
		}
		return r.entry(commit, e)
	})
}

func (r *run) tell() {
	if r.Progress != nil {
		r.progress.Blobs = r.result.Counts.Blobs
		r.Progress(r.progress)
	}
}

// entry scans one entry of a tree or index: its name and its content, which for a symbolic link is its target.
func (r *run) entry(commit git.SHA, e git.Entry) error {
	if err := r.name(InName, e.Path, commit); err != nil {
		return err
	}
	if e.Mode == "160000" {
		return nil // the commit of another repository
	}
	c, seen := r.blobs[e.Blob]
	if !seen {
		object, err := r.objects.Object(e.Blob)
		if err != nil {
			return fmt.Errorf("%s: %w", r.shown(e.Path), err)
		}
		if c, err = r.content(object, object.Size); err != nil {
			return err
		}
		r.blobs[e.Blob] = c
		if r.result.Counts.Blobs%1000 == 0 {
			r.tell()
		}
	}
	r.found(c, e.Path, commit)
	return nil
}

// content reads one content. What is of no interest is nil.
func (r *run) content(from io.Reader, want int64) (*content, error) {
	c, size, err := r.inspect(from)
	if err != nil {
		return nil, err
	}
	if want >= 0 && size != want {
		return nil, fmt.Errorf("%d of %d bytes: %w", size, want, io.ErrUnexpectedEOF)
	}
	r.result.Counts.Blobs++
	r.result.Counts.Bytes += size
	if len(c.spots) == 0 && !c.public {
		return nil, nil
	}
	return c, nil
}

// found reports what is in a content at a path, once.
func (r *run) found(c *content, path, commit string) {
	if credentialName(path, c != nil && c.public) && !r.warned[path] {
		r.warned[path] = true
		r.warnOfName(path, commit)
	}
	if c == nil || c.at[path] {
		return
	}
	c.at[path] = true
	for _, s := range c.spots {
		r.report(Finding{Place: InContent, Path: path, Commit: commit, SHA256: c.sum}, s)
	}
}

// signed scans the text of a commit or tag, and returns the object that a tag is of.
func (r *run) signed(object git.Object) (of git.SHA, err error) {
	in := bufio.NewReader(object)
	var head bytes.Buffer
	var keys []string // of each line
	for {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		if line == "" || line == "\n" {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key == "" && len(keys) > 0 {
			key = keys[len(keys)-1] // it goes on
		}
		if key == "object" && of == "" {
			of = value
		}
		keys = append(keys, key)
		head.WriteString(line)
	}
	for _, part := range []struct {
		from   io.Reader
		header bool
	}{{&head, true}, {in, false}} {
		c, _, err := r.inspect(part.from)
		if err != nil {
			return "", err
		}
		for _, s := range c.spots {
			f := Finding{Place: InMessage, Commit: object.ID}
			if part.header {
				f.Place = header(keys[s.line-1])
			}
			r.report(f, s)
		}
	}
	return of, nil
}

// header is the place of what stands in a header. Whoever makes a commit can give one any name, also that of a secret.
func header(key string) Place {
	if strings.Contains(" author committer tagger tag encoding gpgsig mergetag ", " "+key+" ") {
		return Place(key)
	}
	return InHeader
}

// tip scans what a ref holds as far as that is no commit, and returns the commit; "" where there is none.
func (r *run) tip(ctx context.Context, name string, id git.SHA) (git.SHA, error) {
	for {
		object, err := r.objects.Object(id)
		if err != nil {
			return "", err
		}
		switch object.Type {
		case "commit":
			return object.ID, nil
		case "tag":
			if r.visited[object.ID] {
				id = object.ID + "^{}" // what it is of in the end
				continue
			}
			r.visited[object.ID] = true
			r.result.Counts.Tags++
			if id, err = r.signed(object); err != nil {
				return "", err
			}
		case "tree":
			entries, err := r.objects.Tree(ctx, object.ID)
			for _, e := range entries {
				err = errors.Join(err, r.entry("", e))
			}
			return "", err
		default:
			return "", r.entry("", git.Entry{Mode: "100644", Blob: object.ID, Path: name})
		}
	}
}
