package scan_test

import (
	"errors"
	"strings"
	"testing"

	"aesop/redact/scan"
)

func TestPushScansWhatItAdds(t *testing.T) {
	p := newPlace(t)
	base := p.commit("Begin", files{"a.txt": "a"})
	p.publish()
	p.commit("Add", files{"b.txt": "one\n  " + secret() + "\n"})
	tip := p.commit("Remove", files{"b.txt": ""})
	for name, line := range map[string]string{
		"a branch that moves":                  "refs/heads/main " + tip + " refs/heads/main " + base + "\n",
		"a new branch":                         "HEAD " + tip + " refs/heads/new " + zeros + "\n",
		"at something that is not here":        "HEAD " + tip + " refs/heads/new " + strings.Repeat("1", 40) + "\n",
		"named by words, and beside a removal": "HEAD^{/Remove it} " + tip + " refs/heads/x " + zeros + "\n(delete) " + zeros + " refs/heads/old " + base + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			result := p.push("origin", line)
			p.expect(result, scan.Found, "critical content b.txt:2:3")
			if result.Counts.Commits != 2 {
				t.Errorf("counts are %+v", result.Counts)
			}
		})
	}
	p.expect(p.push("origin", "HEAD "+base+" refs/heads/main "+tip+"\n"), scan.Nothing)
	p.expect(p.push("origin", ""), scan.Nothing)
	p.expect(p.push("origin", "(delete) "+zeros+" refs/heads/old "+base+"\n"), scan.Nothing)
	if result := p.push("origin", "HEAD "+base+" refs/heads/new "+zeros+"\n"); result.Outcome != scan.Clean || result.Counts.Commits != 1 {
		t.Errorf("a new branch at what the remote has: %+v", result)
	}
	if result := p.push("other", "HEAD "+base+" refs/heads/new "+zeros+"\n"); result.Counts.Commits != 1 {
		t.Errorf("a first push: %+v", result.Counts)
	}
}

func TestPushThatIsNotUnderstood(t *testing.T) {
	p := newPlace(t)
	tip := p.commit("Begin", files{"a.txt": "a"})
	p.publish()
	for _, lines := range []string{"x\n", "a " + tip + " refs/heads/x " + tip, "a " + tip[1:] + " refs/heads/x " + tip + "\n",
		"a " + tip + " main " + tip + "\n", "\n"} {
		_, err := p.scanner(scan.Config{}).Push(t.Context(), "origin", strings.NewReader(lines))
		var e *scan.Error
		if !errors.As(err, &e) || e.Code != "malformed_push" {
			t.Errorf("%q: %v", lines, err)
		}
	}
}
