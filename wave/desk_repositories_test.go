package wave_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/wave"
	"aesop/wave/journal"
)

// TestDeskOfSeveralRepositories: what waits is shown and corrected in its own repository, and all of them are tidied up.
func TestDeskOfSeveralRepositories(t *testing.T) {
	all := newTwo(t)
	store, d := all.store(), all.desk()
	report := all.began(all.schedulerOn(store, supervised(store)))
	for _, id := range []string{"a", "w", "v"} {
		d.wait(id, any1)
	}
	archive := all.archive(store)
	for id, want := range map[string]string{"a": "+api", "w": "+web", "v": "+good"} {
		if diff, err := archive.Diff(t.Context(), "", id); err != nil || !strings.Contains(diff.Text, want) {
			t.Errorf("%s: %q, %v", id, diff.Text, err)
		}
	}
	// A folder as people have one: a whole clone, of which one file is corrected.
	clone := filepath.Join(all.dir, "clone")
	all.git("", "clone", "--quiet", all.web.remote, clone)
	must(t, os.WriteFile(filepath.Join(clone, "same.txt"), []byte("web, better\n"), 0o644))
	c, commit, err := archive.Compare(t.Context(), "", "w", clone)
	must(t, err)
	if len(c.Write) != 1 || len(c.Delete) != 0 || commit != d.wait("w", any1).Commit {
		t.Fatalf("compared: %+v with %s", c.Paths(), commit)
	}
	came := d.correct("w", c, "")
	if !came.Passed() {
		t.Fatalf("not taken: %s", came.Why())
	}
	d.wait("w", func(p wave.Pending) bool { return p.Commit == came.Commit })
	_, err = d.Approve(t.Context(), wave.Seen{Item: "a"}, wave.Seen{Item: "w"}, wave.Seen{Item: "v"})
	must(t, err)
	r := report()
	wantOutcome(t, r, journal.Good)
	if got := all.web.show(*reported(t, r, "w").Commit, "same.txt"); got != "web, better" {
		t.Errorf("same.txt: %q", got)
	}
	if done := all.prune(store, everything); len(done.Waves) != 1 || !done.Collected || len(done.Kept) != 0 {
		t.Errorf("pruned: %+v", done)
	}
	for _, name := range all.files() {
		if strings.Contains(name, r.Wave) {
			t.Errorf("%s is left", name)
		}
	}
}
