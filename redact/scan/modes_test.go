package scan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/redact/scan"
)

// ranged scans a range of p.
func (p *place) ranged(revisions string) *scan.Result {
	p.Helper()
	return p.must(p.scanner(scan.Config{}).Range(p.Context(), revisions))
}

// raw makes a commit of a text, and checks it out.
func (p *place) raw(text string) {
	p.Helper()
	path := filepath.Join(p.dir, "commit")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	p.git(p.repo, "update-ref", "HEAD", p.git(p.repo, "hash-object", "-t", "commit", "-w", "--literally", path))
}

// fails checks the code of an error.
func fails(t *testing.T, err error, code string) {
	t.Helper()
	var e *scan.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error is %v, want %s", err, code)
	}
}

func TestRangeReadsObjectsNotTheWorkTree(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a.txt": "a"})
	p.publish()
	p.commit("Add", files{"a.txt": secret()})
	p.write(files{"a.txt": "clean again", "b.txt": secret()})
	p.expect(p.ranged("origin/main..HEAD"), scan.Found, "critical content a.txt:1:1")
	p.expect(p.ranged("origin/main.."), scan.Found, "critical content a.txt:1:1")
	p.expect(p.ranged("HEAD..origin/main"), scan.Nothing)
}

func TestRangeFindsEveryKindOfText(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a.txt": "a"})
	p.publish()
	for name, tt := range map[string]struct {
		make func(*place)
		want []string
	}{
		"message":       {func(p *place) { p.commit("Words\n\nthen "+secret(), nil) }, []string{"critical message :3:6"}},
		"symbolic link": {func(p *place) { p.commit("x", files{"link": "-> /x/" + secret()}) }, []string{"critical content link:1:4"}},
		"path":          {func(p *place) { p.commit("x", files{secret() + "/b": "b"}) }, []string{"critical name " + marker(p.T) + "/b:0:0"}},
		"binary": {func(p *place) { p.commit("x", files{"b.bin": "\x00\x01\xff\x00\n\x00é" + secret() + "\x00"}) },
			[]string{"critical content b.bin:2:3"}},
		"odd names": {func(p *place) {
			p.commit("x", files{"a\n\"b\".txt": secret(), "ü\t'": secret(), "\xff": secret(), ":1": secret()})
		}, []string{"critical content a\n\"b\".txt:1:1", "critical content ü\t':1:1", "critical content \xff:1:1", "critical content :1:1:1"}},
		"one content at two paths": {func(p *place) { p.commit("x", files{"x/b": secret(), "y/c": secret()}) },
			[]string{"critical content x/b:1:1", "critical content y/c:1:1"}},
		"names alone": {func(p *place) {
			p.commit("x", files{".env": "A=1", "tokenizer.go": "package x", "id_rsa": "x", ".env.example": "A=", "cert.pem": "-----BEGIN CERTIFICATE-----\nx", "key.pem": "x"})
		}, []string{"warning low name .env:0:0", "warning low name id_rsa:0:0", "warning low name key.pem:0:0"}},
		"two in one line": {func(p *place) { p.commit("x", files{"b": "é " + secret() + " " + secret() + "\n"}) },
			[]string{"critical content b:1:3", "critical content b:1:24"}},
		"author": {func(p *place) {
			p.Setenv("GIT_AUTHOR_NAME", secret())
			p.commit("x", nil)
		}, []string{"critical author :3:8"}},
		"unusual header": {func(p *place) {
			p.raw("tree " + p.git(p.repo, "rev-parse", "origin/main^{tree}") + "\nparent " + p.git(p.repo, "rev-parse", "origin/main") +
				"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n" + secret() + " x\n y\n\nmessage\n")
		}, []string{"critical header :5:1"}},
		"committer": {func(p *place) {
			p.Setenv("GIT_COMMITTER_EMAIL", secret()+"@example.com")
			p.commit("x", nil)
		}, []string{"critical committer :4:19"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := &place{t, p.dir, p.repo, p.remote}
			q.git(q.repo, "checkout", "--quiet", "--detach", "origin/main")
			tt.make(q)
			outcome := scan.Found
			if strings.HasPrefix(tt.want[0], "warning") {
				outcome = scan.Clean
			}
			result := q.ranged("origin/main..HEAD")
			q.expect(result, outcome, tt.want...)
			var out strings.Builder
			if err := errors.Join(result.WriteText(&out), result.WriteSARIF(&out)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), secret()) {
				t.Errorf("the secret is shown: %s", out.String())
			}
		})
	}
}

func TestRangeOfMerges(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a", "b": "b"})
	p.publish()
	p.git(p.repo, "checkout", "--quiet", "-b", "side")
	p.commit("Side", files{"b": "b2"})
	p.git(p.repo, "checkout", "--quiet", "main")
	p.commit("Main", files{"a": "a2"})
	p.git(p.repo, "merge", "--quiet", "--no-commit", "side")
	p.write(files{"evil": secret()})
	p.git(p.repo, "add", "--all")
	p.git(p.repo, "commit", "--quiet", "--message=Merge")
	p.expect(p.ranged("origin/main..HEAD"), scan.Found, "critical content evil:1:1")
	p.expect(p.ranged("origin/main..HEAD^1"), scan.Clean)
	p.expect(p.ranged("origin/main..HEAD^2"), scan.Clean)
}

func TestAnnotatedTags(t *testing.T) {
	p := newPlace(t)
	tip := p.commit("Begin", files{"a": "a"})
	p.publish()
	p.git(p.repo, "tag", "--annotate", "--message=Release\n\n"+secret(), "v1")
	p.git(p.repo, "tag", "--annotate", "--message=outer", "v2", "v1")
	p.git(p.repo, "tag", "plain")
	p.expect(p.ranged("origin/main..v1"), scan.Found, "critical message :3:1")
	p.expect(p.ranged("origin/main..plain"), scan.Nothing)
	v2 := p.git(p.repo, "rev-parse", "v2")
	result := p.push("origin", "refs/tags/v2 "+v2+" refs/tags/v2 "+zeros+"\n")
	p.expect(result, scan.Found, "critical message :3:1")
	if result.Counts.Tags != 2 || result.Counts.Commits != 1 || result.Findings[0].Commit == tip {
		t.Errorf("%+v", result)
	}
	result = p.must(p.scanner(scan.Config{}).History(t.Context()))
	p.expect(result, scan.Found, "critical message :3:1")
	if result.Counts.Tags != 2 || result.Counts.Commits != 1 || result.Counts.Blobs != 1 {
		t.Errorf("%+v", result.Counts)
	}
}

// TestRefsThatHoldNoCommit: a push can hand on any object.
func TestRefsThatHoldNoCommit(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	p.write(files{"dir/b": secret()})
	p.git(p.repo, "add", "--all")
	blob, tree := p.git(p.repo, "hash-object", "-w", "dir/b"), p.git(p.repo, "write-tree")
	p.expect(p.push("origin", "x "+blob+" refs/tags/blob "+zeros+"\n"), scan.Found, "critical content refs/tags/blob:1:1")
	p.expect(p.push("origin", "x "+tree+" refs/tags/tree "+zeros+"\n"), scan.Found, "critical content dir/b:1:1")
	p.git(p.repo, "update-ref", "refs/tags/blob", blob)
	p.expect(p.must(p.scanner(scan.Config{}).History(t.Context())), scan.Found, "critical content refs/tags/blob:1:1")
	p.git(p.repo, "update-ref", "-d", "refs/tags/blob")
	p.git(p.repo, "branch", secret())
	p.expect(p.must(p.scanner(scan.Config{}).History(t.Context())), scan.Found, "critical ref refs/heads/"+marker(t)+":0:0")
}

func TestStagedReadsTheIndex(t *testing.T) {
	p := newPlace(t)
	staged := func(c scan.Config) *scan.Result { p.Helper(); return p.must(p.scanner(c).Staged(t.Context())) }
	p.write(files{"first": secret()})
	p.git(p.repo, "add", "--all")
	p.expect(staged(scan.Config{BuiltIn: true}), scan.Found, "critical content first:1:1")
	p.commit("Begin", files{"first": "", "a": secret(), "keep": "k"})
	p.publish()
	p.expect(staged(scan.Config{}), scan.Nothing)
	p.write(files{"b": secret(), "keep": secret()})
	p.git(p.repo, "add", "b")
	p.write(files{"b": "clean"})
	p.expect(staged(scan.Config{}), scan.Found, "critical content b:1:1")
	p.git(p.repo, "add", "b")
	p.expect(staged(scan.Config{}), scan.Clean)

	other := filepath.Join(p.dir, "other-index")
	p.Setenv("GIT_INDEX_FILE", other)
	p.git(p.repo, "add", "keep")
	if err := os.Unsetenv("GIT_INDEX_FILE"); err != nil {
		t.Fatal(err)
	}
	p.expect(staged(scan.Config{}), scan.Clean)
	p.expect(staged(scan.Config{Index: other}), scan.Found, "critical content keep:1:1")
}

// TestStagedInAConflict: each side counts.
func TestStagedInAConflict(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	p.git(p.repo, "checkout", "--quiet", "-b", "side")
	p.commit("Side", files{"a": secret()})
	p.git(p.repo, "checkout", "--quiet", "main")
	p.commit("Main", files{"a": "a2"})
	p.git(p.repo, "config", "merge.conflictStyle", "merge")
	if _, err := p.tryGit(p.repo, "merge", "--quiet", "side"); err == nil {
		t.Fatal("no conflict")
	}
	p.expect(p.must(p.scanner(scan.Config{}).Staged(t.Context())), scan.Found, "critical content a:1:1")
}

func TestWhatCannotBeEvaluated(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	tip := p.commit("Second", files{"b": "b"})
	s := p.scanner(scan.Config{})
	for revisions, code := range map[string]string{"nowhere..HEAD": "unresolved", "HEAD..nowhere": "unresolved", "HEAD": "usage", "HEAD...HEAD": "usage",
		"HEAD..HEAD^{tree}": "unresolved", "--all..HEAD": "unresolved", "HEAD..--all": "unresolved", "a\nb..HEAD": "unresolved"} {
		_, err := s.Range(t.Context(), revisions)
		fails(t, err, code)
	}
	_, err := s.Push(t.Context(), "origin", strings.NewReader("x "+strings.Repeat("1", 40)+" refs/heads/x "+zeros+"\n"))
	fails(t, err, "absent")

	_, err = p.scanner(scan.Config{Protected: "origin/other"}).History(t.Context())
	fails(t, err, "no_protected_branch")
	p.expect(p.must(p.scanner(scan.Config{Protected: "origin/main"}).History(t.Context())), scan.Clean)
	if _, err := p.scanner(scan.Config{Dir: p.dir}).History(t.Context()); !errors.Is(err, scan.ErrNotRepository) {
		t.Errorf("outside of a repository: %v", err)
	}

	blob := p.git(p.repo, "rev-parse", tip+":b")
	if err := os.Remove(filepath.Join(p.repo, ".git/objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	_, err = s.Range(t.Context(), "origin/main..HEAD")
	fails(t, err, "absent")
	if _, err = s.History(t.Context()); err == nil {
		t.Error("a history without an object")
	}
}

func TestClonesThatLeaveThingsOut(t *testing.T) {
	p := newPlace(t)
	p.commit("One", files{"a": secret()})
	p.commit("Two", files{"b": "b"})
	p.commit("Three", files{"c": "c"})
	p.publish()
	p.git(p.remote, "config", "uploadpack.allowFilter", "true")
	shallow, partial := filepath.Join(p.dir, "shallow"), filepath.Join(p.dir, "partial")
	p.git("", "clone", "--quiet", "--depth=2", "file://"+p.remote, shallow)
	p.git("", "clone", "--quiet", "--filter=blob:none", "--no-checkout", "file://"+p.remote, partial)
	s := p.scanner(scan.Config{Dir: shallow})
	_, err := s.History(t.Context())
	fails(t, err, "shallow")
	_, err = s.Range(t.Context(), "HEAD~2..HEAD")
	fails(t, err, "unresolved")
	p.expect(p.must(s.Range(t.Context(), "HEAD~1..HEAD")), scan.Clean)

	before := p.git(partial, "count-objects", "-v")
	_, err = p.scanner(scan.Config{Dir: partial}).History(t.Context())
	fails(t, err, "absent")
	if p.git(partial, "count-objects", "-v") != before {
		t.Error("something was fetched")
	}
}

func TestAddedWorksInABareRepository(t *testing.T) {
	p := newPlace(t)
	base := p.commit("Begin", files{"a": "a"})
	mid := p.commit("Add", files{"b": secret()})
	tip := p.commit("Remove", files{"b": ""})
	p.publish()
	p.git(p.remote, "branch", "-m", "main", "unusual")
	added := func(base, commit string) *scan.Result {
		p.Helper()
		return p.must(p.scanner(scan.Config{GitDir: p.remote}).Added(t.Context(), base, commit))
	}
	p.expect(added(base, tip), scan.Found, "critical content b:1:1")
	p.expect(added("", tip), scan.Found, "critical content b:1:1")
	p.expect(added(mid, tip), scan.Clean)
	p.expect(added(tip, tip), scan.Nothing)
	for _, ids := range [][2]string{{zeros, tip}, {base, zeros}, {base, ""}} {
		if _, err := p.scanner(scan.Config{GitDir: p.remote}).Added(t.Context(), ids[0], ids[1]); err == nil {
			t.Errorf("%q can be evaluated", ids)
		}
	}
}

// TestNothingOfTheRepositoryRuns: not what its configuration or attributes name, nor what it would have read instead of what is there.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a", ".gitattributes": "* diff=evil filter=evil\n"})
	p.publish()
	trace := filepath.Join(p.dir, "trace")
	program := filepath.Join(p.dir, "evil.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+trace+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tip := p.commit("Add", files{"b": secret()})
	harmless := p.git(p.repo, "commit-tree", "-p", "origin/main", "-m", "x", "origin/main^{tree}")
	p.git(p.repo, "replace", tip, harmless)
	p.write(files{"b": "changed", "c": "new"})
	for _, key := range []string{"diff.evil.textconv", "diff.external", "filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "core.sshCommand",
		"core.pager", "core.alternateRefsCommand"} {
		p.git(p.repo, "config", key, program)
	}
	config, err := os.ReadFile(filepath.Join(p.repo, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	s := p.scanner(scan.Config{})
	p.expect(p.must(s.Range(t.Context(), "origin/main.."+tip)), scan.Found, "critical content b:1:1")
	p.must(s.Staged(t.Context()))
	p.must(s.History(t.Context()))
	p.must(s.Paths(t.Context(), p.repo))
	p.must(s.Push(t.Context(), "origin", strings.NewReader("x "+tip+" refs/heads/x "+zeros+"\n")))
	if ran, err := os.ReadFile(trace); err == nil {
		t.Errorf("it ran %s", ran)
	}
	if after, err := os.ReadFile(filepath.Join(p.repo, ".git/config")); err != nil || string(after) != string(config) {
		t.Errorf("the configuration is now %s (%v)", after, err)
	}
}

// TestErrorsShowNoSecret: also where they quote what they are about.
func TestErrorsShowNoSecret(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	p.write(files{"empty/x": "x"})
	staged := func(c scan.Config) func() error {
		return func() error { _, err := p.scanner(c).Staged(t.Context()); return err }
	}
	law := func(text string) func() error {
		return func() error {
			p.write(files{"aesop-scan.json": text})
			_, err := p.scanner(scan.Config{}).Paths(t.Context(), filepath.Join(p.repo, "a"))
			return err
		}
	}
	for name, fail := range map[string]func() error{
		"a key":         law(`{"schemaVersion": 1, "` + secret() + `": 1}`),
		"a severity":    law(`{"schemaVersion": 1, "rules": [{"id": "x", "severity": "` + secret() + `", "pattern": "abcd"}]}`),
		"a rule":        law(`{"schemaVersion": 1, "rules": [{"id": "` + secret() + `", "severity": "low", "pattern": "abcd"}]}`),
		"a day":         law(`{"schemaVersion": 1, "exemptions": [{"path": "a", "rule": "a", "sha256": "` + sum("") + `", "as": "doc", "reason": "r", "expires": "` + secret() + `"}]}`),
		"a branch":      staged(scan.Config{Protected: secret()}),
		"no repository": staged(scan.Config{Dir: filepath.Join(p.dir, secret())}),
		"an index":      staged(scan.Config{Index: filepath.Join(p.repo, "empty", "x", secret())}),
		"a range":       func() error { _, err := p.scanner(scan.Config{}).Range(t.Context(), secret()+".."); return err },
		"what to approve": func() error {
			_, err := p.scanner(scan.Config{State: filepath.Join(p.dir, "state")}).Approve(t.Context(), scan.ApproveRequest{Path: secret(), Rule: "x", Reason: "r"})
			return err
		},
	} {
		if err := fail(); err == nil || strings.Contains(err.Error(), secret()[2:]) {
			t.Errorf("%s: %v", name, err)
		}
		p.write(files{"aesop-scan.json": ""})
	}
}
