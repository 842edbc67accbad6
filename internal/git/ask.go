package git

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
)

// AskRef asks a remote what one ref holds, by the ref's full name; "" where the remote has none. The remote is a name or URL
// as the repository of dir understands it; where dir is in no repository, only URLs can be asked.
func (p Program) AskRef(ctx context.Context, dir, remote, ref string) (SHA, error) {
	user, err := p.OpenUser(ctx, dir)
	if errors.Is(err, ErrNotRepository) {
		user, err = &User{program: p, Root: dir}, nil
	}
	if err != nil {
		return "", err
	}
	asked := &Remote{user: user, Name: remote, Mark: "aesop-ask-" + rand.Text()}
	out, err := asked.talk(ctx, nil, "ls-remote", "--", remote, ref)
	if err != nil {
		return "", err
	}
	for row := range strings.Lines(string(out)) { // also refs that only end like this one
		if sha, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t"); name == ref {
			return sha, nil
		}
	}
	return "", nil
}
