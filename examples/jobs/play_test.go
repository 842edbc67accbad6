package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/examples/internal/clitest"
	"aesop/statestore"
)

// played is what a run of the binary came to.
type played struct {
	code           int
	stdout, stderr string
}

// command is the binary, which TestMain put into PATH, in a folder, whose state is the folder state in it.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "aesop-jobs", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE="+clitest.NoLinger, "AESOP_STATE="+filepath.Join(dir, "state"))
	return cmd
}

func play(ctx context.Context, dir string, args ...string) (played, error) {
	var out, errs strings.Builder
	cmd := command(ctx, dir, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.Exited() {
		return played{exit.ExitCode(), out.String(), errs.String()}, nil
	}
	return played{0, out.String(), errs.String()}, err
}

// ends runs the binary, which must have that exit code.
func ends(t *testing.T, code int, dir string, args ...string) played {
	t.Helper()
	got, err := play(t.Context(), dir, args...)
	if err != nil || got.code != code {
		t.Fatalf("%v: exit code %d, want %d, %v\n%s%s", args, got.code, code, err, got.stdout, got.stderr)
	}
	return got
}

// document runs the binary for its document.
func document(t *testing.T, into any, code int, dir string, args ...string) {
	t.Helper()
	got := ends(t, code, dir, append(args, "--json")...)
	if err := json.Unmarshal([]byte(got.stdout), into); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, got.stdout)
	}
}

// claim claims a job and returns the token.
func claim(t *testing.T, dir, id string) string {
	t.Helper()
	_, token, _ := strings.Cut(strings.TrimSpace(ends(t, cli.OK, dir, "claim", id).stdout), " ")
	return token
}

// update changes the store of a folder.
func update(t *testing.T, dir string, fn func(statestore.Tx) error) {
	t.Helper()
	store, err := aesop.Place{State: filepath.Join(dir, "state")}.OpenStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.Update(t.Context(), fn), store.Close()); err != nil {
		t.Fatal(err)
	}
}
