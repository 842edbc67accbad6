package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"aesop/wave"
)

const known = "walrus-and-carpenter"

// sayCommand says the known value wherever a command can say anything.
type sayCommand struct {
	JSON bool `name:"json"`
	as   func(c *Context) error
}

func (s sayCommand) Run(c *Context) error { return s.as(c) }

type said struct {
	Text  string            `json:"text"`
	Items map[string]string `json:"items"`
}

func TestNothingIsPrintedWithItsSecrets(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", known)
	key := strings.Join([]string{"-----BEGIN PRIVATE", " KEY-----\n", strings.Repeat("b64", 21) + "\n", "-----END PRIVATE", " KEY-----\n"}, "")
	document := said{Text: "the " + known, Items: map[string]string{"rotate_api_key": strings.Repeat("0123456789abcdef", 2)}}
	for name, as := range map[string]func(c *Context) error{
		"print": func(c *Context) error {
			c.Print(document, func(w io.Writer) { fmt.Fprintln(w, "the", known) })
			return nil
		},
		"print, line by line": func(c *Context) error {
			c.Print(document, func(w io.Writer) {
				for line := range strings.Lines(known + "\n" + key) {
					fmt.Fprint(w, "  "+line)
				}
			})
			return nil
		},
		"follow":      func(c *Context) error { fmt.Fprintln(c.Follow(), "the", known); return nil },
		"diagnostics": func(c *Context) error { fmt.Fprintln(c.Stderr, "the", known); return nil },
		"error":       func(*Context) error { return errors.New("cannot reach https://robot:" + known + "@host") },
		"problem":     func(*Context) error { return &Problem{Code: "usage", Message: "not " + known, Hint: "not " + known} },
		"setup":       func(*Context) error { return &wave.SetupError{Code: "no_base", Message: "not " + known, Hint: known} },
	} {
		for _, args := range [][]string{{"say"}, {"say", "--json"}, {"say", "--" + known}} {
			var out, terminal bytes.Buffer
			screen := NewScreen(&terminal, func() (int, int) { return 80, 24 })
			grammar := &struct {
				Say sayCommand `cmd:""`
			}{sayCommand{as: as}}
			run(&Context{Context: t.Context(), Stdout: &out, Stderr: &terminal, Screen: screen}, "program", "", grammar, args)
			all := out.String() + terminal.String()
			if strings.Contains(all, known) || strings.Contains(all, "b64b64") || !strings.Contains(all, "REDACTED") {
				t.Errorf("%s, %v: %s", name, args, all)
			}
			if c := args[len(args)-1] == "--json"; c && out.Len() > 0 && name != "follow" && !json.Valid(out.Bytes()) {
				t.Errorf("%s: no JSON: %s", name, out.String())
			}
			if name == "print" && args[len(args)-1] == "--json" && !strings.Contains(out.String(), document.Items["rotate_api_key"]) {
				t.Errorf("an item called like a secret lost its state: %s", out.String())
			}
		}
	}
}

// TestScreenDrawsNoSecrets: neither lines nor talk.
func TestScreenDrawsNoSecrets(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", known)
	var terminal bytes.Buffer
	screen := NewScreen(&terminal, func() (int, int) { return 80, 24 })
	grammar := &struct {
		Say sayCommand `cmd:""`
	}{sayCommand{as: func(c *Context) error {
		c.Screen.Draw([]string{"the " + known})
		talk, release := c.Screen.Hold()
		fmt.Fprintln(talk, "is it", known)
		release()
		return nil
	}}}
	run(&Context{Context: t.Context(), Stdout: io.Discard, Stderr: io.Discard, Screen: screen}, "program", "", grammar, []string{"say"})
	if text := terminal.String(); strings.Contains(text, known) || strings.Count(text, "REDACTED") < 2 {
		t.Errorf("drawn: %q", text)
	}
}

// TestHoldersGetWhatTheyAskFor as it is.
func TestHoldersGetWhatTheyAskFor(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", known)
	for _, args := range [][]string{{"say"}, {"say", "--json"}} {
		var out bytes.Buffer
		grammar := &struct {
			Say sayCommand `cmd:""`
		}{sayCommand{as: func(c *Context) error {
			c.PrintAsIs(said{Text: known}, func(w io.Writer) { fmt.Fprintln(w, known) })
			return nil
		}}}
		run(&Context{Context: t.Context(), Stdout: &out, Stderr: io.Discard}, "program", "", grammar, args)
		if !strings.Contains(out.String(), known) {
			t.Errorf("%v: %s", args, out.String())
		}
	}
}

// TestWhatPeopleDecideAboutIsShown: all but credentials that are known or show by their shape, wherever it is said.
func TestWhatPeopleDecideAboutIsShown(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", known)
	shaped := "AKIA" + strings.Repeat("Q7", 8)
	const command = `DB_PASSWORD="$(cat /etc/hostname)" sh start`
	diff := "-old " + known + "\n+" + command + "\n+key " + shaped + "\n context\n"
	want := "-old [REDACTED]\n+" + command + "\n+key [REDACTED]\n context\n"
	var out, terminal bytes.Buffer
	screen := NewScreen(&terminal, func() (int, int) { return 80, 24 })
	grammar := &struct {
		Say sayCommand `cmd:""`
	}{sayCommand{as: func(c *Context) error {
		shown := c.WithoutCredentials(diff)
		if shown != want {
			t.Errorf("shown %q", shown)
		}
		if same := c.WithoutCredentials(command); same != command {
			t.Errorf("clean, and shown %q", same)
		}
		c.PrintAsIs(nil, func(w io.Writer) { fmt.Fprint(w, shown) })
		talk, release := c.Screen.Hold()
		fmt.Fprint(AsIs(talk), command+"\n")
		fmt.Fprint(talk, "DB_PASSWORD="+strings.Repeat("x7", 9)+"\n")
		release()
		return nil
	}}}
	run(&Context{Context: t.Context(), Stdout: &out, Stderr: io.Discard, Screen: screen}, "program", "", grammar, []string{"say"})
	if out.String() != want {
		t.Errorf("printed %q", out.String())
	}
	if got := strings.ReplaceAll(terminal.String(), "\r", ""); strings.Count(got, command) != 1 || strings.Contains(got, "x7x7") {
		t.Errorf("said %q", got)
	}
}
