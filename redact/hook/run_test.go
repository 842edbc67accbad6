package hook_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/redact/hook"
	"aesop/redact/scan"
)

func TestPushesThroughGit(t *testing.T) {
	p := newPlace(t)
	p.install()
	p.commit("b.txt", "b")
	p.push(hook.Clean, "origin", "work")
	p.push(hook.NothingToPush, "origin", "work")
	p.push(hook.ProtectedBranch, "origin", "work:main")
	p.push(hook.ProtectedBranch, "--force", "origin", "work:refs/heads/master")
	p.push(hook.ProtectedBranch, "origin", "work:refs/heads/release/1.0")
	p.push(hook.ProtectedBranch, "origin", "work:refs/heads/release/1/0")
	p.push(hook.ProtectedBranch, "origin", "work:refs/heads/MAIN")
	p.push(hook.ProtectedBranch, "origin", "work:refs/heads/fine", "work:main")
	p.push(hook.ProtectedBranch, "origin", ":main")
	p.push(hook.Clean, "origin", "work:refs/heads/mainly", "work:refs/heads/my/main")
	p.push(hook.DeleteOnly, "origin", ":mainly", ":my/main")
	p.git(p.repo, "tag", "v1")
	p.git(p.repo, "tag", "--annotate", "--message=First", "v2")
	p.push(hook.Clean, "origin", "--tags")
	p.git(p.repo, "tag", "--annotate", "--message=See "+secret(), "v3")
	p.push(hook.SecretFound, "origin", "v3")
	p.push(hook.Clean, "file://"+p.remote, "work:refs/heads/by-url")

	p.commit("c.txt", "see "+secret())
	p.push(hook.SecretFound, "origin", "work")
	p.push(hook.SecretFound, "origin", "work~1:refs/heads/fine", "work:refs/heads/other")
	p.commit("c.txt", "nothing to see")
	p.push(hook.SecretFound, "origin", "work") // what was removed again is pushed all the same
	p.push(hook.Clean, "origin", "work~2:refs/heads/before")
	p.push(hook.DeleteOnly, "origin", ":before")
	p.push(hook.SecretFound, "origin", "work:refs/heads/new", ":by-url") // not one of them is done

	if report, err := hook.OpenLog(p.state).Check(t.Context()); err != nil || report.Outcome != "good" || report.Entries != int64(len(p.entries())) {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestDefaultBranchIsProtected(t *testing.T) {
	p := newPlace(t)
	p.git(p.repo, "push", "--quiet", "origin", "main:trunk")
	p.git(p.repo, "remote", "set-head", "origin", "trunk")
	if _, err := hook.Install(t.Context(), p.repo, hook.Settings{Binary: p.binary, Command: []string{"hook", "run"}, Protect: []string{"stable-*"}}); err != nil {
		t.Fatal(err)
	}
	p.commit("b.txt", "b")
	p.push(hook.ProtectedBranch, "origin", "work:trunk")
	p.push(hook.ProtectedBranch, "origin", "work:refs/heads/stable-1")
	p.push(hook.Clean, "origin", "work:main") // others were named instead
}

func TestFirstPushOfARepository(t *testing.T) {
	p := newPlace(t)
	p.install()
	empty := filepath.Join(p.dir, "empty.git")
	p.git(p.dir, "init", "--quiet", "--bare", empty)
	p.git(p.repo, "remote", "set-url", "origin", empty)
	p.git(p.repo, "update-ref", "-d", "refs/remotes/origin/main")
	p.remote = empty
	p.push(hook.Clean, "origin", "work")
	p.commit("b.txt", secret())
	p.git(p.repo, "update-ref", "-d", "refs/remotes/origin/work")
	p.push(hook.SecretFound, "origin", "work:refs/heads/other")
	p.git(p.repo, "reset", "--quiet", "--hard", "HEAD~1")
	p.write(filepath.Join(p.repo, "aesop-scan.json"), `{"schemaVersion": 1, "rules": [{"id": "shop-key", "severity": "critical", "pattern": "shop_[a-z]{8,}"}]}`)
	p.commit("c.txt", "shop_abcdefgh")
	p.push(hook.SecretFound, "origin", "work:refs/heads/other")
}

func TestWorktreesShareTheHook(t *testing.T) {
	p := newPlace(t)
	p.install()
	tree := filepath.Join(p.dir, "tree")
	p.git(p.repo, "worktree", "add", "--quiet", "-b", "second", tree)
	main := p.repo
	p.repo = tree
	p.commit("b.txt", "b")
	p.push(hook.Clean, "origin", "second")
	p.push(hook.ProtectedBranch, "origin", "second:main")
	p.commit("b.txt", secret())
	p.push(hook.SecretFound, "origin", "second")
	if installed := p.install(); installed.Change != hook.Unchanged || installed.Path != filepath.Join(main, ".git", "hooks", "pre-push") {
		t.Errorf("in the other work tree: %+v", installed)
	}
}

// TestWhatCannotBeCheckedIsRefused: each of these let a push pass where a hook trusts an exit code, or goes on without.
func TestWhatCannotBeCheckedIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(p *place){
		"no binary":                 func(p *place) { _ = os.Remove(p.binary) },
		"binary not executable":     func(p *place) { p.replaceBinary("#!/bin/sh\n"); _ = os.Chmod(p.binary, 0o644) },
		"binary cut to nothing":     func(p *place) { p.replaceBinary("") },
		"binary that says nothing":  func(p *place) { p.replaceBinary("#!/bin/sh\nexit 0\n") },
		"binary that says too much": func(p *place) { p.replaceBinary("#!/bin/sh\necho " + hook.Allowed + "; echo really\n") },
		"binary that fails":         func(p *place) { p.replaceBinary("#!/bin/sh\necho '" + hook.Allowed + "'; exit 3\n") },
		"binary that is killed":     func(p *place) { p.replaceBinary("#!/bin/sh\necho '" + hook.Allowed + "'; kill -9 $$\n") },
		"state is a file":           func(p *place) { p.write(p.state, "") },
		"state in the repository":   func(p *place) { p.Setenv("TEST_HOOK_STATE", filepath.Join(p.repo, ".git", "aesop")) },
		"state in the work tree":    func(p *place) { p.Setenv("TEST_HOOK_STATE", filepath.Join(p.repo, "state")) },
		"no state":                  func(p *place) { p.Setenv("TEST_HOOK_STATE", "") },
		"log damaged":               func(p *place) { p.write(filepath.Join(p.state, "security-audit.log"), "{}\n") },
		"rules damaged": func(p *place) {
			p.commit("aesop-scan.json", "{")
			p.git(p.repo, "push", "--quiet", "--no-verify", "origin", "work:main")
			p.commit("d.txt", "d")
		},
		"object missing": func(p *place) {
			id := p.git(p.repo, "rev-parse", "HEAD~1^{tree}")
			path := filepath.Join(p.repo, ".git", "objects", id[:2], id[2:])
			if err := os.Remove(path); err != nil {
				p.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.install()
			p.commit("b.txt", "b")
			p.commit("c.txt", "c")
			spoil(p)
			before := p.remoteRefs()
			out, err := p.try(p.repo, "push", "origin", "work:refs/heads/other")
			if files := p.git(p.repo, "status", "--porcelain", "--ignored"); strings.Contains(files, "state") || exists(filepath.Join(p.repo, ".git", "aesop")) {
				t.Errorf("the log is in the repository: %s", files)
			}
			if err == nil || p.remoteRefs() != before || !strings.Contains(out, "push refused") && name != "object missing" {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestStandardInputThatIsNotFromGit(t *testing.T) {
	p := newPlace(t)
	zeros, head := strings.Repeat("0", 40), p.git(p.repo, "rev-parse", "HEAD")
	empty := filepath.Join(p.dir, "empty")
	p.write(empty, "")
	p.write(empty+"-not", "HEAD "+head+" refs/heads/x "+zeros+"\n")
	pipe := func(text string) *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	file := func(path string) *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	closed := pipe("")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		stdin *os.File
		want  hook.Reason
	}{
		"none":                   {nil, hook.NotFromGit},
		"closed":                 {closed, hook.NotFromGit},
		"device":                 {file(os.DevNull), hook.NotFromGit},
		"empty file":             {file(empty), hook.NotFromGit},
		"folder":                 {file(p.dir), hook.NotFromGit},
		"file":                   {file(empty + "-not"), hook.Clean},
		"empty pipe":             {pipe(""), hook.NothingToPush},
		"words":                  {pipe("push it\n"), hook.MalformedPush},
		"empty line":             {pipe("\n"), hook.MalformedPush},
		"cut off":                {pipe("HEAD " + head + " refs/heads/x " + zeros), hook.MalformedPush},
		"second line":            {pipe("HEAD " + head + " refs/heads/x " + zeros + "\nHEAD\n"), hook.MalformedPush},
		"short id":               {pipe("HEAD " + head[:39] + " refs/heads/x " + zeros + "\n"), hook.MalformedPush},
		"not a full name":        {pipe("HEAD " + head + " main " + zeros + "\n"), hook.MalformedPush},
		"object that is nowhere": {pipe("HEAD " + strings.Repeat("1", 40) + " refs/heads/x " + zeros + "\n"), hook.NotEvaluated},
		"clean":                  {pipe("HEAD " + head + " refs/heads/x " + zeros + "\n"), hook.Clean},
		"deletion":               {pipe("(delete) " + zeros + " refs/heads/x " + head + "\n"), hook.DeleteOnly},
	}
	if terminal, err := os.Open("/dev/ptmx"); err == nil {
		tests["terminal"] = struct {
			stdin *os.File
			want  hook.Reason
		}{terminal, hook.NotFromGit}
	}
	for name, tt := range tests {
		d := hook.Run(t.Context(), hook.Push{Dir: p.repo, State: p.state, Remote: "origin", Stdin: tt.stdin})
		allowed := tt.want == hook.Clean || tt.want == hook.NothingToPush || tt.want == hook.DeleteOnly
		if d.Reason != tt.want || d.Allowed != allowed || (d.Message == "") != allowed {
			t.Errorf("%s: %+v", name, d)
		}
		if tt.stdin != nil {
			_ = tt.stdin.Close()
		}
	}
	if len(p.entries()) != len(tests) {
		t.Errorf("the log has %d entries of %d pushes", len(p.entries()), len(tests))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	stdin := pipe("(delete) " + zeros + " refs/heads/x " + head + "\n")
	defer stdin.Close()
	if d := hook.Run(ended, hook.Push{Dir: p.repo, State: p.state, Stdin: stdin}); d.Allowed || d.Reason != hook.NotEvaluated || len(p.entries()) != len(tests)+1 {
		t.Errorf("interrupted: %+v", d)
	}
	for name, push := range map[string]hook.Push{
		"another repository": {Dir: p.repo, GitDir: p.remote, State: p.state},
		"no repository":      {Dir: p.dir, State: p.state},
		"no folder":          {Dir: filepath.Join(p.dir, "absent"), State: p.state},
		"pattern":            {Dir: p.repo, State: p.state, Protect: []string{"["}},
	} {
		push.Stdin = pipe("(delete) " + zeros + " refs/heads/x " + head + "\n")
		if d := hook.Run(t.Context(), push); d.Allowed || d.Reason != hook.NotEvaluated {
			t.Errorf("%s: %+v", name, d)
		}
		_ = push.Stdin.Close()
	}
	stdin = pipe("(delete) " + zeros + " refs/heads/x " + head + "\n")
	defer stdin.Close()
	if d := hook.Run(t.Context(), hook.Push{Dir: p.repo, GitDir: ".git", State: p.state, Stdin: stdin}); !d.Allowed {
		t.Errorf("the git directory by name: %+v", d)
	}
}

// FuzzPushLines: whatever comes on standard input, a ref of it that is a protected branch is never let through.
func FuzzPushLines(f *testing.F) {
	one, none := strings.Repeat("1", 40), strings.Repeat("0", 40)
	zeros := func(id string) bool { return strings.Count(id, "0") == len(id) }
	f.Add("HEAD " + one + " refs/heads/main " + none + "\n")
	f.Add("(delete) " + none + " refs/heads/release/1 " + one + "\nx y " + one + " refs/tags/t " + none + "\n")
	f.Add("HEAD " + one + " refs/heads/main " + none)
	f.Add("HEAD " + one + " refs/heads//x " + none + "\n") // which has no end of folders
	f.Add("\n")
	f.Add("a b c d\n")
	f.Fuzz(func(t *testing.T, text string) {
		refs, err := scan.ParsePush(strings.NewReader(text))
		if err != nil {
			return
		}
		lines := strings.SplitAfter(text, "\n")
		if len(lines)-1 != len(refs) || lines[len(lines)-1] != "" {
			t.Fatalf("%d refs of %q", len(refs), text)
		}
		named := false
		for i, line := range lines[:len(refs)] {
			words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
			n := len(words)
			want := scan.PushedRef{Local: strings.Join(words[:n-3], " "), LocalID: words[n-3], Remote: words[n-2], RemoteID: words[n-1]}
			if got := refs[i]; got != want || got.Deleted() != zeros(want.LocalID) || got.New() != zeros(want.RemoteID) {
				t.Errorf("%q: %+v", line, got)
			}
			named = named || want.Remote == "refs/heads/main"
		}
		if ref, ok := hook.Protected(refs, hook.DefaultProtect()); named && !ok || ok && !strings.HasPrefix(ref, "refs/heads/") {
			t.Errorf("%q: %s, %v", text, ref, ok)
		}
	})
}
