package testcount_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/internal/testcount"
)

// tree makes a folder with files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReports(t *testing.T) {
	suite := "<testsuite><testcase/><testcase><skipped/></testcase></testsuite>"
	head := "\xef\xbb\xbf<?xml version='1.0'?>\n<!-- made by a test -->\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  testcount.Count
	}{
		"none":          {map[string]string{"a.txt": suite, "b.xml": "<html/>", "c.xml": "", "d.xml": "<testsuitesX/>"}, unknown("")},
		"one":           {map[string]string{"report.xml": head + suite}, known(1, "junit")},
		"many":          {map[string]string{"target/TEST-a.xml": suite, "target/TEST-b.XML": "<testsuites>" + suite + suite + "</testsuites>"}, known(3, "junit")},
		"a large one":   {map[string]string{"report.xml": head + "<testsuite>" + strings.Repeat("<testcase>some output</testcase>\n", 10_000) + "</testsuite>"}, known(10_000, "junit")},
		"an empty one":  {map[string]string{"report.xml": "<testsuites></testsuites>"}, known(0, "junit")},
		"one cut":       {map[string]string{"a.xml": suite, "b.xml": "<testsuite><testcase/>"}, unknown("junit")},
		"known before":  {map[string]string{"old/known.xml": suite, "new.xml": suite}, known(1, "junit")},
		"of others":     {map[string]string{"node_modules/x/a.xml": suite, "deep/.git/a.xml": suite, "lib/site-packages/a.xml": suite}, unknown("")},
		"a folder .xml": {map[string]string{"a.xml/b.txt": suite}, unknown("")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := testcount.Reports(t.Context(), tree(t, tt.files), map[string]bool{"old/known.xml": true})
			if err != nil || got != tt.want {
				t.Errorf("%+v (%v), want %+v", got, err, tt.want)
			}
		})
	}
}

func TestReportsFollowNoLinks(t *testing.T) {
	outside := tree(t, map[string]string{"a.xml": "<testsuite><testcase/></testsuite>"})
	dir := t.TempDir()
	for name, target := range map[string]string{"a.xml": filepath.Join(outside, "a.xml"), "dir": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	got, err := testcount.Reports(t.Context(), dir, nil)
	if err != nil || got != unknown("") {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestTooManyReportsAreUnknown(t *testing.T) {
	files := map[string]string{}
	for i := range 1001 {
		files[filepath.Join("r", strings.Repeat("a", i%100), strings.Repeat("b", i/100+1)+".xml")] = "<testsuite><testcase/></testsuite>"
	}
	got, err := testcount.Reports(t.Context(), tree(t, files), nil)
	if err != nil || got != unknown("junit") {
		t.Errorf("%d files: %+v (%v)", len(files), got, err)
	}
}

func TestReportsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := testcount.Reports(ctx, t.TempDir(), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a.xml": "", "b/c.XML": "<x/>", "d.txt": "", "node_modules/e.xml": ""})
	got, err := testcount.Files(t.Context(), dir)
	if err != nil || len(got) != 2 || !got["a.xml"] || !got["b/c.XML"] {
		t.Errorf("%v (%v)", got, err)
	}
	if _, err := testcount.Files(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has files")
	}
}
