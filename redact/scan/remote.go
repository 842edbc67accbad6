package scan

import (
	"context"
	"slices"
	"strings"

	"aesop/internal/git"
)

// tracking are the remote-tracking branches of a remote, by its name or URL; "" means any.
func (r *run) tracking(ctx context.Context, remote string) ([]git.SHA, error) {
	refs, err := r.objects.Refs(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	names, others, err := r.remotes(ctx, remote)
	if err != nil {
		return nil, err
	}
	var ids []git.SHA
	for _, ref := range refs {
		// Of the remotes origin and origin/fork, what begins with origin/fork/ is of the second.
		if mine := deepest(ref.Name, names); remote == "" || mine > 0 && mine >= deepest(ref.Name, others) {
			ids = append(ids, ref.ID)
		}
	}
	return ids, nil
}

// deepest is the length of the longest name of a remote that a remote-tracking branch can be of; 0: there is none.
func deepest(ref string, remotes []string) (longest int) {
	for _, name := range remotes {
		if strings.HasPrefix(ref, "refs/remotes/"+name+"/") {
			longest = max(longest, len(name))
		}
	}
	return longest
}

// remotes are the names that a remote goes by, its own, or those whose URL it is, and the names of all.
func (r *run) remotes(ctx context.Context, remote string) (names, all []string, err error) {
	if r.user == nil || remote == "" {
		return []string{remote}, nil, nil
	}
	all, err = r.user.Remotes(ctx)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(all, remote) {
		urls, err := r.user.URLs(ctx, remote)
		if err != nil || !onePlace(urls) {
			return nil, all, err
		}
		return []string{remote}, all, nil
	}
	for _, name := range all {
		urls, err := r.user.URLs(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(urls, remote) {
			names = append(names, name)
		}
	}
	return names, all, nil
}

// onePlace says whether a remote's URLs, which can be others for a push, lead to one repository: what was fetched from one says nothing
// about another. Schemes and users do not count.
func onePlace(urls []string) bool {
	for i, url := range urls {
		if _, after, found := strings.Cut(url, "://"); found {
			url = after
		} else if host, path, found := strings.Cut(url, ":"); found && !strings.Contains(host, "/") { // git@host:path
			url = host + "/" + path
		}
		host, path, _ := strings.Cut(url, "/")
		host = host[strings.LastIndex(host, "@")+1:]
		urls[i] = host + "/" + strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	}
	return len(slices.Compact(urls)) <= 1
}
