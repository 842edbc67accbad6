// Package clitest runs the scripts that pin an example binary's behaviour.
package clitest

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

// NoLinger is GORACE for the programs of a test: else each waits a second at its end for races that only other threads see.
const NoLinger = "atexit_sleep_ms=0"

// Run runs the scripts in testdata.
func Run(t *testing.T) { RunIn(t, "testdata") }

// RunIn runs the scripts in a folder. They have, beside the usual commands:
//
//	repository DIR        make the files of $WORK/DIR a repository with a pushed commit and the remote $WORK/remote.git
//	normal FILE OUT       write FILE (or stdout, stderr) to OUT, with what differs between runs replaced
//	exits CODE PROG ARG…  run a program, which must end with this exit code
//	await RE PROG ARG…    run a program again and again until what it prints matches
//	capture NAME FILE RE  set the variable NAME to what the group of RE matches in FILE (or stdout, stderr)
func RunIn(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir: dir, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("USER", "tester")
			env.Setenv("GORACE", NoLinger)
			return os.Mkdir(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repository": repository, "normal": normal, "exits": exits, "await": await, "capture": capture,
		},
	})
}

func repository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: repository DIR [REMOTE]")
	}
	dir, remote := ts.MkAbs(args[0]), ts.MkAbs(append(args, "remote.git")[1])
	identity := []string{"-c", "user.name=Tester", "-c", "user.email=tester@example.com"}
	for _, git := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", remote},
		{"init", "--quiet", "--initial-branch=main", dir},
		{"-C", dir, "add", "--all"},
		append(identity, "-C", dir, "commit", "--quiet", "--allow-empty", "--message=Begin"),
		{"-C", dir, "remote", "add", "origin", remote},
		{"-C", dir, "push", "--quiet", "origin", "main"},
	} {
		cmd := exec.Command("git", git...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("git %v: %v: %s", git, err, out)
		}
	}
}

// replacement takes out what differs between two runs of the same script.
type replacement struct {
	pattern *regexp.Regexp
	with    string
}

func replacements() []replacement {
	return []replacement{
		{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{4}\b`), "WAVE"},
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
		{regexp.MustCompile(`aesop/[0-9a-f]{12}\b`), "aesop/REPOSITORY"},
		{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "sha256:HEX"},
		{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "HEX64"},
		{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "SHA"},
		{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "ATTEMPT"},
		{regexp.MustCompile(`\b[0-9a-f]{10}\b`), "SHORT"},
		{regexp.MustCompile(`("[a-zA-Z]+Ms": )\d+`), "${1}0"},
		{regexp.MustCompile(`after [0-9.]+m?s`), "after DURATION"},
		{regexp.MustCompile(`aesop-demo-\d+`), "aesop-demo-N"},
	}
}

func normal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: normal FILE OUT")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	for _, r := range replacements() {
		text = r.pattern.ReplaceAllString(text, r.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROG ARG…")
	}
	err, code := ts.Exec(args[1], args[2:]...), 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code is %d, want %s", code, args[0])
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await RE PROG ARG…")
	}
	wanted, tick := regexp.MustCompile(args[0]), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for range 1200 {
		if err := ts.Exec(args[1], args[2:]...); err == nil && wanted.MatchString(ts.ReadFile("stdout")) {
			return
		}
		<-tick.C
	}
	ts.Fatalf("%s never printed %s", args[1], args[0])
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture NAME FILE RE")
	}
	match := regexp.MustCompile(args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if len(match) != 2 {
		ts.Fatalf("%s has no match for one group of %s", args[1], args[2])
	}
	ts.Setenv(args[0], match[1])
}

// FakeAgent is a program that plays an agent: it reads its prompt from standard input and does what its arguments say, in pairs:
// write NAME=TEXT, prompt NAME (keep the prompt there), usage JSON, touch NAME (outside the tree), wait NAME (until it exists), fail N.
func FakeAgent() {
	if err := fakeAgent(os.Args[1:]); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func fakeAgent(args []string) error {
	for len(args) >= 2 {
		verb, arg := args[0], args[1]
		args = args[2:]
		if err := play(verb, arg); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return errors.New("arguments come in pairs")
	}
	return nil
}
