package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxHashed bounds the files that are hashed, in bytes.
const maxHashed = 1 << 30

// Files resolves the kind File. A reference is a slash-separated path below Root, and after it, if the content matters, "#sha256=" with 64
// digits of lower-case hex: "dist/notes.md#sha256=9f86…". It holds where a regular file is there, reached through no symbolic link, and has
// that hash. A file above 1 GiB is not hashed: nobody could look.
type Files struct {
	Root string // folder; nothing outside of it is looked at
}

// Resolve implements Resolver.
func (f Files) Resolve(ctx context.Context, ref string) error {
	name, want, hashed := cutLast(ref, "#sha256=")
	if !fs.ValidPath(name) || name == "." || !filepath.IsLocal(name) { // the last is about what Windows makes of names
		return missing("is not a path below the root")
	}
	if hashed && !isSHA256(want) {
		return missing("does not name a hash of 64 digits of lower-case hex")
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := plainWay(root, name); err != nil {
		return err
	}
	file, err := hold(root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return missing("there is no such file")
	}
	if errors.Is(err, errNotRegular) {
		return missing("%v", err)
	}
	if err != nil {
		return err
	}
	defer file.close()
	if !hashed {
		return nil
	}
	sum, err := file.hash(ctx, maxHashed)
	if err == nil {
		err = file.unchanged()
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if sum != want {
		return missing("has hash %s", sum)
	}
	return nil
}

// plainWay checks that the folders on the way to a file are folders and no links.
func plainWay(root *os.Root, name string) error {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if errors.Is(err, fs.ErrNotExist) {
			return missing("there is no such file")
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return missing("%s is not a folder", name[:i])
		}
	}
	return nil
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
