package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aesop/internal/git"
)

// Staged scans what the index has and the commit that is checked out has not: what the next commit adds.
func (s *Scanner) Staged(ctx context.Context) (*Result, error) {
	return s.scan(ctx, "staged", false, func(r *run) error {
		entries, err := r.objects.Index(ctx, r.Index)
		if err != nil {
			return err
		}
		own, err := r.indexFiles(entries)
		if err != nil {
			return err
		}
		if err := r.govern(ctx, own...); err != nil {
			return err
		}
		committed := map[string]git.SHA{}
		head, err := r.here("HEAD")
		if err != nil {
			return err
		}
		for _, commit := range head { // none before the first commit
			tree, err := r.objects.Tree(ctx, commit)
			if err != nil {
				return err
			}
			for _, e := range tree {
				committed[e.Path] = e.Blob
			}
		}
		for _, e := range entries {
			if committed[e.Path] == e.Blob {
				continue
			}
			if err := r.entry("", e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Range scans everything that the commits of A..B add, the texts of the commits, and that of B where B is an annotated tag. A side that is
// left out is HEAD.
func (s *Scanner) Range(ctx context.Context, revisions string) (*Result, error) {
	return s.scan(ctx, "range", false, func(r *run) error {
		from, to, ok := strings.Cut(revisions, "..")
		if !ok || strings.HasPrefix(to, ".") {
			return &Error{Code: "usage", Message: fmt.Sprintf("%q is no range", revisions), Hint: "write it as A..B"}
		}
		base, err := r.resolve(revisions, from, "^{commit}")
		if err != nil {
			return err
		}
		end, err := r.resolve(revisions, to, "")
		if err != nil {
			return err
		}
		if _, err := r.resolve(revisions, to, "^{commit}"); err != nil {
			return err
		}
		return r.between(ctx, to, end, base)
	})
}

// resolve is the object of one side of a range.
func (r *run) resolve(revisions, side, as string) (git.SHA, error) {
	if side == "" {
		side = "HEAD"
	}
	object, err := r.objects.Object(side + as)
	if errors.Is(err, git.ErrAbsent) {
		return "", &Error{Code: "unresolved", Message: fmt.Sprintf("the range %s cannot be resolved: there is no commit %s", revisions, side),
			Hint: "look at its spelling; a shallow clone leaves old commits out, so fetch the whole history there", Err: err}
	}
	return object.ID, err
}

// between scans what end adds to base, by the protected branch.
func (r *run) between(ctx context.Context, name string, end, base git.SHA) error {
	own, err := r.filesAt(ctx, end)
	if err != nil {
		return err
	}
	if err := r.govern(ctx, own...); err != nil {
		return err
	}
	tip, err := r.tip(ctx, name, end)
	if err != nil {
		return err
	}
	return r.commits(ctx, []git.SHA{tip}, []git.SHA{base})
}

// History scans everything that any ref reaches, and HEAD.
func (s *Scanner) History(ctx context.Context) (*Result, error) {
	return s.scan(ctx, "history", false, func(r *run) error {
		own, err := r.filesAt(ctx, "HEAD")
		if err != nil {
			return err
		}
		if err := r.govern(ctx, own...); err != nil {
			return err
		}
		tips, err := r.here("HEAD")
		if err != nil {
			return err
		}
		refs, err := r.objects.Refs(ctx, "")
		if err != nil {
			return err
		}
		for _, ref := range refs {
			if err := r.name(InRef, ref.Name, ""); err != nil {
				return err
			}
			commit, err := r.tip(ctx, ref.Name, ref.ID)
			if err != nil {
				return fmt.Errorf("%s: %w", r.shown(ref.Name), err)
			}
			if commit != "" {
				tips = append(tips, commit)
			}
		}
		return r.commits(ctx, tips, nil)
	})
}

// Added scans everything that commit adds to base, which is a commit too, or "". Rules and exemptions are those of base: no branch of a
// remote is looked at, so it works in any bare repository.
func (s *Scanner) Added(ctx context.Context, base, commit string) (*Result, error) {
	return s.scan(ctx, "added", false, func(r *run) error {
		named := []git.SHA{commit}
		if base != "" {
			named = append(named, base)
		}
		known, err := r.here(named...)
		if err != nil {
			return err
		}
		if len(known) < len(named) {
			return &Error{Code: "unresolved", Message: fmt.Sprintf("what %q adds to %q cannot be told: not both are commits here", commit, base)}
		}
		own, err := r.filesAt(ctx, commit)
		if err != nil {
			return err
		}
		if err := r.governBy(ctx, base, own...); err != nil {
			return err
		}
		return r.commits(ctx, known[:1], known[1:])
	})
}
