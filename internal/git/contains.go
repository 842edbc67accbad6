package git

import (
	"context"
	"slices"
)

// Contains says whether the work of a commit is in base: the commit is an ancestor, or base has, at every path that the commit changed
// against its first parent, just what the commit left there, as after a merge by squash or rebase. A commit that is not here, or is
// no longer known, is not contained.
func (e *Engine) Contains(ctx context.Context, base, commit SHA) (bool, error) {
	if in, err := e.IsAncestor(ctx, commit, base); err != nil || in {
		return in, err
	}
	if has, err := e.Has(ctx, commit); err != nil || !has {
		return false, err
	}
	parents, err := e.Parents(ctx, commit)
	if err != nil || len(parents) == 0 {
		return false, err
	}
	changes, err := e.Changed(ctx, parents[0], commit)
	if err != nil {
		return false, err
	}
	entries, err := e.List(ctx, base)
	if err != nil {
		return false, err
	}
	at := make(map[string]Entry, len(entries))
	for _, entry := range entries {
		at[entry.Path] = entry
	}
	return len(changes) > 0 && !slices.ContainsFunc(changes, func(c Change) bool {
		return at[c.Path].Mode != c.Mode || at[c.Path].Blob != c.Blob
	}), nil
}
