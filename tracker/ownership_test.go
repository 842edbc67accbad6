package tracker

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckPath(t *testing.T) {
	for _, path := range []string{
		"a", "a/b.c", "./a", ".github/x", ".gitignore", "a/.gitattributes", "git", "..a", "...b/c", "con-tract", "com", "com10", "lpt",
		"nullable.go", "é", "日本/語", "a b", "ab:c", "app/[id]/page.tsx", "~", "-rf", "comma.txt", "auxiliary/x", "git~2",
	} {
		if err := CheckPath(path); err != nil {
			t.Errorf("%q %v", path, err)
		}
	}
	for path, says := range map[string]string{
		"": "empty", "./": "empty", "/": "absolute", "/a": "absolute", ".//a": "absolute", "C:": "drive", "c:/a": "drive", "C:a": "drive",
		`\\srv\x`: "backslash", `a\b`: "backslash", "//srv/x": "absolute", "..": "segment", "../a": "segment", "a/../b": "segment",
		"a/..": "segment", ".": "segment", "a/./b": "segment", "././a": "segment", "a//b": "empty segment", "a/": "empty segment",
		"a\x00b": "control", "a\nb": "control", "a\u0085b": "control", "a\x7f": "control", "\xff": "UTF-8",
		".git": ".git", ".git/config": ".git", "a/.GIT/hooks": ".git", "a/.Git": ".git", ".g\u200cit/x": ".git", "\ufeff.git": ".git",
		"git~1/x": ".git", "GIT~1": ".git", ".git /x": ".git", ".git.": ".git", ".git::$INDEX_ALLOCATION/x": ".git", ".git...:x": ".git",
		"a.": "dot or a space", "a /b": "dot or a space", "a/b. ": "dot or a space", "con": "Windows", "a/NUL.txt": "Windows", "Com1": "Windows",
		"lpt9.tar.gz": "Windows", "aux/b": "Windows", "conin$": "Windows", "COM¹": "Windows", "nul .txt": "Windows", "prn:x": "Windows",
	} {
		if err := CheckPath(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error is %v, want %q", path, err, says)
		}
	}
}

func TestFoldPath(t *testing.T) {
	for _, pair := range [][2]string{
		{"A/B", "a/b"}, {"./a", "a"}, {"Caf\u00c9", "cafe\u0301"}, {"Straße", "STRASSE"}, {"Σ", "ς"}, {"\u212a", "k"}, {"ﬁ", "FI"},
	} {
		if FoldPath(pair[0]) != FoldPath(pair[1]) {
			t.Errorf("%q folds to %q, %q to %q", pair[0], FoldPath(pair[0]), pair[1], FoldPath(pair[1]))
		}
	}
	if FoldPath("a") == FoldPath("ä") {
		t.Error("accents are folded away")
	}
}

func owned(t testing.TB, entries ...string) Ownership {
	t.Helper()
	o, err := ParseOwnership(entries)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestContains(t *testing.T) {
	tests := []struct {
		entry   string
		yes, no []string
	}{
		{"a/b.go", []string{"a/b.go", "A/B.GO", "./a/b.go"}, []string{"a/b.go/c", "a/b", "a", "x/a/b.go", "a/b.go/"}},
		{"dir/", []string{"dir/a", "DIR/a/b"}, []string{"dir", "dirs/a", "x/dir/a", "dir/../a", "dir/.git/config", "dir/"}},
		{"./dir/", []string{"dir/a"}, nil},
		{"é/", []string{"e\u0301/a", "É/a"}, []string{"e/a"}},
		{"*.go", []string{"a.go", "B.GO"}, []string{"a/b.go", "a.goo"}},
		{"a/**/*.go", []string{"a/b.go", "a/b/c/d.go"}, []string{"b/a.go", "a/b.md"}},
		{"**", []string{"a", "a/b"}, []string{"../a", "/a", ".git/config"}},
		{"a/{b,c}.txt", []string{"a/b.txt", "A/C.TXT"}, []string{"a/d.txt"}},
		{"[A-C].txt", []string{"b.txt", "B.TXT"}, []string{"d.txt"}},
		{"v?/", []string{"v1/a/b"}, []string{"v/a", "v10/a", "v1"}},
		{"app/[id]/page.tsx", []string{"app/[id]/page.tsx", "app/i/page.tsx"}, []string{"app/id/page.tsx"}},
		{"app/[id]/", []string{"app/[id]/page.tsx", "app/[ID]/x", "app/d/x"}, []string{"app/id/x", "app/[id]"}},
		{"{..,a}/x", []string{"a/x"}, []string{"../x"}},
	}
	for _, tt := range tests {
		o := owned(t, "unrelated", tt.entry)
		for _, path := range tt.yes {
			if !o.Contains(path) {
				t.Errorf("%q does not contain %q", tt.entry, path)
			}
		}
		for _, path := range tt.no {
			if o.Contains(path) {
				t.Errorf("%q contains %q", tt.entry, path)
			}
		}
	}
	if (Ownership{}).Contains("a") {
		t.Error("the zero Ownership owns something")
	}
}

func TestOverlaps(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"a", "a", true}, {"a", "A", true}, {"a", "b", false}, {"a", "ab", false}, {"é", "e\u0301", true},
		{"a", "a/b", true}, // a file and a directory of one name
		{"a", "a/", true}, {"a/", "a/b/c", true}, {"a/", "a/b/", true}, {"a/", "ab/", false}, {"a/", "ab", false}, {"a/b/", "a/c/", false},
		{"*.go", "a.go", true}, {"*.go", "a.md", false}, {"a/*.go", "a", true}, {"a/*.go", "b.go", false},
		{"a/**", "a/", true}, {"a/**", "b/", false}, {"**/*.go", "b/", true}, {"a/b*/c", "a/", true}, {"a/b*/c", "a/bc/", true}, {"a/b*/c", "a/c/", false},
		{"a/*.go", "a/*.md", true}, // undecided, so yes
		{"a/*.go", "b/*.go", false}, {"a*", "ab*", true}, {"{a,b}", "c*", true}, {"a[b]/", "a[b]/c", true},
		{"src", "src*/x", true}, {"src/a", "*/a/b", true}, {"src/a/x", "sr*/a", true}, {"src/a/x", "sr*/b", false}, {"src/a", "*/b/a", false},
		{"src", "sr*/", true}, {"src", "*", true}, {"src/", "*", true}, {"src/", "*.go", false}, {"a.go/x", "*.go", true}, {"a.md/x", "*.go", false},
		{"src/", "*/x", true}, {"src/a/b/", "*/a", true}, {"src/a/b/", "*/a/c", false}, {"a/b/c", "{a/b,d}/*", true}, {"a/b", "?", true},
		{"a", "**/x", true}, {"src", "sr?/*.go", true}, {"src.go", "sr?/*.go", false}, {"app/x", "app/[id]/page.tsx", false},
	}
	for _, tt := range tests {
		for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if _, got := owned(t, pair[0]).Overlaps(owned(t, pair[1])); got != tt.want {
				t.Errorf("%q and %q: %v, want %v", pair[0], pair[1], got, tt.want)
			}
		}
	}
	if names, _ := owned(t, "z", "A/").Overlaps(owned(t, "y", "a/b")); names != "A/ and a/b" {
		t.Errorf("the pair is named %q", names)
	}
}

func TestParseOwnershipErrors(t *testing.T) {
	for _, tt := range []struct {
		entries []string
		reason  Reason
		says    string
	}{
		{nil, NoFileOwnership, "at least one"},
		{[]string{"a", " "}, InvalidOwnsFilesEntries, "entry 2"},
		{[]string{"a", "b/../c"}, InvalidPath, `"b/../c" has the segment ".."`},
		{[]string{"/"}, InvalidPath, "empty"},
		{[]string{"a//"}, InvalidPath, "empty segment"},
		{[]string{"a[b"}, InvalidPath, "not a valid glob"},
		{[]string{"*/.git/**"}, InvalidPath, ".git"},
	} {
		_, err := ParseOwnership(tt.entries)
		var e *OwnershipError
		if !errors.As(err, &e) || e.Reason != tt.reason || !strings.Contains(e.Error(), tt.says) {
			t.Errorf("%q: error is %v", tt.entries, err)
		}
	}
}

// FuzzOverlap: two ownerships overlap, whichever is asked, where both contain a path or one contains a path below one of the
// other. And folding is idempotent.
func FuzzOverlap(f *testing.F) {
	for _, seed := range [][3]string{
		{"a/b", "a/", "a/b"}, {"a/**", "a", "a"}, {"a/**", "?", "a"}, {"**/*.go", "a/[b-d]*/", "a/b/c.go"}, {"{a,b}/c", "{b,c}/*", "b/c"},
		{"a[b]/", "a[b]/c", "a[b]/c"}, {"É/*", "e\u0301/x", "é/x"}, {"*", "[^b]", "a"}, {"a/**/", "a/**/b", "a/b"}, {"a{/b,}", "a/b", "a/b"},
		{"ß*", "SS?", "ssa"}, {"a/[/]b", "a/b", "a/b"}, {"{a/b,c}**", "a/", "a/b"}, {"\u0345", "\u03b9", "\u0399"},
		{"src", "src*/x", "src/x"}, {"src/a", "*/a/b", "src/a/b"}, {"src/a/x", "sr*/a", "src/a/x"}, {"src", "sr*/", "src/x"}, {"{a/b,c}/*", "a/b", "a/b/x"},
		{"a/[/]b", "a", "a/]b/b"}, {"[{]/b", "{", "{/b"}, {"a}/*", "a}", "a}/x"}, {"{a,b/**}", "b/c", "b/c/d"}, {"**", "a", "a/b"}, {"x", "[!a-c]/?", "x/y"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, a, b, path string) {
		if len(a)+len(b)+len(path) > 100 {
			return // matching many ** takes long
		}
		p, errP := ParseOwnership([]string{a})
		q, errQ := ParseOwnership([]string{b})
		if errP != nil || errQ != nil {
			return
		}
		if once := FoldPath(path); CheckPath(path) == nil && FoldPath(once) != once {
			t.Errorf("%q folds to %q and then to %q", path, once, FoldPath(once))
		}
		if !p.Contains(path) || !containsAbove(q, path) {
			return
		}
		if _, yes := p.Overlaps(q); !yes {
			t.Errorf("%q and %q meet at %q and do not overlap", a, b, path)
		}
		if _, yes := q.Overlaps(p); !yes {
			t.Errorf("%q and %q meet at %q and do not overlap", b, a, path)
		}
	})
}

// containsAbove says whether o contains the path or a directory that it lies in.
func containsAbove(o Ownership, path string) bool {
	for i, r := range path {
		if r == '/' && o.Contains(path[:i]) {
			return true
		}
	}
	return o.Contains(path)
}
