package git

import (
	"context"
	"strings"
)

// URLs are where fetches from and pushes to a remote go, as git rewrites them.
func (u *User) URLs(ctx context.Context, remote string) ([]string, error) {
	var urls []string
	for _, flags := range [][]string{{"--all"}, {"--all", "--push"}} {
		out, err := u.run(ctx, append(append([]string{"remote", "get-url"}, flags...), "--", remote)...)
		if err != nil {
			return nil, err
		}
		urls = append(urls, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")...)
	}
	return urls, nil
}

// RemoteDefaults are the names of the branches that are the default of a remote, as far as they were fetched.
func (u *User) RemoteDefaults(ctx context.Context) ([]string, error) {
	out, err := u.text(ctx, "for-each-ref", "--format=%(refname) %(symref)", "refs/remotes/")
	if err != nil {
		return nil, err
	}
	var names []string
	for row := range strings.Lines(out) {
		ref, target, _ := strings.Cut(strings.TrimSpace(row), " ")
		remote, isHead := strings.CutSuffix(ref, "HEAD")
		if name, ok := strings.CutPrefix(target, remote); isHead && ok {
			names = append(names, name)
		}
	}
	return names, nil
}
