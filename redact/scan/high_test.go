package scan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/redact/scan"
)

// TestWhatItsSurroundingsCallASecret is fatal unless it is a placeholder, or opens nothing but the reader's own machine.
func TestWhatItsSurroundingsCallASecret(t *testing.T) {
	p := newPlace(t)
	p.commit("Begin", nil)
	p.publish()
	const value = "Tr0ub4dor-and-3"
	link := func(password, host string) string {
		return "db: postgres:/" + "/admin:" + password + "@" + host + ":5432/app"
	}
	name := "DB_PASS" + "WORD="
	for n, tt := range []struct {
		text  string
		fatal bool
	}{
		{name + value, true}, {name + "changeme", false}, {name + "your-key-here", false}, {name + "xxxxxxxxxxxx", false}, {name + "<your-password>", false},
		{name + "${DB_PASS}", false}, {name + value + " # example changeme xxx", true},
		{link(value, "db.internal"), true}, {link(value, "localhost"), false}, {link(value, "127.0.0.1"), false}, {link(value, "db.local"), false},
		{link(value, "db.example.com"), false}, {link(value, "[::1]"), false}, {link(value, "db.internal") + "/test/example?x=<y>", true},
		{link("changeme", "db.internal"), false}, {link("p@"+value, "db.internal"), true},
		{"see " + secret() + " # example", true}, {name + secret() + " # changeme", true},
	} {
		p.write(files{"case.env.txt": tt.text + "\n"})
		p.git(p.repo, "add", "--all")
		result := p.must(p.scanner(scan.Config{}).Staged(t.Context()))
		if (result.Outcome == scan.Found) != tt.fatal {
			t.Errorf("%d %s: %s %+v", n, tt.text, result.Outcome, result.Findings)
		}
	}
}

// TestRulesOfTheRepository: those of the protected branch hold, those that a branch adds too; what a branch changes or removes has no effect.
func TestRulesOfTheRepository(t *testing.T) {
	p := newPlace(t)
	rules := func(rules ...string) string {
		return `{"schemaVersion": 1, "rules": [` + strings.Join(rules, ", ") + `]}`
	}
	rule := func(id, severity, pattern string) string {
		return fmt.Sprintf(`{"id": %q, "severity": %q, "pattern": %q}`, id, severity, pattern)
	}
	ours, theirs, mild := rule("ours", "critical", "ours_[a-z]{8,}"), rule("theirs", "high", "theirs_[a-z]{8,}"), rule("mild", "low", "mild_[a-z]{8,}")
	p.commit("Begin", files{"aesop-scan.json": rules(ours, mild)})
	p.publish()
	text := "ours_abcdefgh\ntheirs_abcdefgh\nmild_abcdefgh\n"
	both := []string{"critical content x:1:1", "warning low content x:3:1"}
	for name, tt := range map[string]struct {
		law  string
		want []string
	}{
		"as it was":        {rules(ours, mild), both},
		"without the file": {"", both},
		"without a rule":   {rules(), both},
		"weakened":         {rules(rule("ours", "low", "never_[a-z]{8,}"), mild), both},
		"that hides one": {rules(rule("hides", "low", "ours_[a-z]+ *theirs_[a-z]{3,}")), append([]string{"warning low content y:1:1"},
			append([]string{"critical content y:1:1"}, both...)...)},
		"that hides a built-in one": {rules(rule("hides", "low", "see AK"+"IA[A-Z0-9]{8,}")),
			append([]string{"warning low content z:1:1", "critical content z:1:5"}, both...)},
		"with one more": {rules(theirs), append([]string{"high content x:2:1"}, both...)},
	} {
		t.Run(name, func(t *testing.T) {
			q := &place{t, p.dir, p.repo, p.remote}
			q.git(q.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
			all := files{"x": text, "aesop-scan.json": tt.law}
			switch name {
			case "that hides one":
				all["y"] = "ours_abcdefgh theirs_abcdefgh"
			case "that hides a built-in one":
				all["z"] = "see " + secret()
			}
			tip := q.commit("x", all)
			q.expect(q.ranged("origin/main..HEAD"), scan.Found, tt.want...)
			q.expect(q.must(q.scanner(scan.Config{}).Added(t.Context(), q.git(q.repo, "rev-parse", "origin/main"), tip)), scan.Found, tt.want...)
		})
	}
	p.git(p.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
	strict := p.commit("x", files{"x": text, "aesop-scan.json": rules(theirs)})
	p.git(p.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
	weak := p.commit("x", files{"aesop-scan.json": rules(rule("theirs", "low", "never_[a-z]{8,}"))})
	three := append([]string{"high content x:2:1"}, both...)
	p.expect(p.push("origin", "x "+weak+" refs/heads/weak "+zeros+"\nx "+strict+" refs/heads/strict "+zeros+"\n"), scan.Found, three...)
	p.expect(p.push("origin", "x "+strict+" refs/heads/strict "+zeros+"\nx "+weak+" refs/heads/weak "+zeros+"\nx "+strict+" refs/heads/again "+zeros+"\n"),
		scan.Found, three...)
	p.git(p.repo, "checkout", "--quiet", "--force", "--detach", "origin/main")
	p.commit("x", files{"x": text})
	built := p.scanner(scan.Config{BuiltIn: true})
	p.expect(p.must(built.Range(t.Context(), "origin/main..HEAD")), scan.Found, both...) // by its own copy of the file
	p.git(p.repo, "rm", "--quiet", "aesop-scan.json")
	p.git(p.repo, "commit", "--quiet", "--message=x")
	p.expect(p.must(built.Range(t.Context(), "origin/main..HEAD")), scan.Clean)
	p.commit("x", files{"aesop-scan.json": rules(rule("bad", "low", "(a|b)+"))})
	_, err := p.scanner(scan.Config{}).Range(t.Context(), "origin/main..HEAD")
	fails(t, err, "rule")
}

// TestScansItselfClean: whoever maintains the scanner can use it.
func TestScansItselfClean(t *testing.T) {
	var paths []string
	for _, dir := range []string{".", "../../examples/redact", "../../docs/SCAN.md"} {
		path, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	s, err := scan.New(scan.Config{Dir: t.TempDir()}) // the built-in rules alone, and every file
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Paths(t.Context(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != scan.Clean || result.Counts.Blobs < 20 {
		t.Errorf("%s\n%v", result.Summary(), result.Findings)
	}
}
