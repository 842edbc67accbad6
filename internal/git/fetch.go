package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aesop/internal/filelock"
)

// trustFile is the configuration that lets git read the user's repository where that belongs to another user of the machine:
// that the caller accepts it, OpenUser found out, and the process that reads it takes neither -c nor the environment's word.
func (e *Engine) trustFile() string { return e.Dir + ".trust" }

func (e *Engine) writeTrust() error {
	text := "[safe]\n\tdirectory = " + quoteValue(filepath.ToSlash(e.user.Common)) + "\n"
	if old, err := os.ReadFile(e.trustFile()); err == nil && string(old) == text {
		return nil
	}
	return os.WriteFile(e.trustFile(), []byte(text), 0o600)
}

// quoteValue writes a value of a configuration file.
func quoteValue(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// readUser runs a command that reads the user's repository by its path.
func (e *Engine) readUser(ctx context.Context, gitDir string, args ...string) error {
	_, err := e.program.run(ctx, call{env: neutralEnv(gitDir, "GIT_CONFIG_GLOBAL="+e.trustFile()), dir: filepath.Dir(e.Dir), args: args})
	return err
}

// Fetch brings the given commit of the remote here, with the user's own credentials, without writing to the user's repository.
// It asks where fetches come from first, then where pushes go. What is no whole object id is refused: to git it could be a refspec, and
// write.
func (e *Engine) Fetch(ctx context.Context, remote *Remote, commit SHA) error {
	if !IsSHA(commit) {
		return fmt.Errorf("fetch %q: it is no object id", commit)
	}
	unlock, err := filelock.Lock(ctx, e.lock)
	if err != nil {
		return fmt.Errorf("engine repository: %w", err)
	}
	defer unlock()
	partial, err := e.user.partial(ctx)
	if err != nil {
		return err
	}
	// First all that the user has: the conversation with the remote takes it as present.
	if partial {
		err = e.link(ctx)
	} else {
		err = e.fetchUser(ctx)
	}
	if err != nil {
		return err
	}
	has, err := e.Has(ctx, commit)
	if err != nil {
		return err
	}
	if !has {
		// Git says that something is missing also where a ref of the user's is broken that has nothing to do with it.
		if err := e.fetchObjects(ctx, remote, []SHA{commit}); err != nil && !e.whole(ctx, commit) {
			return err
		}
	}
	if partial {
		return e.complete(ctx, remote, commit)
	}
	return nil
}

// whole says whether the commit is here with all that it reaches.
func (e *Engine) whole(ctx context.Context, commit SHA) bool {
	has, err := e.Has(ctx, commit)
	if err == nil && has {
		_, err = e.run(ctx, "rev-list", "--objects", "--quiet", commit, "--not", "--all")
	}
	return err == nil && has
}

// fetchUser brings all that the user's refs reach.
func (e *Engine) fetchUser(ctx context.Context) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--update-shallow", e.user.Common, "+refs/*:refs/user/*"}
	failure := e.readUser(ctx, e.Dir, args...)
	if failure == nil || ctx.Err() != nil {
		return failure
	}
	broken, err := e.program.brokenRefs(ctx, call{env: e.user.env(), dir: e.user.Root})
	if err != nil || len(broken) == 0 {
		return failure
	}
	for _, ref := range broken {
		args = append(args, "^"+ref)
	}
	return e.readUser(ctx, e.Dir, args...)
}

// fetchObjects brings objects of the remote here, from the first of its places that has them.
func (e *Engine) fetchObjects(ctx context.Context, remote *Remote, ids []SHA, settings ...string) error {
	for _, id := range ids {
		if !IsSHA(id) {
			return fmt.Errorf("fetch %q: it is no object id", id)
		}
	}
	var failures []error
	for _, place := range remote.places() {
		args := slices.Concat([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false"}, settings, []string{"fetch", "--quiet", "--no-tags",
			"--no-filter", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", "--stdin", place})
		_, err := remote.input(ctx, strings.Join(ids, "\n")+"\n", remote.objects(e.objects()), args...)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
