package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForms looks at the module in testdata/forms, which has each form of a call that is found, and what is like one; each line says
// behind "// want" which files its calls touch.
func TestForms(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/forms")); err != nil {
		t.Fatal(err)
	}
	out, err := statelint(t, dir, "--json").Output()
	if code := exitCode(err); code != differs {
		t.Fatalf("exit %d: %v\n%s", code, err, out)
	}
	var d document
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, c := range d.Calls {
		line := fmt.Sprintf("%s:%d", c.File, c.Line)
		got[line] = append(got[line], c.Name)
	}
	for _, names := range got {
		slices.Sort(names)
	}
	if diff := cmp.Diff(wanted(t, dir), got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// wanted are the names behind "// want", sorted, by line.
func wanted(t *testing.T, dir string) map[string][]string {
	want := map[string][]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		for n, line := range strings.Split(string(text), "\n") {
			if _, names, ok := strings.Cut(line, "// want "); ok {
				want[fmt.Sprintf("%s:%d", name, n+1)] = strings.Fields(names)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return want
}
