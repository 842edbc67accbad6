package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Guarded is a digest of what git runs or obeys in the user's repository: configuration and hooks. Without confinement an agent could
// change them; a digest before and after tells.
func (u *User) Guarded(ctx context.Context) (string, error) {
	h := sha256.New()
	hooks, err := u.text(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return "", err
	}
	settings, err := u.settings(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%q\n", settings)
	for _, root := range []string{filepath.Join(u.Common, "info", "attributes"), hooks} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				return nil // a link to nowhere runs nothing
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%s %v %d\n", path, info.Mode(), len(data))
			h.Write(data)
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", root, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// settings are the user's git settings from every file, sorted, without those of branches: people make and switch branches while
// agents work, and nothing there is run.
func (u *User) settings(ctx context.Context) ([]string, error) {
	out, err := u.run(ctx, "config", "--list", "--includes", "-z")
	if err != nil {
		return nil, err
	}
	rows := slices.DeleteFunc(splitZ(out), func(row string) bool { return strings.HasPrefix(row, "branch.") })
	slices.Sort(rows)
	return rows, nil
}
