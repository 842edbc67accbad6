package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Checkout writes the files of commit into dir, which must not exist, beside a throw-away .git that borrows the engine's
// objects. The engine never reads that .git again.
func (e *Engine) Checkout(ctx context.Context, commit SHA, dir string) error {
	gitDir := filepath.Join(dir, ".git")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	if err := e.throwAway(gitDir, commit); err != nil {
		return err
	}
	_, err := e.program.run(ctx, call{env: neutralEnv(gitDir, "GIT_WORK_TREE="+dir), dir: dir, args: []string{"read-tree", "-u", "--reset", commit}})
	if err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	return nil
}

// throwAway makes a repository at commit that borrows the engine's objects.
func (e *Engine) throwAway(gitDir string, commit SHA) error {
	for _, f := range []struct{ dir, name, text string }{
		{gitDir, "HEAD", "ref: refs/heads/work\n"},
		{gitDir, "config", repositoryConfig(e.format, false)},
		{filepath.Join(gitDir, "refs/heads"), "work", commit + "\n"},
		{filepath.Join(gitDir, "objects/info"), "alternates", e.objects() + "\n"},
		{filepath.Join(gitDir, "info"), "attributes", attributes},
	} {
		if err := os.MkdirAll(f.dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(f.dir, f.name), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(gitDir, "objects/pack"), 0o755); err != nil {
		return err
	}
	if shallow, err := os.ReadFile(filepath.Join(e.Dir, "shallow")); err == nil {
		if err := os.WriteFile(filepath.Join(gitDir, "shallow"), shallow, 0o644); err != nil {
			return err
		}
	}
	return nil
}
