package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Ignores answers, by the ignore files of one commit and nothing else, which new paths git would leave out of it. It is safe for
// concurrent use. Close it.
type Ignores struct {
	dir string // has the ignore files, and the folders that were asked about

	mu      sync.Mutex
	program *exec.Cmd // nil where the commit has no ignore files
	ask     io.WriteCloser
	answers *bufio.Reader
}

// Ignores reads the ignore files of commit into dir, which must not exist and which Close removes. Nothing that is in a tree of an
// agent, and no configuration, has a say.
func (e *Engine) Ignores(ctx context.Context, commit SHA, dir string) (*Ignores, error) {
	i := &Ignores{dir: dir}
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700) // one that is there is somebody else's, and not to be trusted
	}
	if err != nil {
		return &Ignores{}, err
	}
	found, err := e.writeIgnoreFiles(ctx, commit, dir)
	if err != nil || !found {
		return i, err
	}
	gitDir := filepath.Join(dir, ".git")
	if err := e.throwAway(gitDir, commit); err != nil {
		return i, err
	}
	i.program = exec.CommandContext(ctx, e.program.path, "-c", "core.excludesFile="+os.DevNull, "check-ignore", "-z", "--stdin", "--no-index",
		"--verbose", "--non-matching")
	i.program.Env, i.program.Dir = neutralEnv(gitDir, "GIT_WORK_TREE="+dir, "GIT_FLUSH=1"), dir
	if i.ask, err = i.program.StdinPipe(); err != nil {
		return i, err
	}
	out, err := i.program.StdoutPipe()
	if err != nil {
		return i, err
	}
	i.answers = bufio.NewReader(out)
	return i, i.program.Start()
}

// writeIgnoreFiles writes the regular files that are called .gitignore; git follows no others.
func (e *Engine) writeIgnoreFiles(ctx context.Context, commit SHA, dir string) (found bool, err error) {
	entries, err := e.List(ctx, commit)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if path.Base(entry.Path) != ".gitignore" || !strings.HasPrefix(entry.Mode, "100") {
			continue
		}
		text, err := e.run(ctx, "cat-file", "blob", entry.Blob)
		if err != nil {
			return found, err
		}
		place := filepath.Join(dir, filepath.FromSlash(entry.Path))
		if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
			return found, err
		}
		if err := os.WriteFile(place, text, 0o600); err != nil {
			return found, err
		}
		found = true
	}
	return found, nil
}

// Match says whether git would leave out a new file, or a new folder with all that is in it. What cannot stand in a tree with the
// ignore files, such as a folder in the place of one, or what no path can reach, it would not leave out.
func (i *Ignores) Match(name string, folder bool) (bool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.program == nil {
		return false, nil
	}
	if folder { // some patterns are for folders only, and git looks what the path is
		err := os.MkdirAll(filepath.Join(i.dir, filepath.FromSlash(name)), 0o700)
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	asked := "./" + name // a colon at its beginning would mean something
	if _, err := io.WriteString(i.ask, asked+"\x00"); err != nil {
		return false, fmt.Errorf("git check-ignore: %w", err)
	}
	var answer [4]string // file, line and text of the pattern, and the path
	for n := range answer {
		part, err := i.answers.ReadString(0)
		if err != nil {
			return false, fmt.Errorf("git check-ignore: %w", err)
		}
		answer[n] = strings.TrimSuffix(part, "\x00")
	}
	if answer[3] != asked {
		return false, fmt.Errorf("git check-ignore: asked about %q, it answered about %q", asked, answer[3])
	}
	pattern := answer[2]
	return pattern != "" && !strings.HasPrefix(pattern, "!"), nil
}

// Close ends the program and removes what was written.
func (i *Ignores) Close() error {
	var err error
	if i.program != nil && i.program.Process != nil {
		err = i.ask.Close()
		_ = i.program.Wait() // exit 1 where nothing was ignored
	}
	if i.dir != "" {
		err = errors.Join(err, os.RemoveAll(i.dir))
	}
	return err
}
