package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop"
	"aesop/tracker"
	"aesop/wave"
)

// doCommand ends as its test wants.
type doCommand struct {
	Common
	end error
}

func (d doCommand) Run(*Context) error { return d.end }

// started runs a command line of a grammar with that one command.
func started(end error, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	grammar := struct {
		Do doCommand `cmd:"" help:"Do it."`
	}{doCommand{end: end}}
	code = run(&Context{Stdout: &out, Stderr: &errs}, "tool", "A tool.", &grammar, args)
	return code, out.String(), errs.String()
}

// TestExitCodes is the table from errors to exit codes and to the error's code in documents.
func TestExitCodes(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		exit int
		code string // "": the command has said all, and nothing is printed
	}{
		"none":            {nil, OK, ""},
		"exit":            {&Exit{Code: NotGood}, NotGood, ""},
		"stopped":         {&Exit{Code: Stopped}, Stopped, ""},
		"exit with error": {&Exit{Code: Refused, Err: errors.New("no")}, Refused, "internal"},
		"exit, problem":   {&Exit{Code: NotGood, Err: &Problem{Code: "halted", Message: "no"}}, NotGood, "halted"},
		"problem":         {&Problem{Code: "usage", Message: "no", Hint: "yes"}, Usage, "usage"},
		"document":        {&aesop.FileError{Code: "missing", File: "f", Message: "no"}, Usage, "missing"},
		"setup":           {&wave.SetupError{Code: "no_remote", Message: "no"}, Usage, "no_remote"},
		"alive":           {fmt.Errorf("resume: %w", &wave.AliveError{Wave: "w", Owner: "o"}), Refused, "alive"},
		"conflict":        {fmt.Errorf("claim: %w", &tracker.ConflictError{Conflicts: []tracker.Conflict{{ID: "a"}}}), Refused, "conflict"},
		"refused":         {fmt.Errorf("approve: %w", &wave.RefusedError{Code: "not_waiting", Message: "no", Hint: "later"}), Refused, "not_waiting"},
		"lost":            {&tracker.LostError{IDs: []string{"a"}}, Refused, "claim_lost"},
		"interrupt":       {fmt.Errorf("wait: %w", context.Canceled), Stopped, "interrupted"},
		"other":           {io.ErrUnexpectedEOF, Usage, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			exit, out, errs := started(tt.err, "do")
			if exit != tt.exit || out != "" || (errs == "") != (tt.code == "") || errs != "" && !strings.HasPrefix(errs, "tool: ") {
				t.Errorf("exit %d, want %d; standard output %q, standard error %q", exit, tt.exit, out, errs)
			}
			exit, out, _ = started(tt.err, "do", "--json")
			if exit != tt.exit {
				t.Errorf("with --json: exit %d, want %d", exit, tt.exit)
			}
			if tt.code == "" {
				if out != "" {
					t.Errorf("standard output %q", out)
				}
				return
			}
			var document struct {
				SchemaVersion int
				Outcome       string
				Error         wave.ReportError
			}
			if err := json.Unmarshal([]byte(out), &document); err != nil || document.SchemaVersion != 1 || document.Outcome != "error" ||
				document.Error.Code != tt.code || document.Error.Message == "" {
				t.Errorf("document %s: %v", out, err)
			}
		})
	}
}

func TestCommandLinesThatAreNotUnderstood(t *testing.T) {
	for _, args := range [][]string{{"undo"}, {"do", "--nothing"}, {"do", "more"}, {"do", "--tracker"}} {
		exit, out, errs := started(nil, args...)
		if exit != Usage || out != "" || !strings.Contains(errs, "see tool --help") {
			t.Errorf("%q: exit %d, standard output %q, standard error %q", args, exit, out, errs)
		}
	}
	if exit, out, _ := started(nil, "undo", "--json"); exit != Usage || !json.Valid([]byte(out)) || !strings.Contains(out, `"code": "usage"`) {
		t.Errorf("with --json: exit %d, standard output %q", exit, out)
	}
}

func TestHelpIsGood(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"do", "--help"}} {
		exit, out, errs := started(errors.New("it ran"), args...)
		if exit != OK || !strings.Contains(out, "Usage: tool") || errs != "" {
			t.Errorf("%q: exit %d, standard output %q, standard error %q", args, exit, out, errs)
		}
	}
}

func TestPrint(t *testing.T) {
	for asked, want := range map[bool]string{true: "{\n  \"a\": \"<b>\"\n}\n", false: "for people\n"} {
		var out bytes.Buffer
		c := &Context{Stdout: &out, JSON: asked}
		if err := c.secretless(nil); err != nil {
			t.Fatal(err)
		}
		c.Print(map[string]string{"a": "<b>"}, func(w io.Writer) { fmt.Fprintln(w, "for people") })
		if out.String() != want {
			t.Errorf("printed %q, want %q", out.String(), want)
		}
	}
}

// TestFlagsReachTheSettings: paths on the command line are relative to where the command is run, those in the file to the file.
func TestFlagsReachTheSettings(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{"repo", "conf"} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(folder+"/aesop.json", []byte(`{"tracker": "mine.json", "model": "of-`+folder+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		common         Common
		tracker, model string
	}{
		"file of the repository": {Common{Repo: "repo"}, "repo/mine.json", "of-repo"},
		"file that is named":     {Common{Repo: "repo", Config: "conf/aesop.json"}, "conf/mine.json", "of-conf"},
		"flag":                   {Common{Repo: "repo", Tracker: text("other.json")}, "other.json", "of-repo"},
	} {
		tt.common.State = text("state")
		_, place, err := tt.common.Locate(t.Context())
		if err != nil || place.Backlog != filepath.Join(dir, tt.tracker) || place.State != filepath.Join(dir, "state") {
			t.Errorf("%s: place %+v, %v", name, place, err)
		}
		s, _, err := tt.common.Load(map[string]*string{"driver": text("script"), "lease": nil})
		if err != nil || s.Model != tt.model || s.Driver != "script" || s.Lease != 0 {
			t.Errorf("%s: settings %+v, %v", name, s, err)
		}
	}
	if _, _, err := (Common{Repo: "repo", Config: "absent.json"}).Load(nil); !Damaged(err) {
		t.Errorf("a file that is named and missing: %v", err)
	}
	if Damaged(io.EOF) {
		t.Error("any error is about a document")
	}
}
