package manifest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore/job/manifest"
)

const anAttempt, aJob = "a1", "w1/greet"

var (
	wanted = manifest.Want{Job: aJob, Attempt: anAttempt}
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC)
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func draft(dir string, effects ...manifest.SideEffect) manifest.Draft {
	return manifest.Draft{Dir: dir, Staged: "staged", Job: aJob, Attempt: anAttempt, Session: "s1", SideEffects: effects,
		Now: func() time.Time { return noon }}
}

// finalise makes a folder with a finalised report.
func finalise(t *testing.T, dir, text string, effects ...manifest.SideEffect) manifest.Manifest {
	t.Helper()
	write(t, filepath.Join(dir, "staged"), text)
	m, err := manifest.Finalize(t.Context(), draft(dir, effects...))
	must(t, err)
	return m
}

func read(t *testing.T, dir string) manifest.Verified {
	t.Helper()
	v, err := manifest.Read(t.Context(), dir, wanted)
	must(t, err)
	return v
}

func TestWhatIsFinalisedIsRead(t *testing.T) {
	dir := t.TempDir()
	effects := []manifest.SideEffect{{Kind: manifest.File, Ref: `a "quoted" <name>`}, {Kind: manifest.Command, Ref: "test 0"}}
	m := finalise(t, dir, "all good\n", effects...)
	v := read(t, dir)
	got := manifest.Manifest{SchemaVersion: 1, Job: v.Job, Attempt: v.Attempt, Session: v.Session, Report: v.Report, SHA256: v.SHA256, Size: v.Size,
		FinalizedAt: v.FinalizedAt, SideEffects: v.SideEffects}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	if v.Size != 9 || !v.FinalizedAt.Equal(noon) || v.Session != "s1" || !slices.Equal(v.SideEffects, effects) {
		t.Errorf("read gives %+v", v)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{manifest.Name, manifest.ReportName}; !slices.Equal(names, want) {
		t.Errorf("the folder has %q", names)
	}
}

// TestManifestHasTheKeysOfTheContract: other programs read it.
func TestManifestHasTheKeysOfTheContract(t *testing.T) {
	dir := t.TempDir()
	m := finalise(t, dir, "x", manifest.SideEffect{Kind: manifest.File, Ref: "f"})
	data, err := os.ReadFile(filepath.Join(dir, manifest.Name))
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(data, &got))
	want := map[string]any{"schemaVersion": 1.0, "job": aJob, "attempt": anAttempt, "session": "s1", "report": m.Report, "sha256": m.SHA256, "size": 1.0,
		"finalizedAt": "2026-03-01T12:00:00.000005Z", "sideEffects": []any{map[string]any{"kind": "file", "ref": "f"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	finalise(t, dir, "x")
	data, err = os.ReadFile(filepath.Join(dir, manifest.Name))
	must(t, err)
	if !strings.Contains(string(data), `"sideEffects": []`) {
		t.Errorf("no side effects are written as %s", data)
	}
}

// TestRecordedReportPathIsAbsolute also where the folder is given by a relative path, or by a link.
func TestRecordedReportPathIsAbsolute(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "attempt"), 0o755))
	t.Chdir(dir)
	if m := finalise(t, "attempt", "x"); m.Report != filepath.Join(dir, "attempt", "report") {
		t.Errorf("the path is %s", m.Report)
	}
	if err := os.Symlink("attempt", "link"); err != nil {
		t.Skipf("not applicable: no links here: %v", err)
	}
	if m := finalise(t, "link", "y"); m.Report != filepath.Join(dir, "attempt", "report") {
		t.Errorf("the path is %s", m.Report)
	}
	for _, name := range []string{"attempt", "link", dir + "/attempt", dir + "/link"} {
		read(t, name)
	}
}

// TestChangedContentMustBeFinalisedAgain: that makes a new manifest, and the same content again the same.
func TestChangedContentMustBeFinalisedAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, manifest.Name)
	first := finalise(t, dir, "one")
	text, err := os.ReadFile(path)
	must(t, err)
	later := draft(dir)
	later.Now = func() time.Time { return noon.Add(time.Hour) }
	again := func(d manifest.Draft, staged string) manifest.Manifest {
		t.Helper()
		write(t, filepath.Join(dir, "staged"), staged)
		m, err := manifest.Finalize(t.Context(), d)
		must(t, err)
		if v := read(t, dir); v.SHA256 != m.SHA256 || !v.FinalizedAt.Equal(m.FinalizedAt) {
			t.Errorf("made is %v, read is %v", m, v)
		}
		return m
	}
	same := again(later, "one")
	if now, _ := os.ReadFile(path); string(now) != string(text) || cmp.Diff(first, same) != "" {
		t.Errorf("the same again is %s, was %s", now, text)
	}
	if m := again(later, "two"); m.SHA256 == first.SHA256 || !m.FinalizedAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("other content gives %v", m)
	}
	for name, change := range map[string]func(*manifest.Draft){
		"session": func(d *manifest.Draft) { d.Session = "s2" },
		"effects": func(d *manifest.Draft) { d.SideEffects = []manifest.SideEffect{{Kind: manifest.File, Ref: "f"}} },
	} {
		changed := draft(dir)
		changed.Now = func() time.Time { return noon.Add(2 * time.Hour) }
		change(&changed)
		if m := again(changed, "two"); !m.FinalizedAt.Equal(noon.Add(2 * time.Hour)) {
			t.Errorf("other %s give %v", name, m)
		}
	}
	// What was edited in place can be finalised there.
	write(t, filepath.Join(dir, "report"), "three")
	if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrVoid) {
		t.Errorf("read gives %v", err)
	}
	d := draft(dir)
	d.Staged = filepath.Join(dir, "report")
	_, err = manifest.Finalize(t.Context(), d)
	must(t, err)
	read(t, dir)
}

// TestBadDraftsAreRefusedBeforeAnythingIsMoved: kinds and references too, for a command line is not the only writer.
func TestBadDraftsAreRefusedBeforeAnythingIsMoved(t *testing.T) {
	effect := func(kind, ref string) func(*manifest.Draft) {
		return func(d *manifest.Draft) {
			d.SideEffects = []manifest.SideEffect{{Kind: manifest.File, Ref: "good"}, {Kind: kind, Ref: ref}}
		}
	}
	outside := filepath.Join(t.TempDir(), "staged")
	write(t, outside, "x")
	for name, test := range map[string]struct {
		change func(*manifest.Draft)
		field  string
	}{
		"without a job":             {func(d *manifest.Draft) { d.Job = "" }, "job"},
		"without an attempt":        {func(d *manifest.Draft) { d.Attempt = "" }, "attempt"},
		"attempt of two lines":      {func(d *manifest.Draft) { d.Attempt = "a\nb" }, "attempt"},
		"session not UTF-8":         {func(d *manifest.Draft) { d.Session = "\xff" }, "session"},
		"job too long":              {func(d *manifest.Draft) { d.Job = strings.Repeat("x", 5000) }, "job"},
		"kind without a reference":  {effect(manifest.File, ""), "sideEffects[1].ref"},
		"reference without a kind":  {effect("", "x"), "sideEffects[1].kind"},
		"unknown kind":              {effect("rumour", "x"), "sideEffects[1].kind"},
		"reference with a NUL":      {effect(manifest.File, "a\x00"), "sideEffects[1].ref"},
		"kind not of the judge's":   {func(d *manifest.Draft) { effect(manifest.File, "x")(d); d.Kinds = []string{"ticket"} }, "sideEffects[0].kind"},
		"too many":                  {func(d *manifest.Draft) { d.SideEffects = make([]manifest.SideEffect, 101) }, "sideEffects"},
		"no folder":                 {func(d *manifest.Draft) { d.Dir = filepath.Join(d.Dir, "none") }, "dir"},
		"folder is a file":          {func(d *manifest.Draft) { d.Dir = filepath.Join(d.Dir, "staged") }, "dir"},
		"without a folder":          {func(d *manifest.Draft) { d.Dir = "" }, "dir"},
		"nothing staged":            {func(d *manifest.Draft) { d.Staged = "" }, "staged"},
		"staged is not there":       {func(d *manifest.Draft) { d.Staged = "none" }, "staged"},
		"staged is a folder":        {func(d *manifest.Draft) { d.Staged = "folder" }, "staged"},
		"staged is the folder":      {func(d *manifest.Draft) { d.Staged = d.Dir }, "staged"},
		"staged outside":            {func(d *manifest.Draft) { d.Staged = outside }, "staged"},
		"staged outside by dots":    {func(d *manifest.Draft) { d.Staged = "../staged" }, "staged"},
		"staged is a link":          {func(d *manifest.Draft) { d.Staged = "link" }, "staged"},
		"staged is a link outwards": {func(d *manifest.Draft) { d.Staged = "away" }, "staged"},
		"staged behind a link":      {func(d *manifest.Draft) { d.Staged = "behind/staged" }, "staged"},
		"staged is the manifest":    {func(d *manifest.Draft) { d.Staged = manifest.Name }, "staged"},
		"staged is too large":       {func(d *manifest.Draft) { d.Staged = "huge" }, "staged"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			finalise(t, dir, "old")
			write(t, filepath.Join(dir, "staged"), "new")
			must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
			if err := os.Symlink("staged", filepath.Join(dir, "link")); err != nil {
				t.Skipf("not applicable: no links here: %v", err)
			}
			must(t, os.Symlink(outside, filepath.Join(dir, "away")))
			must(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "behind")))
			write(t, filepath.Join(dir, "huge"), "")
			must(t, os.Truncate(filepath.Join(dir, "huge"), manifest.MaxReport+1))
			d := draft(dir)
			test.change(&d)
			_, err := manifest.Finalize(t.Context(), d)
			var refused *manifest.DraftError
			if !errors.As(err, &refused) || refused.Field != test.field {
				t.Fatalf("error %v", err)
			}
			if strings.HasPrefix(name, "staged outside") && !strings.Contains(err.Error(), "is not in ") {
				t.Errorf("error %v", err)
			}
			read(t, dir) // the old one still counts
			for file, want := range map[string]string{"report": "old", "staged": "new"} {
				if got, _ := os.ReadFile(filepath.Join(dir, file)); string(got) != want {
					t.Errorf("%s has %q", file, got)
				}
			}
		})
	}
}

// TestTheSameAgainIsTheSameByTheRealClockToo, which has more in memory than in a file.
func TestTheSameAgainIsTheSameByTheRealClockToo(t *testing.T) {
	dir := t.TempDir()
	d := draft(dir)
	d.Now = nil
	var made [2]manifest.Manifest
	for i := range made {
		write(t, filepath.Join(dir, "staged"), "x")
		var err error
		made[i], err = manifest.Finalize(t.Context(), d)
		must(t, err)
	}
	if made[0].FinalizedAt != made[1].FinalizedAt || time.Since(made[0].FinalizedAt) > time.Hour {
		t.Errorf("at %v and at %v", made[0].FinalizedAt, made[1].FinalizedAt)
	}
}

func TestKindsOfAdoptersCanBeFinalised(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "staged"), "x")
	d := draft(dir, manifest.SideEffect{Kind: "ticket", Ref: "42"})
	d.Kinds = []string{"ticket"}
	_, err := manifest.Finalize(t.Context(), d)
	must(t, err)
	if v := read(t, dir); len(v.SideEffects) != 1 {
		t.Errorf("read gives %v", v)
	}
}

// TestStagedBelowTheFolder: by an absolute path, from a folder of its own.
func TestStagedBelowTheFolder(t *testing.T) {
	dir := t.TempDir()
	d := draft(dir)
	d.Staged = filepath.Join(dir, "drafts", "third.md")
	write(t, d.Staged, "x")
	_, err := manifest.Finalize(t.Context(), d)
	must(t, err)
	if v := read(t, dir); v.Size != 1 {
		t.Errorf("read gives %v", v)
	}
}

// TestWhatIsInTheWayOfTheFilesIsReplacedOrTold: links are replaced and never followed; a folder with something in it is an error.
func TestWhatIsInTheWayOfTheFilesIsReplacedOrTold(t *testing.T) {
	for _, name := range []string{manifest.Name, manifest.ReportName} {
		dir := t.TempDir()
		kept := filepath.Join(t.TempDir(), "kept")
		write(t, kept, "kept")
		if err := os.Symlink(kept, filepath.Join(dir, name)); err != nil {
			t.Skipf("not applicable: no links here: %v", err)
		}
		finalise(t, dir, "x")
		read(t, dir)
		if text, _ := os.ReadFile(kept); string(text) != "kept" {
			t.Errorf("%s: the file behind the link has %q", name, text)
		}
		must(t, os.Remove(filepath.Join(dir, name)))
		write(t, filepath.Join(dir, name, "inside"), "")
		write(t, filepath.Join(dir, "staged"), "y")
		if _, err := manifest.Finalize(t.Context(), draft(dir)); err == nil || !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "staged") {
			t.Errorf("%s is a folder: error %v", name, err)
		}
		if v, err := manifest.Read(t.Context(), dir, wanted); err == nil {
			t.Errorf("%s is a folder: read gives %v", name, v)
		}
	}
}

func TestFinalizeEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "staged"), "x")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := manifest.Finalize(ctx, draft(dir)); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "staged")); err != nil {
		t.Error(err)
	}
}

// TestRewritingWhileItIsFinalisedLeavesNoManifest uses a writer that comes between the blocks that are hashed.
func TestRewritingWhileItIsFinalisedLeavesNoManifest(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "staged"), strings.Repeat("x", 1<<20))
	ctx := &meddling{Context: t.Context(), at: 3, do: func() { write(t, filepath.Join(dir, "report"), strings.Repeat("y", 1<<20)) }}
	if m, err := manifest.Finalize(ctx, draft(dir)); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("finalised %v, %v", m, err)
	}
	if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrNone) {
		t.Errorf("read gives %v", err)
	}
}

// meddling is a context that is asked before each block is hashed, and does something when it is asked for the at-th time.
type meddling struct {
	context.Context
	asked, at int
	do        func()
}

func (m *meddling) Err() error {
	if m.asked++; m.asked == m.at {
		m.do()
	}
	return m.Context.Err()
}

// TestWhatIsNotTheJobsIsNotReplaced: a file of the same name that people have, and the declaration of another job.
func TestWhatIsNotTheJobsIsNotReplaced(t *testing.T) {
	for name, there := range map[string]func(dir string){
		"a file of other people's": func(dir string) { write(t, filepath.Join(dir, manifest.Name), `{"name": "a web page"}`) },
		"another job's": func(dir string) {
			write(t, filepath.Join(dir, "staged"), "theirs")
			d := draft(dir)
			d.Job, d.Attempt = "w1/other", "a9"
			_, err := manifest.Finalize(t.Context(), d)
			must(t, err)
		},
	} {
		dir := t.TempDir()
		there(dir)
		before := files(t, dir)
		write(t, filepath.Join(dir, "staged"), "ours")
		_, err := manifest.Finalize(t.Context(), draft(dir))
		if refused, ok := errors.AsType[*manifest.DraftError](err); !ok || refused.Field != "dir" || !strings.Contains(refused.Message, manifest.Name) {
			t.Errorf("%s: error %v", name, err)
		}
		before["staged"] = "ours"
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	dir := t.TempDir() // that of an earlier attempt of the job is not in the way
	finalise(t, dir, "first")
	d := draft(dir)
	d.Attempt = "a2"
	write(t, filepath.Join(dir, "staged"), "second")
	_, err := manifest.Finalize(t.Context(), d)
	must(t, err)
}

// files are the contents of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		all[e.Name()] = string(text)
	}
	return all
}
