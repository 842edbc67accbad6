package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

//go:embed demo/tracker.json
var demoBacklog []byte

//go:embed demo/script.json
var demoScript []byte

// story is one item of the demonstration: what its agent does, and how it must end.
type story struct {
	item     string
	plot     string
	state    journal.State
	attempts int // 0: any number
	words    string
}

func stories() []story {
	return []story{
		{"greeting", "an agent that does what it is asked", journal.StateShipped, 1, "passed its test and shipped"},
		{"sum", "an agent that errs, and repairs it with the failure it is shown", journal.StateShipped, 2, "failed its test, was repaired, and shipped"},
		{"claims", "an agent that says it is done while its tests fail", journal.StateNotVerified, 0, "said it was done, and was refused: its test fails"},
		{"stray", "an agent that writes outside its paths", journal.StateFenceViolation, 1, "wrote outside its paths, and was refused"},
	}
}

// ending is how a story went.
type ending struct {
	item  string
	words string
	ok    bool
}

// judge compares a report with the stories.
func judge(r wave.Report) (ends []ending, ok bool) {
	ok = r.Outcome == journal.Partial && len(r.Items) == len(stories())
	for _, s := range stories() {
		e := ending{item: s.item, words: "is missing"}
		for _, i := range r.Items {
			if i.ID != s.item {
				continue
			}
			shipped := s.state == journal.StateShipped
			e.ok = i.State == s.state && (s.attempts == 0 || len(i.Attempts) == s.attempts) && i.Pushed == shipped && i.Verified == shipped
			if e.words = s.words; !e.ok {
				e.words = fmt.Sprintf("ended as %s after %d attempts", i.State, len(i.Attempts))
			}
		}
		ends, ok = append(ends, e), ok && e.ok
	}
	return ends, ok
}

// demo is the folder of a demonstration.
type demo struct{ repo, remote, state string }

// make builds the repository, its remote, and the files of the stories.
func (d demo) make(ctx context.Context) error {
	if err := os.MkdirAll(d.repo, 0o755); err != nil {
		return err
	}
	files := map[string][]byte{"README.md": []byte("# A demonstration\n"), "script.json": demoScript}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(d.repo, name), data, 0o644); err != nil {
			return err
		}
	}
	if _, err := tracker.Create(filepath.Join(d.repo, "tracker.json"), demoBacklog); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", d.remote},
		{"init", "--quiet", "--initial-branch=main", d.repo},
		{"-C", d.repo, "add", "README.md"},
		{"-C", d.repo, "-c", "user.name=aesop", "-c", "user.email=aesop@localhost", "commit", "--quiet", "--message=Begin"},
		{"-C", d.repo, "remote", "add", "origin", d.remote},
		{"-C", d.repo, "push", "--quiet", "origin", "main"},
	} {
		if _, err := d.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// branches are the remote's branches, for people.
func (d demo) branches(ctx context.Context) (string, error) {
	return d.git(ctx, "--git-dir="+d.remote, "for-each-ref", "--format=  %(refname:short) %(objectname:short=10) %(subject)", "refs/heads")
}

func (d demo) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
