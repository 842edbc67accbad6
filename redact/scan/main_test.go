package scan_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"aesop/redact/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const zeros = "0000000000000000000000000000000000000000"

// secret is a credential by its shape, put together here so that no file holds one.
func secret() string { return "AK" + "IA" + strings.Repeat("Q7", 8) }

// files are contents by path; an empty one removes the path, "-> x" is a symbolic link.
type files map[string]string

// place is a repository with a remote.
type place struct {
	*testing.T
	dir, repo, remote string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"} {
		t.Setenv(name, "") // restores it
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	p := &place{t, dir, filepath.Join(dir, "repo"), filepath.Join(dir, "remote.git")}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Tester")
		t.Setenv("GIT_"+who+"_EMAIL", "tester@example.com")
	}
	p.git("", "init", "--quiet", "--bare", "--initial-branch=main", p.remote)
	p.git("", "init", "--quiet", "--initial-branch=main", p.repo)
	p.git(p.repo, "remote", "add", "origin", p.remote)
	return p
}

func (p *place) git(dir string, args ...string) string {
	p.Helper()
	out, err := p.tryGit(dir, args...)
	if err != nil {
		p.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func (p *place) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (p *place) write(all files) {
	p.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path, text := filepath.Join(p.repo, name), all[name]
		err := os.RemoveAll(path)
		if err == nil && text != "" {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if target, link := strings.CutPrefix(text, "-> "); err == nil && link {
			err = os.Symlink(target, path)
		} else if err == nil && text != "" {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			p.Fatal(err)
		}
	}
}

func (p *place) commit(message string, all files) string {
	p.Helper()
	p.write(all)
	p.git(p.repo, "add", "--all")
	p.git(p.repo, "commit", "--quiet", "--allow-empty", "--message="+message)
	return p.git(p.repo, "rev-parse", "HEAD")
}

// publish makes the remote's main branch, and what is known of it, the commit that is checked out.
func (p *place) publish() {
	p.Helper()
	p.git(p.repo, "push", "--quiet", "--force", "origin", "HEAD:main")
}

func (p *place) scanner(c scan.Config) *scan.Scanner {
	p.Helper()
	if c.Dir == "" && c.GitDir == "" {
		c.Dir = p.repo
	}
	s, err := scan.New(c)
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// must is a result without an error.
func (p *place) must(result *scan.Result, err error) *scan.Result {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
	return result
}

func (p *place) push(remote, lines string) *scan.Result {
	p.Helper()
	return p.must(p.scanner(scan.Config{}).Push(p.Context(), remote, strings.NewReader(lines)))
}

// expect compares the findings, each as "severity place path:line:column", or with its status in front where that is not fatal.
func (p *place) expect(result *scan.Result, outcome scan.Outcome, findings ...string) {
	p.Helper()
	var got []string
	for _, f := range result.Findings {
		text := fmt.Sprintf("%s %s %s:%d:%d", f.Severity, f.Place, f.Path, f.Line, f.Column)
		if f.Status != scan.Fatal {
			text = string(f.Status) + " " + text
		}
		got = append(got, text)
	}
	slices.Sort(got)
	slices.Sort(findings)
	if result.Outcome != outcome || !slices.Equal(got, findings) {
		p.Errorf("%s: %q\nwant %s: %q", result.Outcome, got, outcome, findings)
	}
}
