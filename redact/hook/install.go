package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aesop/internal/git"
)

// Name is the file of the hook.
const Name = "pre-push"

// Change says what Install did.
type Change string

// Changes.
const (
	Made      Change = "installed"
	Renewed   Change = "updated" // there was one that Install had made
	Unchanged Change = "unchanged"
)

// Installed is a hook that is in place.
type Installed struct {
	Path     string
	Change   Change
	Settings Settings
}

// Install puts the hook where git looks for it in the repository of dir: for all its work trees, or where core.hooksPath says. It replaces
// nothing but a hook that it made itself and that nobody changed, and follows no symbolic link: *Error. Of such a hook State and Protect
// stay where s has none.
func Install(ctx context.Context, dir string, s Settings) (Installed, error) {
	place, err := open(ctx, dir)
	if err != nil {
		return Installed{}, err
	}
	if err := checkProtect(s.Protect); err != nil {
		return Installed{}, err
	}
	if s.SHA256, err = checkBinary(s.Binary); err != nil {
		return Installed{}, err
	}
	if place.Holds(s.Binary) && !place.Bare {
		return Installed{}, &Error{Code: "binary", Message: fmt.Sprintf("%s lies in the repository, where a branch can change what judges it", s.Binary),
			Hint: "build it into a folder outside"}
	}
	folder, err := place.Hooks(ctx)
	if err != nil {
		return Installed{}, err
	}
	if inWorkTree(place, folder) {
		return Installed{}, &Error{Code: "hooks_in_work_tree", Message: fmt.Sprintf("core.hooksPath is %s, in the work tree, where a branch can bring another hook", folder),
			Hint: "git config --unset core.hooksPath, or name a folder outside"}
	}
	s.keep(folder)
	if s.State != "" && place.Holds(s.State) {
		return Installed{}, &Error{Code: "state_inside", Message: fmt.Sprintf("the state folder %s lies in the repository, where a branch could bring approvals", s.State),
			Hint: "name one outside of it"}
	}
	text, err := s.script()
	if err != nil {
		return Installed{}, err
	}
	change, err := put(folder, text)
	path := filepath.Join(folder, Name)
	if err == nil && !executable(path) {
		err = &Error{Code: "not_executable", Message: fmt.Sprintf("no program can run from %s, so git would pass the hook by", folder),
			Hint: "name a folder on another file system in core.hooksPath"}
	}
	return Installed{path, change, s}, err
}

// keep takes from the hook that is there what is not said anew.
func (s *Settings) keep(folder string) {
	text, _, err := found(folder)
	there := parse(text)
	if err != nil || !there.ours || !there.same {
		return // put says what is in the way
	}
	if s.State == "" {
		s.State = there.settings.State
	}
	if s.Protect == nil {
		s.Protect = there.settings.Protect
	}
}

// inWorkTree says whether a folder is one that commits can have files in.
func inWorkTree(place *git.User, folder string) bool {
	in := func(base string) bool {
		path, err := filepath.Rel(base, folder)
		return err == nil && filepath.IsLocal(path)
	}
	return !place.Bare && in(place.Root) && !in(place.Common)
}

// checkBinary gives the hash of a program that can be called in later times too.
func checkBinary(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", &Error{Code: "binary", Message: fmt.Sprintf("the path of the program, %q, is not absolute", path)}
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "", &Error{Code: "binary", Message: fmt.Sprintf("%s is gone when go run ends", path), Hint: "build or install the program first"}
	}
	return hashBinary(path)
}

func hashBinary(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", &Error{Code: "binary", Message: fmt.Sprintf("the program that the hook calls: %v", err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || !executable(path) {
		return "", &Error{Code: "binary", Message: fmt.Sprintf("%s is not a program", path)}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read the program that the hook calls: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// put makes the script the hook in folder.
func put(folder, text string) (Change, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		if _, linked := os.Readlink(folder); linked != nil {
			return "", fmt.Errorf("folder of hooks: %w", err)
		}
	}
	root, err := openFolder(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	path := filepath.Join(folder, Name)
	there, _, err := look(root)
	if errors.Is(err, fs.ErrNotExist) {
		return Made, replaceFile(root, Name, text, 0o755, true)
	}
	if err != nil {
		return "", err
	}
	found := parse(there)
	switch {
	case there == text && executable(path):
		return Unchanged, nil
	case !found.ours:
		return "", &Error{Code: "foreign_hook", Message: fmt.Sprintf("%s is there already, and not from here", path),
			Hint: "move it away, or let it call this program's hook itself, with its arguments and its standard input, and refuse what that refuses"}
	case !found.intact:
		return "", &Error{Code: "changed_hook", Message: fmt.Sprintf("%s was edited since it was installed", path),
			Hint: "move it away"}
	}
	return Renewed, replaceFile(root, Name, text, 0o755, false)
}

// openFolder opens a folder that is no symbolic link.
func openFolder(folder string) (*os.Root, error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return nil, fmt.Errorf("folder of hooks: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, &Error{Code: "symlink", Message: fmt.Sprintf("the folder of hooks, %s, is a symbolic link", folder),
			Hint: "name in core.hooksPath where it leads"}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("folder of hooks: %w", err)
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(fmt.Errorf("the folder of hooks, %s, changed while it was opened", folder), err, root.Close())
	}
	return root, nil
}

// look reads the hook in a folder, which is to be a file.
func look(root *os.Root) (text string, info fs.FileInfo, err error) {
	info, err = root.Lstat(Name)
	if err != nil {
		return "", nil, fmt.Errorf("hook: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return "", nil, &Error{Code: "symlink", Message: fmt.Sprintf("the hook %s is a symbolic link", filepath.Join(root.Name(), Name)), Hint: "remove it"}
	}
	if !info.Mode().IsRegular() {
		return "", nil, &Error{Code: "not_a_file", Message: fmt.Sprintf("the hook %s is not a file", filepath.Join(root.Name(), Name)), Hint: "remove it"}
	}
	data, err := root.ReadFile(Name)
	return string(data), info, err
}
