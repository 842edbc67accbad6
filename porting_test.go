//go:build unix

package aesop_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPortingIsFollowed: every block of the page is executed or written, in order, as a stranger would.
func TestPortingIsFollowed(t *testing.T) {
	if modulePath(t) != "aesop" {
		t.Skip("not applicable: this module is renamed")
	}
	follow(t, "PORTING.md", ".", func(string) {})
}

// TestReadmeIsFollowed: so are README.md's, in a checkout beside a repository with a remote. That its tests pass is not found out here:
// they are being run.
func TestReadmeIsFollowed(t *testing.T) {
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	follow(t, "README.md", "aesop", func(dir string) {
		shim := filepath.Join(dir, "fakes", "go")
		write(t, shim, fmt.Sprintf("#!/bin/sh\n[ \"$*\" = 'test ./...' ] && exec '%s' list ./...\nexec '%s' \"$@\"\n", program, program))
		if err := os.Chmod(shim, 0o755); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "--quiet", "--bare", "--initial-branch=main", "shop.git")
		git(t, dir, "init", "--quiet", "--initial-branch=main", "shop")
		shop := filepath.Join(dir, "shop")
		git(t, shop, "-c", "user.name=You", "-c", "user.email=you@example.com", "commit", "--quiet", "--allow-empty", "--message=Begin")
		git(t, shop, "remote", "add", "origin", "../shop.git")
		git(t, shop, "push", "--quiet", "origin", "main")
	})
}

// TestPagesNameTheFilesThatTheyShow: what a fence says is not seen where the page is read.
func TestPagesNameTheFilesThatTheyShow(t *testing.T) {
	for _, name := range []string{"README.md", "PORTING.md"} {
		page := readFile(t, name)
		lines := strings.Split(page, "\n")
		for _, block := range blocks(t, page) {
			before := strings.Join(lines[max(0, block.line-7):block.line-1], " ")
			if block.file != "" && block.lang != "go" && !strings.Contains(before, "`"+block.file+"`") {
				t.Errorf("%s, line %d: %s is not named before", name, block.line, block.file)
			}
		}
	}
}

// TestPortingShowsTheDriver that its own tests prove.
func TestPortingShowsTheDriver(t *testing.T) {
	file := strings.ReplaceAll(readFile(t, "examples/customdriver/main.go"), `"`+modulePath(t), `"aesop`)
	for _, block := range blocks(t, readFile(t, "PORTING.md")) {
		if block.file == "main.go" {
			if block.body != file {
				t.Error("PORTING.md shows another program than examples/customdriver/main.go")
			}
			return
		}
	}
	t.Error("PORTING.md does not show the program")
}

// TestPortingNamesTenFailures: each with a test that exists, in which what one sees stands.
func TestPortingNamesTenFailures(t *testing.T) {
	_, table, ok := strings.Cut(readFile(t, "PORTING.md"), "| you see | because | what helps | test |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("there is no table of failures")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	listed, err := exec.Command("go", "test", "-list", "^TestFailures$", "./examples/wave").Output()
	if err != nil || !strings.HasPrefix(string(listed), "TestFailures\n") {
		t.Fatalf("the test is not there: %v\n%s", err, listed)
	}
	scripts, err := filepath.Glob("examples/wave/testdata/failures/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if len(rows) != 10 || len(scripts) != len(rows) {
		t.Errorf("the page has %d failures, and there are %d scripts; want 10", len(rows), len(scripts))
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	for _, row := range rows {
		cells := strings.Split(row, " | ")
		name := regexp.MustCompile("`TestFailures/([a-z-]+)` \\|$").FindStringSubmatch(row)
		if len(cells) != 4 || name == nil {
			t.Errorf("%s names no test", row)
			continue
		}
		script := strings.ReplaceAll(readFile(t, filepath.Join("examples/wave/testdata/failures", name[1]+".txtar")), `\`, "")
		for _, symptom := range quoted.FindAllStringSubmatch(cells[0], -1) {
			if !strings.Contains(script, symptom[1]) && symptom[1] != "wave show" {
				t.Errorf("%s shows nothing like %q", name[1], symptom[1])
			}
		}
	}
}

// TestPortingHasTheExitCodes of the programs.
func TestPortingHasTheExitCodes(t *testing.T) {
	page := readFile(t, "PORTING.md")
	for _, code := range regexp.MustCompile(`(?m)^\t[A-Za-z]+ += (\d) // `).FindAllStringSubmatch(readFile(t, "examples/internal/cli/cli.go"), -1) {
		if !strings.Contains(page, "\n| "+code[1]+" | ") {
			t.Errorf("exit code %s is missing", code[1])
		}
	}
}
