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
	"time"

	"golang.org/x/sync/errgroup"

	"aesop/examples/internal/cli"
	"aesop/examples/internal/clitest"
)

// TestProcessesWinEachItemOnce lets eight processes at a time claim the same items for one owner: the name is no licence, so
// each item has exactly one winner, whose token is good for it.
func TestProcessesWinEachItemOnce(t *testing.T) {
	const processes, count = 8, 20
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	ids := make([]string, count)
	items := make([]map[string]any, count)
	for i := range items {
		ids[i] = fmt.Sprintf("i%d", i)
		items[i] = map[string]any{"id": ids[i], "slug": ids[i], "ownsFiles": ids[i : i+1], "prompt": "x", "testCmd": "true"}
	}
	data, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "tracker.json", string(data))
	won := make([]map[string]string, processes) // token by id
	group, ctx := errgroup.WithContext(ctx)
	for n := range processes {
		won[n] = map[string]string{}
		group.Go(func() error {
			for i := range ids {
				id := ids[(i+n/2)%count] // pairs meet at every item, and all meet somewhere
				token, err := claimOne(ctx, dir, id)
				if err != nil {
					return err
				}
				if token != "" {
					won[n][id] = token
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		var tokens []string
		for n := range won {
			if token := won[n][id]; token != "" {
				tokens = append(tokens, token)
			}
		}
		if len(tokens) != 1 {
			t.Errorf("%s was won %d times", id, len(tokens))
			continue
		}
		if out, err := play(t.Context(), dir, "release", id, "--token", tokens[0]).CombinedOutput(); err != nil {
			t.Errorf("release %s: %v: %s", id, err, out)
		}
	}
}

// claimOne is the token, or "" where the item is refused as held.
func claimOne(ctx context.Context, dir, id string) (string, error) {
	var stderr strings.Builder
	cmd := play(ctx, dir, "claim", id, "--owner", "same")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() == cli.Refused && strings.Contains(stderr.String(), "held by same") {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("claim %s: %w: %s", id, err, stderr.String())
	}
	_, token, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return token, nil
}

// play is the binary, which TestMain put into PATH.
func play(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "tracker", append(args, "--repo", dir, "--state", filepath.Join(dir, "state"))...)
	cmd.Env = append(os.Environ(), "GORACE="+clitest.NoLinger)
	return cmd
}
