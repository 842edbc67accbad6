package reads

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

func TestAnalyzerIsValid(t *testing.T) {
	if err := analysis.Validate([]*analysis.Analyzer{Analyzer}); err != nil {
		t.Error(err)
	}
}

// TestOwnersAreThere: a package that was renamed owns nothing.
func TestOwnersAreThere(t *testing.T) {
	for _, file := range Files() {
		if len(file.Owners) == 0 || file.Instead == "" || !slices.IsSorted(file.Owners) {
			t.Errorf("%s: owners %v, instead %q", file.Name, file.Owners, file.Instead)
		}
		for _, owner := range file.Owners {
			_, below, _ := strings.Cut(owner, "/")
			sources, err := filepath.Glob(filepath.Join("..", "..", "..", "..", filepath.FromSlash(below), "*.go"))
			if err != nil || len(sources) == 0 {
				t.Errorf("%s belongs to %s, where no source files are (%v)", file.Name, owner, err)
			}
		}
	}
	if !slices.IsSortedFunc(Files(), func(a, b File) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the files are not sorted")
	}
}

// TestNamesAreThoseOfTheOwners: somebody would have to write each name in the package that owns it.
func TestNamesAreThoseOfTheOwners(t *testing.T) {
	for _, file := range Files() {
		if file.Name == "alerts.jsonl" { // cost takes any path; who configures it says this one
			continue
		}
		found := false
		for _, owner := range file.Owners {
			_, below, _ := strings.Cut(owner, "/")
			sources, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", filepath.FromSlash(below), "*.go"))
			for _, source := range sources {
				text, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(text), `"`+strings.TrimSuffix(file.Name, "/")+`"`)
			}
		}
		if !found {
			t.Errorf("no owner of %s names it", file.Name)
		}
	}
}

func TestNamed(t *testing.T) {
	for piece, want := range map[string]string{
		"HALT": "HALT", "state/HALT": "HALT", `state\HALT`: "HALT", "HALT/": "HALT", "%s/HALT": "HALT", "/HALT": "HALT",
		"HALT/x": "", "HALTED": "", "halt": "", "xHALT": "", "": "", "/": "", "HALT.": "",
		"state.db": "state.db", "state.db-wal": "state.db", "state.db-shm": "state.db", "state.db-old": "", "state.db.lock": "",
		"file:s/state.db?mode=ro": "state.db", "s/state.db?x=/HALT": "state.db", "file:%s?mode=ro": "",
		"locks": "locks/", "s/locks/a.lock": "locks/", "locks/HALT": "HALT locks/", "blocks": "",
		"aesop-scan.json": "aesop-scan.json", "my-aesop.json": "",
	} {
		if got := strings.Join(table(Files()).named(piece), " "); got != want {
			t.Errorf("named(%q) is %q, want %q", piece, got, want)
		}
	}
}

func TestReachesKeepTheLeastOwned(t *testing.T) {
	s := new(Summary)
	in, other := Input{Param: 1}, Input{Param: 2}
	for _, c := range []struct {
		reach Reach
		added bool
		kept  int
	}{
		{Reach{in, "os.Open", []string{"HALT", "report.json"}}, true, 1},
		{Reach{in, "os.Stat", []string{"HALT", "report.json"}}, false, 1},
		{Reach{in, "os.Stat", []string{"HALT"}}, true, 1}, // implies the first
		{Reach{in, "os.Open", []string{"tracker.json"}}, true, 2},
		{Reach{other, "os.Open", nil}, true, 3},
		{Reach{in, "os.Open", nil}, true, 2},
		{Reach{in, "os.Open", []string{"HALT"}}, false, 2},
	} {
		if added := s.reach(c.reach); added != c.added || len(s.Reaches) != c.kept {
			t.Errorf("%+v: added %v, and %d are kept: %v", c.reach, added, len(s.Reaches), s.Reaches)
		}
	}
}
