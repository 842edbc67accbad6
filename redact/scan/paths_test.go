package scan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/redact/scan"
)

func TestPathsInARepository(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{".gitignore": "ignored\n", "sub/tracked": "a", "gone": "g"})
	p.publish()
	p.git("", "init", "--quiet", filepath.Join(p.repo, "nested"))
	p.write(files{"sub/tracked": secret(), "new": secret(), "ignored/a": secret(), "gone": "", "link": "-> " + secret(), "nested/b": secret(), "sub/.gitignore": "deep\n",
		"sub/deep": secret()})
	scanned := func(paths ...string) *scan.Result {
		p.Helper()
		for i := range paths {
			paths[i] = filepath.Join(p.repo, paths[i])
		}
		return p.must(p.scanner(scan.Config{}).Paths(t.Context(), paths...))
	}
	all := []string{"critical content sub/tracked:1:1", "critical content new:1:1", "critical content link:1:1", "critical content nested/b:1:1"}
	p.expect(scanned("."), scan.Found, all...)
	p.expect(scanned(".", "new", "sub"), scan.Found, all...)
	p.expect(scanned("sub"), scan.Found, "critical content sub/tracked:1:1")
	p.expect(scanned("ignored"), scan.Found, "critical content ignored/a:1:1")
	p.expect(scanned("sub/deep", "ignored/a"), scan.Found, "critical content sub/deep:1:1", "critical content ignored/a:1:1")
	p.write(files{"here": "-> sub", "there": "-> ../outside", "../outside/x": secret()})
	p.expect(scanned("here"), scan.Found, "critical content sub/tracked:1:1")
	p.expect(scanned("there"), scan.Found, "critical content "+filepath.ToSlash(filepath.Join(p.repo, "there", "x"))+":1:1")
	p.write(files{"../law": law(), "aesop-scan.json": "-> ../law"})
	_, err := p.scanner(scan.Config{}).Paths(t.Context(), filepath.Join(p.repo, "new"))
	fails(t, err, "unreadable")
	p.write(files{"aesop-scan.json": ""})
	_, err = p.scanner(scan.Config{}).Paths(t.Context(), filepath.Join(p.repo, "gone"))
	fails(t, err, "unreadable")
	p.git(p.repo, "remote", "remove", "origin")
	_, err = p.scanner(scan.Config{}).Paths(t.Context(), p.repo)
	fails(t, err, "no_protected_branch")
	p.expect(p.must(p.scanner(scan.Config{BuiltIn: true}).Paths(t.Context(), filepath.Join(p.repo, "new"))), scan.Found, "critical content new:1:1")
}

// TestPathsOfOneName: a file elsewhere can be shown by the name of one in the repository, and is another all the same.
func TestPathsOfOneName(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"sub/x": "a"})
	p.publish()
	p.write(files{"../elsewhere/sub/x": secret()})
	t.Chdir(filepath.Join(p.dir, "elsewhere"))
	p.expect(p.must(p.scanner(scan.Config{}).Paths(t.Context(), filepath.Join(p.repo, "sub/x"), "sub/x")), scan.Found, "critical content sub/x:1:1")
}

func TestPathsOutsideOfRepositories(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.dir, "plain")
	p.repo = dir
	p.write(files{".gitignore": "*\n", "a/b": secret(), "a/c": "c", ".git/config": secret(), "sub/.git/x": secret(), "link": "-> a/b", "aesop-scan.json": "{"})
	s := p.scanner(scan.Config{Dir: dir})
	t.Chdir(dir)
	p.expect(p.must(s.Paths(t.Context(), ".")), scan.Found, "critical content a/b:1:1")
	p.expect(p.must(s.Paths(t.Context(), "a/c")), scan.Clean)
	p.expect(p.must(s.Paths(t.Context(), "link")), scan.Found, "critical content link:1:1")
	p.write(files{"folder": "-> a"})
	p.expect(p.must(s.Paths(t.Context(), "folder")), scan.Found, "critical content folder/b:1:1")
	if err := os.MkdirAll("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	p.expect(p.must(s.Paths(t.Context(), "empty")), scan.Nothing)
	_, err := s.Paths(t.Context(), "absent")
	fails(t, err, "unreadable")
	if os.Getuid() != 0 {
		if err := os.Chmod("a/c", 0); err != nil {
			t.Fatal(err)
		}
		_, err := s.Paths(t.Context(), ".")
		fails(t, err, "unreadable")
	}
}

// TestPushToARemoteWhoseNameBeginsAnother: what origin/fork has, origin need not have.
func TestPushToARemoteWhoseNameBeginsAnother(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	fork := filepath.Join(p.dir, "fork.git")
	p.git("", "init", "--quiet", "--bare", fork)
	p.git(p.repo, "config", "remote.origin/fork.url", fork) // as git itself once let one add it
	p.git(p.repo, "config", "remote.origin/fork.fetch", "+refs/heads/*:refs/remotes/origin/fork/*")
	p.commit("Add", files{"b": secret()})
	p.git(p.repo, "push", "--quiet", "origin/fork", "HEAD:work")
	line := "HEAD " + p.commit("Remove", files{"b": ""}) + " refs/heads/x " + zeros + "\n"
	p.expect(p.push("origin", line), scan.Found, "critical content b:1:1")
	p.expect(p.push(p.remote, line), scan.Found, "critical content b:1:1")
	p.expect(p.push("origin/fork", line), scan.Clean)
	p.expect(p.push(fork, line), scan.Clean)
}

// TestPushElsewhere: what was fetched from a remote says nothing about the other place that it pushes to.
func TestPushElsewhere(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": secret()})
	p.publish()
	line := "HEAD " + p.commit("More", files{"b": "b"}) + " refs/heads/x " + zeros + "\n"
	p.git(p.repo, "remote", "set-url", "--push", "origin", p.remote)
	p.expect(p.push("origin", line), scan.Clean)
	public := filepath.Join(p.dir, "public.git")
	p.git("", "init", "--quiet", "--bare", public)
	p.git(p.repo, "remote", "set-url", "--push", "origin", public)
	p.expect(p.push("origin", line), scan.Found, "critical content a:1:1")
	for _, urls := range [][2]string{{"https://host.test/a/b.git", "git@host.test:a/b"}, {"ssh://git@host.test/a/b", "https://host.test/a/b.git"}} {
		p.git(p.repo, "remote", "set-url", "origin", urls[0])
		p.git(p.repo, "remote", "set-url", "--push", "origin", urls[1])
		p.expect(p.push("origin", line), scan.Clean)
	}
}

func TestPushToSeveralRemotes(t *testing.T) {
	p := newPlace(t)
	tip := p.commit("Begin", files{"a": secret()})
	p.publish()
	public := filepath.Join(p.dir, "public.git")
	p.git("", "init", "--quiet", "--bare", public)
	p.git(p.repo, "remote", "add", "public", public)
	next := p.commit("More", files{"b": "b"})
	line := "HEAD " + next + " refs/heads/x " + zeros + "\n"
	p.expect(p.push("origin", line), scan.Clean)
	p.expect(p.push(p.remote, line), scan.Clean)
	p.expect(p.push("public", line), scan.Found, "critical content a:1:1")
	p.expect(p.push(public, line), scan.Found, "critical content a:1:1")
	p.expect(p.push("https://host.invalid/x.git", line), scan.Found, "critical content a:1:1")
	p.expect(p.push("", line), scan.Clean)
	// What the remote has by its own words counts for every ref.
	p.expect(p.push("public", line+"x "+next+" refs/heads/y "+tip+"\n"), scan.Clean)
	// Every ref is looked at.
	p.git(p.repo, "checkout", "--quiet", "--orphan", "other")
	orphan := p.commit("Other", files{"c": secret()})
	result := p.push("origin", line+"x "+orphan+" refs/heads/y "+zeros+"\n")
	if result.Outcome != scan.Found || result.Counts.Commits != 2 {
		t.Errorf("%+v", result)
	}
}

func TestPushFromAnotherFolderOfObjects(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	engine := filepath.Join(p.dir, "engine.git")
	p.git("", "clone", "--quiet", "--bare", p.repo, engine)
	if err := os.WriteFile(filepath.Join(p.dir, "s"), []byte(secret()), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := p.git(engine, "hash-object", "-w", filepath.Join(p.dir, "s"))
	index := filepath.Join(p.dir, "index")
	t.Setenv("GIT_INDEX_FILE", index)
	p.git(engine, "update-index", "--add", "--cacheinfo", "100644,"+blob+",s")
	tip := p.git(engine, "commit-tree", "-p", "main", "-m", "x", p.git(engine, "write-tree"))
	line := "x " + tip + " refs/heads/x " + zeros + "\n"
	_, err := p.scanner(scan.Config{}).Push(t.Context(), "origin", strings.NewReader(line))
	fails(t, err, "absent")
	t.Setenv("GIT_OBJECT_DIRECTORY", filepath.Join(engine, "objects"))
	t.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", filepath.Join(p.repo, ".git", "objects"))
	p.expect(p.push("origin", line), scan.Found, "critical content s:1:1")
}

func TestProgressAndEnd(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	p.commit("More", files{"b": "b"})
	var last scan.Progress
	p.must(p.scanner(scan.Config{Progress: func(at scan.Progress) { last = at }}).History(t.Context()))
	if last.Commits != 2 || last.OfCommits != 2 {
		t.Errorf("progress ends at %+v", last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := p.scanner(scan.Config{Progress: func(scan.Progress) { cancel() }})
	if _, err := s.History(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestPathsEndWithTheirContext, whether git lists the files or somebody does, and not when all are read.
func TestPathsEndWithTheirContext(t *testing.T) {
	p := newPlace(t)
	all := files{}
	for n := range 250 {
		all[fmt.Sprint("f", n)] = fmt.Sprint(n)
	}
	p.commit("Begin", all)
	p.publish()
	var named []string
	for name := range all {
		named = append(named, filepath.Join(p.repo, name))
	}
	for what, paths := range map[string][]string{"folder": {p.repo}, "files": named} {
		ctx, cancel := context.WithCancel(t.Context())
		told := 0 // each hundred files
		s := p.scanner(scan.Config{Progress: func(scan.Progress) { told++; cancel() }})
		if _, err := s.Paths(ctx, paths...); !errors.Is(err, context.Canceled) || told != 1 {
			t.Errorf("%s: %v, after it told %d times", what, err, told)
		}
	}
}

// TestDocuments: what programs read has the shape that they expect, and no part of a secret.
func TestDocuments(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	p.commit("Begin", files{"aesop-scan.json": law(exempt("doc", rule, secret(), "doc"))})
	p.publish()
	p.commit("Words "+secret(), files{"doc": secret(), "a b": "é" + secret(), ".env": "x", secret(): "x"})
	result := p.must(p.scanner(scan.Config{Now: func() time.Time { return early() }}).Range(t.Context(), "origin/main..HEAD"))
	var text, sarif strings.Builder
	if err := errors.Join(result.WriteText(&text), result.WriteSARIF(&sarif)); err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{text.String(), sarif.String(), string(document)} {
		if strings.Contains(output, secret()[:8]) || strings.Contains(output, secret()[4:]) {
			t.Errorf("the secret is shown: %s", output)
		}
	}
	if !strings.Contains(text.String(), "\nFOUND: 3 secrets (3 blobs, 1 commit scanned; 1 ALLOWED-DOC, 1 WARN)\n") {
		t.Errorf("text is %s", text.String())
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			ColumnKind string
			Results    []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation *struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, StartColumn int }
					}
					LogicalLocations []struct{ FullyQualifiedName string }
				}
				PartialFingerprints map[string]string
				Suppressions        []struct{ Kind, Justification string }
			}
		}
	}
	if err := json.Unmarshal([]byte(sarif.String()), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) != len(result.Findings) {
		t.Fatalf("%v: %s", err, sarif.String())
	}
	run, prints := log.Runs[0], map[string]bool{}
	levels := map[scan.Status]string{scan.Fatal: "error", scan.Warning: "warning", scan.AllowedDoc: "note"}
	for i, r := range run.Results {
		f := result.Findings[i]
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.RuleID != f.Rule || r.Message.Text == "" || len(r.Locations) != 1 || r.Level != levels[f.Status] ||
			(f.Status == scan.AllowedDoc) != (len(r.Suppressions) == 1) {
			t.Errorf("result %+v of %+v", r, f)
		}
		at := r.Locations[0]
		switch {
		case f.Place == scan.InMessage:
			if len(at.LogicalLocations) != 1 {
				t.Errorf("place %+v", at)
			}
		case f.Path == "a b":
			if at.PhysicalLocation.ArtifactLocation.URI != "a%20b" || at.PhysicalLocation.Region.StartLine != 1 || at.PhysicalLocation.Region.StartColumn != 2 {
				t.Errorf("place %+v", at.PhysicalLocation)
			}
		case f.Place == scan.InName && at.PhysicalLocation.Region != nil:
			t.Errorf("a name has a line: %+v", at)
		}
		for _, print := range r.PartialFingerprints {
			if prints[print] {
				t.Errorf("two results have one fingerprint: %+v", r)
			}
			prints[print] = true
		}
	}
}

func FuzzParsePush(f *testing.F) {
	id := strings.Repeat("1", 40)
	f.Add("refs/heads/a " + id + " refs/heads/b " + zeros + "\n")
	f.Add("(delete) " + zeros + " refs/heads/b " + id + "\na b c " + id + " refs/x " + id + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		refs, err := scan.ParsePush(strings.NewReader(text))
		if err != nil {
			return
		}
		var back strings.Builder
		for _, r := range refs {
			back.WriteString(r.Local + " " + r.LocalID + " " + r.Remote + " " + r.RemoteID + "\n")
		}
		if back.String() != text {
			t.Errorf("%q was read as %q", text, back.String())
		}
	})
}
