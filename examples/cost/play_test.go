package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aesop/examples/internal/clitest"
)

// played is what a run of the binary, which TestMain put into PATH, came to.
type played struct {
	code           int
	stdout, stderr string
}

// play runs the binary in a folder, whose state is the folder state in it.
func play(ctx context.Context, dir string, args ...string) (played, error) {
	var out, errs strings.Builder
	cmd := exec.CommandContext(ctx, "cost", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), "GORACE="+clitest.NoLinger, "AESOP_STATE="+filepath.Join(dir, "state"), "AESOP_WAVE=")
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.Exited() {
		return played{exit.ExitCode(), out.String(), errs.String()}, nil
	}
	return played{0, out.String(), errs.String()}, err
}

// document runs the binary for its document, which must come with one of the exit codes.
func document(t *testing.T, into any, dir string, codes []int, args ...string) {
	t.Helper()
	got, err := play(t.Context(), dir, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range codes {
		if got.code == code {
			if err := json.Unmarshal([]byte(got.stdout), into); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, got.stdout)
			}
			return
		}
	}
	t.Fatalf("%v: exit code %d\n%s%s", args, got.code, got.stdout, got.stderr)
}

func write(t *testing.T, dir, name, format string, args ...any) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// place is a folder for the binary to be run in.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
