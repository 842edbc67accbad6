package git

import (
	"context"
	"strings"
)

// types are the types of objects in the repository of at, given one a line, with other words for what is missing.
func (p Program) types(ctx context.Context, at call, objects []byte) ([]string, error) {
	at.stdin, at.args = objects, []string{"cat-file", "--batch-check=%(objecttype)"}
	out, err := p.run(ctx, at)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
}

// brokenRefs are the refs in the repository of at whose objects are missing. Git fails on all refs for one such.
func (p Program) brokenRefs(ctx context.Context, at call) ([]string, error) {
	at.args = []string{"for-each-ref", "--format=%(objectname) %(refname)"}
	out, err := p.run(ctx, at)
	if err != nil {
		return nil, err
	}
	var names []string
	var objects strings.Builder
	for row := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		names = append(names, name)
		objects.WriteString(id + "\n")
	}
	types, err := p.types(ctx, at, []byte(objects.String()))
	if err != nil {
		return nil, err
	}
	var broken []string
	for i, name := range names {
		if i < len(types) && strings.HasSuffix(types[i], " missing") {
			broken = append(broken, name)
		}
	}
	return broken, nil
}
