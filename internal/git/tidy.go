package git

import (
	"context"
	"strings"
)

// Refs are the names of the refs below a prefix.
func (e *Engine) Refs(ctx context.Context, prefix string) ([]string, error) {
	out, err := e.run(ctx, "for-each-ref", "--format=%(refname)", prefix)
	return strings.Fields(string(out)), err
}

// DeleteRefs removes refs, all or none.
func (e *Engine) DeleteRefs(ctx context.Context, refs []string) error {
	var in strings.Builder
	for _, ref := range refs {
		in.WriteString("delete " + ref + "\n")
	}
	_, err := e.input(ctx, []byte(in.String()), "update-ref", "--stdin")
	return err
}

// Collect removes every object that no ref reaches, and packs the others. Nobody else may use the repository meanwhile.
func (e *Engine) Collect(ctx context.Context) error {
	_, err := e.run(ctx, "gc", "--quiet", "--prune=now")
	return err
}
