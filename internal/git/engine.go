package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aesop/internal/filelock"
)

// Engine is the engine's own bare repository for one repository of the user. Objects are added, never collected.
type Engine struct {
	program Program
	user    *User
	format  string // sha1 or sha256
	lock    string // file that serialises fetches, and what must not happen beside one
	Dir     string // absolute
}

// OpenEngine opens the engine's repository in dir, making it from the user's at first. Processes take turns by the given lock file.
func (p Program) OpenEngine(ctx context.Context, user *User, dir, lock string) (*Engine, error) {
	if strings.ContainsAny(dir, "\r\n") { // git's list of borrowed objects has one folder a line
		return nil, fmt.Errorf("engine repository: the path %q has a line break", dir)
	}
	e := &Engine{program: p, user: user, lock: lock, Dir: dir}
	unlock, err := filelock.Lock(ctx, lock)
	if err != nil {
		return nil, fmt.Errorf("engine repository: %w", err)
	}
	defer unlock()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	if err := e.writeTrust(); err != nil {
		return nil, fmt.Errorf("engine repository: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		e.format, err = p.objectFormat(ctx, dir)
		return e, err
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	// Built aside and renamed, so that a killed attempt leaves nothing that looks whole.
	aside := dir + ".new"
	if err := os.RemoveAll(aside); err != nil {
		return nil, err
	}
	if err := e.begin(ctx, aside); err != nil {
		return nil, fmt.Errorf("engine repository: %w", err)
	}
	if err := neutral(aside, "config", repositoryConfig(e.format, true)); err != nil {
		return nil, err
	}
	if err := neutral(filepath.Join(aside, "info"), "attributes", attributes); err != nil {
		return nil, err
	}
	return e, os.Rename(aside, dir)
}

// OpenBare opens an engine's repository that is there, to look at what it has and to tidy it up. It cannot Fetch.
func (p Program) OpenBare(ctx context.Context, dir string) (*Engine, error) {
	format, err := p.objectFormat(ctx, dir)
	return &Engine{program: p, Dir: dir, format: format}, err
}

// begin makes a bare repository in dir with what the user has.
func (e *Engine) begin(ctx context.Context, dir string) error {
	var err error
	if e.format, err = e.program.objectFormat(ctx, e.user.Common); err != nil {
		return err
	}
	if partial, err := e.user.partial(ctx); err != nil {
		return err
	} else if partial {
		_, err := e.program.run(ctx, call{env: neutralEnv(""), dir: filepath.Dir(dir),
			args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + e.format, dir}})
		return err // the objects come with each Fetch
	}
	// A clone by path links the files of the objects, and copies them across file systems. Objects that the user's repository
	// itself borrows must come along: its lender knows nothing of the engine.
	if err := e.readUser(ctx, "", "clone", "--quiet", "--bare", "--dissociate", "--template=", e.user.Common, dir); err != nil {
		return err
	}
	at := call{env: neutralEnv(dir), dir: dir}
	broken, err := e.program.brokenRefs(ctx, at)
	for _, ref := range broken { // every later fetch would fail on it
		at.args = []string{"update-ref", "-d", ref}
		if _, err := e.program.run(ctx, at); err != nil {
			return err
		}
	}
	return err
}

// attributes switches off every conversion, so that the bytes that are committed are the bytes that were tested.
const attributes = "* -text -eol -filter -ident -working-tree-encoding\n"

// repositoryConfig is the whole configuration of a repository that the engine makes.
func repositoryConfig(format string, bare bool) string {
	version, extension := 0, ""
	if format != "sha1" {
		version, extension = 1, "[extensions]\n\tobjectFormat = "+format+"\n"
	}
	return fmt.Sprintf("[core]\n\trepositoryFormatVersion = %d\n\tbare = %t\n\tlogAllRefUpdates = false\n\thooksPath = %s\n"+
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[fastimport]\n\tunpackLimit = 1000\n%s", version, bare, os.DevNull, extension)
}

func (p Program) objectFormat(ctx context.Context, gitDir string) (string, error) {
	out, err := p.run(ctx, call{env: neutralEnv(gitDir), dir: gitDir, args: []string{"rev-parse", "--show-object-format"}})
	return strings.TrimSpace(string(out)), err
}

func neutral(dir, name, text string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}

func (e *Engine) objects() string { return filepath.Join(e.Dir, "objects") }

func (e *Engine) run(ctx context.Context, args ...string) ([]byte, error) {
	return e.input(ctx, nil, args...)
}

func (e *Engine) input(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return e.program.run(ctx, call{env: neutralEnv(e.Dir), dir: e.Dir, stdin: stdin, args: args})
}

func (e *Engine) yes(ctx context.Context, args ...string) (bool, error) {
	_, err := e.run(ctx, args...)
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// Has says whether the commit is here.
func (e *Engine) Has(ctx context.Context, commit SHA) (bool, error) {
	if commit == "" {
		return false, nil
	}
	// For what is missing, the batch form answers in words; every failure of git itself stays one.
	out, err := e.input(ctx, []byte(commit+"\n"), "cat-file", "--batch-check=%(objecttype)")
	return strings.TrimSpace(string(out)) == "commit", err
}

// StaleLocks are the lock files of git in the engine's repository that are older than age. Whether their git still lives, only
// who knows all users of the repository can tell.
func (e *Engine) StaleLocks(now time.Time, age time.Duration) ([]string, error) {
	var stale []string
	err := filepath.WalkDir(e.Dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // others come and go
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".lock") {
			return err
		}
		if info, err := d.Info(); err == nil && now.Sub(info.ModTime()) > age {
			stale = append(stale, path)
		}
		return nil
	})
	return stale, err
}

// Pin makes ref point to commit, so that it is kept and found.
func (e *Engine) Pin(ctx context.Context, ref string, commit SHA) error {
	_, err := e.run(ctx, "update-ref", ref, commit)
	return err
}

// Ref is where ref points, or "".
func (e *Engine) Ref(ctx context.Context, ref string) (SHA, error) {
	out, err := e.run(ctx, "for-each-ref", "--format=%(objectname)", ref)
	return strings.TrimSpace(string(out)), err
}

// IsAncestor says whether old is reachable from tip. A commit that is not here is not reachable.
func (e *Engine) IsAncestor(ctx context.Context, old, tip SHA) (bool, error) {
	if has, err := e.Has(ctx, old); err != nil || !has {
		return false, err
	}
	return e.yes(ctx, "merge-base", "--is-ancestor", old, tip)
}

// TreeOf is the tree of a commit.
func (e *Engine) TreeOf(ctx context.Context, commit SHA) (SHA, error) {
	out, err := e.run(ctx, "rev-parse", "--verify", commit+"^{tree}")
	return strings.TrimSpace(string(out)), err
}

// Message is the text of a commit.
func (e *Engine) Message(ctx context.Context, commit SHA) (string, error) {
	out, err := e.run(ctx, "log", "-1", "--format=%B", commit, "--")
	return string(out), err
}

// Messages are the texts of the commits that tip reaches and base does not, by commit.
func (e *Engine) Messages(ctx context.Context, base, tip SHA) (map[SHA]string, error) {
	out, err := e.run(ctx, "log", "-z", "--format=%H%n%B", tip, "^"+base, "--")
	messages := map[SHA]string{}
	for _, row := range splitZ(out) {
		commit, text, _ := strings.Cut(row, "\n")
		messages[commit] = text
	}
	return messages, err
}

// Parents are the parents of a commit.
func (e *Engine) Parents(ctx context.Context, commit SHA) ([]SHA, error) {
	out, err := e.run(ctx, "log", "-1", "--format=%P", commit, "--")
	return strings.Fields(string(out)), err
}

// Entry is one file of a tree.
type Entry struct {
	Mode string // 100644, 100755, 120000, 160000
	Blob SHA
	Path string // slash-separated
}

// List lists the files of a commit in git's order.
func (e *Engine) List(ctx context.Context, commit SHA) ([]Entry, error) {
	out, err := e.run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	return readTree(out)
}

// readTree reads what git ls-tree -z prints.
func readTree(out []byte) ([]Entry, error) {
	rows := splitZ(out)
	entries := make([]Entry, 0, len(rows))
	for _, row := range rows {
		meta, path, _ := strings.Cut(row, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", row)
		}
		entries = append(entries, Entry{Mode: fields[0], Blob: fields[2], Path: path})
	}
	return entries, nil
}

// Diff is the text of what commit changes against base, at most limit bytes of it.
func (e *Engine) Diff(ctx context.Context, base, commit SHA, limit int) (string, error) {
	out, err := e.run(ctx, "diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", base, commit)
	if len(out) > limit {
		out = append(out[:limit:limit], "\n[cut after "+strconv.Itoa(limit)+" bytes]\n"...)
	}
	return string(out), err
}
