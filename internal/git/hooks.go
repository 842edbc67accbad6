package git

import (
	"context"
	"path/filepath"
)

// Hooks is the folder in which git looks for hooks: that of all work trees, or the one that core.hooksPath names. It need not be there,
// and can be a symbolic link, which an absolute path of git's own would hide.
func (u *User) Hooks(ctx context.Context) (string, error) {
	path, err := u.text(ctx, "rev-parse", "--git-path", "hooks")
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(u.Root, path)
	}
	return path, err
}
