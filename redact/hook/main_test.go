package hook_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"aesop/redact/hook"
)

// appendIn is the state folder to whose log this binary adds entries, as another process.
const appendIn = "TEST_HOOK_APPEND_IN"

// appends is how many entries such a process adds.
const appends = 10

// TestMain plays the program that an installed hook calls, and a process that writes to the log.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "hook" && os.Args[2] == "run" {
		os.Exit(playHook(os.Args[3:]))
	}
	if dir := os.Getenv(appendIn); dir != "" {
		os.Exit(playAppend(dir))
	}
	goleak.VerifyTestMain(m)
}

func playHook(args []string) int {
	p := hook.Push{Stdin: os.Stdin, GitDir: os.Getenv("GIT_DIR")}
	flags := flag.NewFlagSet("hook", flag.ContinueOnError)
	flags.StringVar(&p.State, "state", os.Getenv("TEST_HOOK_STATE"), "")
	flags.Func("protect", "", func(pattern string) error { p.Protect = append(p.Protect, pattern); return nil })
	if flags.Parse(args) != nil {
		return 2
	}
	p.Remote = flags.Arg(0)
	d := hook.Run(context.Background(), p)
	if !d.Allowed {
		fmt.Fprintln(os.Stderr, d.Reason, d.Message)
		return 1
	}
	fmt.Println(hook.Allowed)
	return 0
}

// secret is a credential by its shape, put together here so that no file holds one.
func secret() string { return "AK" + "IA" + strings.Repeat("Q7", 8) }

// place is a repository with a remote, and a program that a hook can call.
type place struct {
	*testing.T
	dir, repo, remote, state, binary string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"} {
		t.Setenv(name, "") // restores it
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	p := &place{t, dir, filepath.Join(dir, "it's a $(repo)"), filepath.Join(dir, "remote.git"), filepath.Join(dir, "state"), filepath.Join(dir, "a 'bin'", "program")}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("GORACE", "atexit_sleep_ms=0") // children of a test with the race detector wait for a second at their end
	t.Setenv("TEST_HOOK_STATE", p.state)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Tester")
		t.Setenv("GIT_"+who+"_EMAIL", "tester@example.com")
	}
	p.copyBinary()
	p.git(dir, "init", "--quiet", "--bare", "--initial-branch=main", p.remote)
	p.git(dir, "init", "--quiet", "--initial-branch=main", p.repo)
	p.git(p.repo, "remote", "add", "origin", p.remote)
	p.commit("a.txt", "a")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	p.git(p.repo, "checkout", "--quiet", "-b", "work")
	return p
}

// copyBinary copies this binary, which lies where go run leaves things, to where a hook can call it.
func (p *place) copyBinary() {
	p.Helper()
	own, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(p.binary), 0o755); err != nil {
		p.Fatal(err)
	}
	if os.Link(own, p.binary) == nil {
		return
	}
	from, err := os.Open(own)
	if err != nil {
		p.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(p.binary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		p.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		p.Fatal(err)
	}
	if err := to.Close(); err != nil {
		p.Fatal(err)
	}
}

// replaceBinary makes the program another file, for one that is linked is shared.
func (p *place) replaceBinary(text string) {
	p.Helper()
	if err := os.Remove(p.binary); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.binary, []byte(text), 0o755); err != nil {
		p.Fatal(err)
	}
}

func (p *place) try(dir string, args ...string) (string, error) {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (p *place) git(dir string, args ...string) string {
	p.Helper()
	out, err := p.try(dir, args...)
	if err != nil {
		p.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func (p *place) write(path, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *place) read(path string) string {
	p.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}

func (p *place) commit(name, text string) {
	p.Helper()
	p.write(filepath.Join(p.repo, name), text)
	p.git(p.repo, "add", "--all")
	p.git(p.repo, "commit", "--quiet", "--message=Add "+name)
}

func (p *place) settings() hook.Settings {
	return hook.Settings{Binary: p.binary, Command: []string{"hook", "run"}}
}

func (p *place) install() hook.Installed {
	p.Helper()
	installed, err := hook.Install(p.Context(), p.repo, p.settings())
	if err != nil {
		p.Fatal(err)
	}
	return installed
}

func (p *place) hookPath() string { return filepath.Join(p.repo, ".git", "hooks", "pre-push") }

// remoteRefs are the refs of the remote and where they are.
func (p *place) remoteRefs() string { return p.git(p.remote, "for-each-ref") }

// entries are those of the audit log, as "event reason".
func (p *place) entries() (all []string) {
	p.Helper()
	file, err := os.Open(filepath.Join(p.state, "security-audit.log"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		p.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e hook.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			p.Fatal(err)
		}
		all = append(all, e.Event+" "+e.Reason)
	}
	return all
}

// push pushes, and compares what came of it: the reason in the log, and that the remote changed or not.
func (p *place) push(reason hook.Reason, args ...string) {
	p.Helper()
	before, had := p.remoteRefs(), len(p.entries())
	out, err := p.try(p.repo, append([]string{"push"}, args...)...)
	allowed := slices.Contains([]hook.Reason{hook.Clean, hook.DeleteOnly, hook.NothingToPush}, reason)
	if changed := p.remoteRefs() != before; (err == nil) != allowed || changed != (allowed && reason != hook.NothingToPush) {
		p.Errorf("push %v: %v; changed the remote: %v; %s", args, err, changed, out)
	}
	want := "push_blocked " + string(reason)
	if allowed {
		want = "push_allowed " + string(reason)
	}
	if all := p.entries(); len(all) != had+1 || all[had] != want {
		p.Errorf("push %v: the log has %q, want %q more; %s", args, all[min(had, len(all)):], want, out)
	}
	if strings.Contains(out, secret()) || strings.Contains(p.read(filepath.Join(p.state, "security-audit.log")), secret()) {
		p.Errorf("push %v shows the secret: %s", args, out)
	}
}

// playAppend adds entries that say who it is.
func playAppend(dir string) int {
	log := hook.OpenLog(dir)
	for n := range appends {
		entry := hook.Entry{Event: hook.PushAllowed, Reason: fmt.Sprint(n), User: fmt.Sprint(os.Getpid())}
		if err := log.Append(context.Background(), entry); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func pid(cmd *exec.Cmd) string { return strconv.Itoa(cmd.Process.Pid) }
