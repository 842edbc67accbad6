package scan

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aesop/internal/git"
)

// fileAt is the file of a commit, without which it has no rules and no exemptions.
func (r *run) fileAt(ctx context.Context, commit git.SHA) (file, error) {
	entry, ok, err := r.objects.Find(ctx, commit, FileName)
	if err != nil || !ok {
		return file{}, err
	}
	return r.fileIn(entry, git.Short(commit)+":"+FileName)
}

// fileIn is the file that an entry of a tree or index holds.
func (r *run) fileIn(entry git.Entry, name string) (file, error) {
	if !strings.HasPrefix(entry.Mode, "100") {
		return file{}, &Error{Code: "unreadable", Message: name + " is no regular file"}
	}
	object, err := r.objects.Object(entry.Blob)
	if err != nil {
		return file{}, err
	}
	text, err := io.ReadAll(object)
	if err != nil {
		return file{}, err
	}
	return parseFile(name, text)
}

// fileOnDisk is the file at the root of a work tree.
func fileOnDisk(root string) (file, error) {
	path := filepath.Join(root, FileName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err == nil && !info.Mode().IsRegular() { // as in a commit
		return file{}, &Error{Code: "unreadable", Message: FileName + " is no regular file"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	return parseFile(FileName, text)
}

// indexFiles are the aesop-scan.json that an index holds: more than one in a conflict, an empty one where it holds none.
func (r *run) indexFiles(entries []git.Entry) ([]file, error) {
	var files []file
	for _, e := range entries {
		if e.Path == FileName {
			f, err := r.fileIn(e, "index:"+FileName)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	if files == nil {
		files = []file{{}}
	}
	return files, nil
}

// filesAt are the aesop-scan.json of the commits that the ids are or are tags of. Trees and blobs have none.
func (r *run) filesAt(ctx context.Context, ids ...git.SHA) ([]file, error) {
	var files []file
	commits, err := r.here(ids...)
	for _, commit := range commits {
		f, failed := r.fileAt(ctx, commit)
		files, err = append(files, f), errors.Join(err, failed)
	}
	return files, err
}
