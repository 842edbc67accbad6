//go:build unix

package agenttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/driver"
)

// Installed is the file of a real agent program. The test is skipped where AESOP_TEST_AGENTS, which names its folder, is not set.
func Installed(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("AESOP_TEST_AGENTS")
	if folder == "" {
		t.Skipf("the real %s is not installed: run .ci/install-agents", name)
	}
	program := filepath.Join(folder, name)
	if _, err := os.Stat(program); err != nil {
		t.Fatal(err)
	}
	return program
}

// Task is a task in folders of its own, the home and the temporary one included.
func Task(t testing.TB) driver.Task {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	task := driver.Task{Item: "item", Slug: "slug", Wave: "wave", AttemptID: "0123456789abcdef", Prompt: "Do it.", Round: 1,
		Dir: filepath.Join(dir, "tree"), AttemptDir: filepath.Join(dir, "attempt"), Mark: "agenttest-" + strings.ReplaceAll(dir, "/", "-"),
		Environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp")}}
	for _, folder := range []string{task.Dir, task.AttemptDir, filepath.Join(home, "tmp")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return task
}
