package scan_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/internal/document"
	"aesop/redact/scan"
)

// rule is the one that finds secret.
func rule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte(secret()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scan.New(scan.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Paths(t.Context(), filepath.Join(dir, "x"))
	if err != nil || len(result.Findings) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	return result.Findings[0].Rule
}

// marker stands where secret was.
func marker(t *testing.T) string { t.Helper(); return "[REDACTED:" + rule(t) + "]" }

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// exemption is an entry of aesop-scan.json.
type exemption map[string]string

func exempt(path, rule, text, as string) exemption {
	return exemption{"path": path, "rule": rule, "sha256": sum(text), "as": as, "reason": "it tests redaction", "expires": "2027-01-31"}
}

// law is the text of an aesop-scan.json.
func law(exemptions ...exemption) string {
	text, err := json.Marshal(map[string]any{"schemaVersion": 1, "exemptions": exemptions})
	if err != nil {
		panic(err)
	}
	return "// what looks like secrets here\n" + string(text)
}

func at(day string) func() time.Time {
	return func() time.Time {
		when, err := time.Parse(time.RFC3339, day)
		if err != nil {
			panic(err)
		}
		return when
	}
}

var early = at("2026-12-01T00:00:00Z")

// TestExemptionIsForOneRuleInOneContentOfOneFile is what a gate that has exemptions must never lose.
func TestExemptionIsForOneRuleInOneContentOfOneFile(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	text := "see " + secret() + "\n"
	other := "gh" + "p_" + strings.Repeat("a8Kd", 9) + "\n"
	p.commit("Begin", files{"aesop-scan.json": law(exempt("doc/keys.md", rule, text, "doc"), exempt("src/redact.go", rule, text, "redaction_source"),
		exempt("both.md", rule, text+other, "doc"))})
	p.publish()
	for name, tt := range map[string]struct {
		files files
		want  []string
		fatal bool
	}{
		"the file":                   {files{"doc/keys.md": text}, []string{"allowed_doc critical content doc/keys.md:1:5"}, false},
		"the other kind":             {files{"src/redact.go": text}, []string{"allowed_redaction_source critical content src/redact.go:1:5"}, false},
		"another file with its name": {files{"x/doc/keys.md": text}, []string{"critical content x/doc/keys.md:1:5"}, true},
		"a copy beside it": {files{"doc/keys.md": text, "doc/copy.md": text},
			[]string{"allowed_doc critical content doc/keys.md:1:5", "critical content doc/copy.md:1:5"}, true},
		"changed content": {files{"doc/keys.md": text + "\n"}, []string{"critical content doc/keys.md:1:5"}, true},
		"another secret":  {files{"doc/keys.md": "see " + secret()[:19] + "Z\n"}, []string{"critical content doc/keys.md:1:5"}, true},
		"another rule": {files{"both.md": text + other},
			[]string{"allowed_doc critical content both.md:1:5", "critical content both.md:2:1"}, true},
		"other case": {files{"doc/Keys.md": text}, []string{"critical content doc/Keys.md:1:5"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			q := &place{t, p.dir, p.repo, p.remote}
			q.git(q.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
			tip := q.commit("x", tt.files)
			outcome := scan.Clean
			if tt.fatal {
				outcome = scan.Found
			}
			s := q.scanner(scan.Config{Now: early})
			q.expect(q.must(s.Range(t.Context(), "origin/main..HEAD")), outcome, tt.want...)
			q.expect(q.must(s.Push(t.Context(), "origin", strings.NewReader("x "+tip+" refs/heads/x "+zeros+"\n"))), outcome, tt.want...)
			q.expect(q.must(s.History(t.Context())), outcome, tt.want...)
			q.expect(q.must(s.Added(t.Context(), q.git(q.repo, "rev-parse", "origin/main"), tip)), outcome, tt.want...)
			q.git(q.repo, "reset", "--quiet", "--soft", "HEAD~1")
			q.expect(q.must(s.Staged(t.Context())), outcome, tt.want...)
			q.expect(q.must(s.Paths(t.Context(), q.repo)), outcome, tt.want...)
			q.git(q.repo, "reset", "--quiet", "--hard")
		})
	}
}

func TestExemptionExpires(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	p.commit("Begin", files{"aesop-scan.json": law(exempt("a", rule, secret(), "doc"))})
	p.publish()
	p.commit("Add", files{"a": secret()})
	for day, outcome := range map[string]scan.Outcome{"2027-01-31T23:59:59Z": scan.Clean, "2027-02-01T00:00:00Z": scan.Found} {
		result := p.must(p.scanner(scan.Config{Now: at(day)}).Range(t.Context(), "origin/main..HEAD"))
		if result.Outcome != outcome || (outcome == scan.Found) != (result.Findings[0].Note == "its exemption expired on 2027-01-31") {
			t.Errorf("%s: %+v", day, result)
		}
	}
}

// TestBranchCanOnlyTighten: by its own file.
func TestBranchCanOnlyTighten(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	kept, mine := exempt("kept", rule, secret(), "doc"), exempt("mine", rule, secret(), "doc")
	p.commit("Begin", files{"aesop-scan.json": law(kept)})
	p.publish()
	shorter := exempt("kept", rule, secret(), "doc")
	shorter["expires"] = "2026-11-01"
	longer := exempt("kept", rule, secret(), "doc")
	longer["expires"] = "2099-11-01"
	for name, tt := range map[string]struct {
		law  string
		want []string
	}{
		"adds an exemption": {law(kept, mine), []string{"allowed_doc critical content kept:1:1", "critical content mine:1:1"}},
		"removes one":       {law(mine), []string{"critical content kept:1:1", "critical content mine:1:1"}},
		"removes the file":  {"", []string{"critical content kept:1:1", "critical content mine:1:1"}},
		"shortens one":      {law(shorter), []string{"critical content kept:1:1", "critical content mine:1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := &place{t, p.dir, p.repo, p.remote}
			q.git(q.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
			q.commit("x", files{"kept": secret(), "mine": secret(), "aesop-scan.json": tt.law})
			s := q.scanner(scan.Config{Now: early})
			q.expect(q.must(s.Range(t.Context(), "origin/main..HEAD")), scan.Found, tt.want...)
			q.expect(q.must(s.Paths(t.Context(), q.repo)), scan.Found, tt.want...)
			q.git(q.repo, "reset", "--quiet", "--soft", "HEAD~1")
			q.expect(q.must(s.Staged(t.Context())), scan.Found, tt.want...)
		})
	}
	p.git(p.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
	p.commit("x", files{"kept": secret(), "aesop-scan.json": law(longer)})
	p.expect(p.must(p.scanner(scan.Config{Now: at("2028-01-01T00:00:00Z")}).Range(t.Context(), "origin/main..HEAD")), scan.Found, "critical content kept:1:1")
	p.expect(p.must(p.scanner(scan.Config{Now: early, BuiltIn: true}).Range(t.Context(), "origin/main..HEAD")), scan.Found, "critical content kept:1:1")
	p.commit("x", files{"aesop-scan.json": "{"})
	if _, err := p.scanner(scan.Config{}).Range(t.Context(), "origin/main..HEAD"); !isDocumentError(err) {
		t.Errorf("a damaged file: %v", err)
	}
	p.commit("x", files{"aesop-scan.json": "-> elsewhere"})
	_, err := p.scanner(scan.Config{}).Range(t.Context(), "origin/main..HEAD")
	fails(t, err, "unreadable")
}

func isDocumentError(err error) bool {
	var e *document.Error
	return errors.As(err, &e)
}

func TestApprove(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	old := p.commit("Add", files{"doc.md": secret()})
	p.commit("Change", files{"doc.md": "\n" + secret(), "copy.md": "\n" + secret()})
	state := filepath.Join(p.dir, "state")
	s := p.scanner(scan.Config{State: state, Now: early})
	approve := func(q scan.ApproveRequest) error { _, err := s.Approve(t.Context(), q); return err }
	p.expect(p.must(s.Range(t.Context(), "origin/main..HEAD")), scan.Found, "critical content doc.md:1:1", "critical content doc.md:2:1", "critical content copy.md:2:1")
	for code, q := range map[string]scan.ApproveRequest{
		"usage":          {Path: "doc.md", Rule: rule},
		"not_found":      {Path: "doc.md", Rule: "another", Reason: "r"},
		"no_index_entry": {Path: "x.md", Rule: rule, Reason: "r"},
		"unresolved":     {Path: "doc.md", Rule: rule, Reason: "r", At: "nowhere"},
	} {
		fails(t, approve(q), code)
	}
	fails(t, approve(scan.ApproveRequest{Path: "doc.md", Rule: rule, Reason: "r", Expires: early()}), "usage")
	p.write(files{"doc.md": "the work tree has no say"})
	approval, err := s.Approve(t.Context(), scan.ApproveRequest{Path: "doc.md", Rule: rule, Reason: " it is the vendor's "})
	if err != nil || approval.SHA256 != sum("\n"+secret()) || !approval.Expires.Equal(early().AddDate(0, 0, 90)) || approval.Reason != "it is the vendor's" {
		t.Fatalf("%+v, %v", approval, err)
	}
	p.expect(p.must(s.Range(t.Context(), "origin/main..HEAD")), scan.Found, "critical content doc.md:1:1", "approved_by_user critical content doc.md:2:1",
		"critical content copy.md:2:1")
	for _, q := range []scan.ApproveRequest{{Path: "doc.md", Rule: rule, Reason: "r", At: old}, {Path: "copy.md", Rule: rule, Reason: "r"}} {
		if err := approve(q); err != nil {
			t.Fatal(err)
		}
	}
	result := p.must(s.Range(t.Context(), "origin/main..HEAD"))
	if result.Outcome != scan.Clean || result.Totals.Approved != 3 || !strings.Contains(result.Summary(), "3 APPROVED-BY-USER") {
		t.Errorf("%+v", result)
	}
	later := p.scanner(scan.Config{State: state, Now: at("2027-06-01T00:00:00Z")})
	result = p.must(later.Range(t.Context(), "origin/main..HEAD"))
	if result.Outcome != scan.Found || result.Findings[0].Note != "its approval expired on 2027-03-01" {
		t.Errorf("%+v", result)
	}
	if info, err := os.Stat(filepath.Join(state, "scan-approvals.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	result = p.must(p.scanner(scan.Config{State: state, Now: early, BuiltIn: true}).Range(t.Context(), "origin/main..HEAD"))
	if result.Totals.Fatal != 3 {
		t.Errorf("with the built-in rules alone: %+v", result.Totals)
	}
	_, err = p.scanner(scan.Config{Now: early}).Approve(t.Context(), scan.ApproveRequest{Path: "doc.md", Rule: rule, Reason: "r"})
	fails(t, err, "no_state")
	_, err = p.scanner(scan.Config{Now: early, State: filepath.Join(p.repo, "state")}).Range(t.Context(), "origin/main..HEAD")
	fails(t, err, "state_inside")
	tree, link := filepath.Join(p.dir, "tree"), filepath.Join(p.dir, "link")
	p.git(p.repo, "worktree", "add", "--quiet", "--detach", tree)
	if err := os.Symlink(p.repo, link); err != nil {
		t.Fatal(err)
	}
	for _, inside := range []string{p.repo, filepath.Join(p.repo, "state"), filepath.Join(p.repo, ".git", "state"), filepath.Join(link, "state")} {
		_, err = p.scanner(scan.Config{Now: early, Dir: tree, State: inside}).Range(t.Context(), "origin/main..HEAD")
		fails(t, err, "state_inside")
	}
	if err := os.WriteFile(filepath.Join(state, "scan-approvals.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Range(t.Context(), "origin/main..HEAD"); !isDocumentError(err) {
		t.Errorf("damaged approvals: %v", err)
	}
}

// TestApprovalsAtOnce: none is lost.
func TestApprovalsAtOnce(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	all := files{}
	for i := range 8 {
		all[fmt.Sprintf("f%d", i)] = secret()
	}
	p.commit("Begin", files{"a": "a"})
	p.publish()
	p.commit("Add", all)
	s := p.scanner(scan.Config{State: filepath.Join(p.dir, "state")})
	done := make(chan error)
	for name := range all {
		go func() {
			_, err := s.Approve(context.Background(), scan.ApproveRequest{Path: name, Rule: rule, Reason: "r"})
			done <- err
		}()
	}
	for range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if result := p.must(s.Range(t.Context(), "origin/main..HEAD")); result.Totals.Approved != 8 || result.Outcome != scan.Clean {
		t.Errorf("%+v", result.Totals)
	}
}

// TestProtectedBranch: what the remote's HEAD is, as it was last seen, before branches of usual names.
func TestProtectedBranch(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	plain := p.commit("Begin", files{"a": "a"})
	strict := p.commit("Law", files{"aesop-scan.json": law(exempt("b", rule, secret(), "doc"))})
	tip := p.commit("Add", files{"b": secret()})
	for _, tt := range []struct {
		refs      map[string]string
		protected string
		outcome   scan.Outcome
	}{
		{map[string]string{"origin/master": strict}, "", scan.Clean},
		{map[string]string{"origin/master": strict, "origin/main": plain}, "", scan.Found},
		{map[string]string{"origin/main": plain, "origin/dev": strict}, "", scan.Found},
		{map[string]string{"origin/main": plain, "origin/dev": strict, "origin/HEAD": "origin/dev"}, "", scan.Clean},
		{map[string]string{"origin/main": plain, "origin/dev": strict}, "origin/dev", scan.Clean},
		{map[string]string{"origin/main": plain, "other/x": strict}, "refs/remotes/other/x", scan.Clean},
	} {
		for _, ref := range strings.Fields(p.git(p.repo, "for-each-ref", "--format=%(refname)", "refs/remotes")) {
			p.git(p.repo, "update-ref", "--no-deref", "-d", ref)
		}
		for name, to := range tt.refs {
			if strings.HasSuffix(name, "/HEAD") {
				p.git(p.repo, "symbolic-ref", "refs/remotes/"+name, "refs/remotes/"+to)
			} else {
				p.git(p.repo, "update-ref", "refs/remotes/"+name, to)
			}
		}
		result := p.must(p.scanner(scan.Config{Now: early, Protected: tt.protected}).Range(t.Context(), strict+".."+tip))
		if result.Outcome != tt.outcome {
			t.Errorf("%v: %s by %s", tt, result.Outcome, result.Protected)
		}
	}
}

// TestTagIsNotTheProtectedBranch: git takes refs/tags/X for X where nothing else has that name, and tags come with every fetch.
func TestTagIsNotTheProtectedBranch(t *testing.T) {
	p, rule := newPlace(t), rule(t)
	p.commit("Begin", files{"a": "a"})
	p.publish()
	p.commit("Add", files{"b": secret(), "aesop-scan.json": law(exempt("b", rule, secret(), "doc"))})
	for _, ref := range []string{"refs/tags/refs/remotes/origin/HEAD", "refs/heads/refs/remotes/origin/HEAD", "refs/tags/remotes/origin/HEAD"} {
		p.git(p.repo, "update-ref", ref, "HEAD")
	}
	p.expect(p.must(p.scanner(scan.Config{Now: early}).Range(t.Context(), "origin/main..HEAD")), scan.Found, "critical content b:1:1")
	p.git(p.repo, "update-ref", "-d", "refs/remotes/origin/main")
	_, err := p.scanner(scan.Config{}).History(t.Context())
	fails(t, err, "no_protected_branch")
}
