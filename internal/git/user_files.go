package git

import (
	"context"
	"path/filepath"
)

// Files are the files of the work tree below a folder of it that git has in the index or would add: all but those that are ignored.
// A repository within is one name, that of its folder. Names are slash-separated and relative to the root; some may be gone from disk.
func (u *User) Files(ctx context.Context, folder string) ([]string, error) {
	if folder == "" {
		folder = "."
	}
	out, err := u.program.run(ctx, call{env: u.env("GIT_WORK_TREE=" + u.Root), dir: u.Root,
		args: []string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "--literal-pathspecs",
			"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--full-name", "--", filepath.ToSlash(folder)}})
	return splitZ(out), err
}
