package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"statelint": main})
}

// environment is what the Go command needs to work offline on modules that need no others.
func environment(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"GOCACHE=" + strings.TrimSpace(string(out)), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off", "CI="}
}

// statelint is the program, to be run in a folder.
func statelint(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("statelint", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), environment(t)...), t.Output()
	return cmd
}

func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// TestScripts runs the program, and the real go vet with it, on small modules.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/scripts",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, environment(t)...)
			e.Vars = append(e.Vars, "HOME="+e.WorkDir, "STATELINT="+self(t))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// self is where the program is.
func self(t *testing.T) string {
	path, err := exec.LookPath("statelint")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// exits runs the program twice, as text and with --json, and demands this exit code of both. The output of the text stays for stdout and
// stderr; the document is written to the file document.json.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE [ARG...]")
	}
	want := args[0]
	for _, json := range []bool{true, false} {
		given := args[1:]
		if json {
			given = append([]string{"--json"}, given...)
		}
		err := ts.Exec("statelint", given...)
		if got := strconv.Itoa(exitCode(err)); got != want || err != nil && exitCode(err) == 0 {
			ts.Fatalf("statelint %s exits with %s, want %s: %v\n%s%s", strings.Join(given, " "), got, want, err, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
		}
		if json {
			ts.Check(os.WriteFile(ts.MkAbs("document.json"), []byte(ts.ReadFile("stdout")), 0o600))
		}
	}
}

func TestAskedByVet(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{nil, false}, {[]string{"./..."}, false}, {[]string{"--json"}, false},
		{[]string{"-V=full"}, true}, {[]string{"-flags"}, true}, {[]string{"-json", filepath.Join(t.TempDir(), "vet.cfg")}, true},
	} {
		if got := asked(c.args); got != c.want {
			t.Errorf("asked(%q) is %v on %s", c.args, got, runtime.GOOS)
		}
	}
}
