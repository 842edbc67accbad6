package manifest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aesop/statestore/job/manifest"
)

// TestNoManifestIsAnAnswerOfItsOwn, and a missing folder is not that answer.
func TestNoManifestIsAnAnswerOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "report"), "without a manifest")
	_, err := manifest.Read(t.Context(), dir, wanted)
	if !errors.Is(err, manifest.ErrNone) || !strings.Contains(err.Error(), manifest.Name) {
		t.Errorf("error %v", err)
	}
	for _, other := range []error{manifest.ErrDamaged, manifest.ErrVoid, manifest.ErrOther} {
		if errors.Is(err, other) {
			t.Errorf("%v is also %v", err, other)
		}
	}
	if _, err := manifest.Read(t.Context(), filepath.Join(dir, "none"), wanted); err == nil || errors.Is(err, manifest.ErrNone) {
		t.Errorf("without a folder: error %v", err)
	}
}

// rewrites are what can be done to a report of several blocks.
var rewrites = map[string]func(t *testing.T, path string){
	"one byte": func(t *testing.T, path string) { poke(t, path, 0) },
	"one byte, its time restored": func(t *testing.T, path string) {
		info, err := os.Stat(path)
		must(t, err)
		poke(t, path, 0)
		must(t, os.Chtimes(path, time.Time{}, info.ModTime()))
	},
	"append": func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		_, err = f.WriteString("more")
		must(t, errors.Join(err, f.Close()))
	},
	"truncate": func(t *testing.T, path string) { must(t, os.Truncate(path, 300<<10)) },
	"empty":    func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
	"remove":   func(t *testing.T, path string) { must(t, os.Remove(path)) },
	"replace": func(t *testing.T, path string) {
		write(t, path+".other", strings.Repeat("y", 1<<20))
		must(t, os.Rename(path+".other", path))
	},
	"link to the same": func(t *testing.T, path string) {
		must(t, os.Rename(path, path+".other"))
		if err := os.Symlink("report.other", path); err != nil {
			t.Skipf("not applicable: no links here: %v", err)
		}
	},
	"link outwards": func(t *testing.T, path string) {
		elsewhere := filepath.Join(t.TempDir(), "report")
		write(t, elsewhere, strings.Repeat("x", 1<<20))
		must(t, os.Remove(path))
		if err := os.Symlink(elsewhere, path); err != nil {
			t.Skipf("not applicable: no links here: %v", err)
		}
	},
	"folder": func(t *testing.T, path string) {
		must(t, os.Remove(path))
		must(t, os.Mkdir(path, 0o755))
	},
}

// poke changes one byte in place.
func poke(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("!"), at)
	must(t, errors.Join(err, f.Close()))
}

// TestRewritingTheReportVoidsTheManifest until it is finalised again.
func TestRewritingTheReportVoidsTheManifest(t *testing.T) {
	for name, rewrite := range rewrites {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "report")
			finalise(t, dir, strings.Repeat("x", 1<<20))
			rewrite(t, path)
			_, err := manifest.Read(t.Context(), dir, wanted)
			var said *manifest.Error
			if !errors.Is(err, manifest.ErrVoid) || !errors.As(err, &said) || said.File != path {
				t.Errorf("error %v", err)
			}
			if name == "folder" {
				must(t, os.Remove(path))
			}
			finalise(t, dir, strings.Repeat("x", 1<<20))
			read(t, dir)
		})
	}
}

// TestChangingTheReportWhileItIsReadVoidsTheManifest: the change comes after the third of four blocks, in what was hashed already or not.
func TestChangingTheReportWhileItIsReadVoidsTheManifest(t *testing.T) {
	for name, rewrite := range rewrites {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "one byte, ") && runtime.GOOS != "linux" {
				t.Skip("not applicable: the time of the last change is not known here")
			}
			dir := t.TempDir()
			finalise(t, dir, strings.Repeat("x", 1<<20))
			done := false
			ctx := &meddling{Context: t.Context(), at: 4, do: func() { done = true; rewrite(t, filepath.Join(dir, "report")) }}
			v, err := manifest.Read(ctx, dir, wanted)
			if !errors.Is(err, manifest.ErrVoid) || !done {
				t.Errorf("changed %v, read gives %v, %v", done, v, err)
			}
		})
	}
	t.Run("same content", func(t *testing.T) { // another file, which nobody looked at
		dir := t.TempDir()
		finalise(t, dir, strings.Repeat("x", 1<<20))
		path := filepath.Join(dir, "report")
		write(t, path+".other", strings.Repeat("x", 1<<20))
		ctx := &meddling{Context: t.Context(), at: 4, do: func() { must(t, os.Rename(path+".other", path)) }}
		if v, err := manifest.Read(ctx, dir, wanted); !errors.Is(err, manifest.ErrVoid) {
			t.Errorf("read gives %v, %v", v, err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		dir := t.TempDir()
		finalise(t, dir, "x")
		ctx := &growing{Context: t.Context(), grow: func() { rewrites["append"](t, filepath.Join(dir, "report")) }}
		if v, err := manifest.Read(ctx, dir, wanted); !errors.Is(err, manifest.ErrVoid) || ctx.asked > 2 {
			t.Errorf("read gives %v, %v after %d blocks", v, err, ctx.asked)
		}
	})
	t.Run("withdrawn", func(t *testing.T) {
		dir := t.TempDir()
		finalise(t, dir, "x")
		ctx := &meddling{Context: t.Context(), at: 1, do: func() { must(t, os.Remove(filepath.Join(dir, manifest.Name))) }}
		if v, err := manifest.Read(ctx, dir, wanted); !errors.Is(err, manifest.ErrVoid) {
			t.Errorf("read gives %v, %v", v, err)
		}
	})
}

// growing is a context that does something whenever it is asked, for a while.
type growing struct {
	context.Context
	asked int
	grow  func()
}

func (g *growing) Err() error {
	if g.asked++; g.asked < 100 {
		g.grow()
	}
	return g.Context.Err()
}

// TestTheNumbersOfTheDeclarationAreNotTrusted: it is written by hand here.
func TestTheNumbersOfTheDeclarationAreNotTrusted(t *testing.T) {
	for name, change := range map[string]struct{ from, to, field string }{
		"hash": {`"sha256": "`, `"sha256": "0`, "sha256"},
		"size": {`"size": 5`, `"size": 6`, "size"},
	} {
		dir := t.TempDir()
		m := finalise(t, dir, "hello")
		edit(t, dir, change.from, change.to)
		if name == "hash" { // still 64 digits
			edit(t, dir, m.SHA256, m.SHA256[:63])
		}
		_, err := manifest.Read(t.Context(), dir, wanted)
		var said *manifest.Error
		if !errors.Is(err, manifest.ErrVoid) || !errors.As(err, &said) || said.Field != change.field {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// edit replaces a text in a manifest.
func edit(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, manifest.Name)
	data, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(data), from) {
		t.Fatalf("%s is not in %s", from, data)
	}
	must(t, os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o600))
}

// TestAnotherAttemptsManifestIsRefused, and one that names another attempt's report.
func TestAnotherAttemptsManifestIsRefused(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	finalise(t, dir, "x")
	for name, want := range map[string]manifest.Want{"attempt": {Job: aJob, Attempt: "a2"}, "job": {Job: "w1/other", Attempt: anAttempt}} {
		_, err := manifest.Read(t.Context(), dir, want)
		var said *manifest.Error
		if !errors.Is(err, manifest.ErrOther) || !errors.As(err, &said) || said.Field != name {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, want := range []manifest.Want{{Job: aJob}, {Attempt: anAttempt}} { // who wants nobody's gets nobody's
		if _, err := manifest.Read(t.Context(), dir, want); err == nil {
			t.Errorf("%v was found", want)
		}
	}
	finalise(t, other, "x")
	data, err := os.ReadFile(filepath.Join(other, manifest.Name))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, manifest.Name), data, 0o600))
	_, err = manifest.Read(t.Context(), dir, wanted)
	var said *manifest.Error
	if !errors.Is(err, manifest.ErrVoid) || !errors.As(err, &said) || said.Field != "report" {
		t.Errorf("error %v", err)
	}
}

// TestAManifestThatIsNoFileIsDamaged: a link is not followed, even to a good one, and huge ones are not read.
func TestAManifestThatIsNoFileIsDamaged(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path string){
		"folder": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) },
		"link": func(t *testing.T, path string) {
			if err := os.Symlink("moved", path); err != nil {
				t.Skipf("not applicable: no links here: %v", err)
			}
		},
		"huge": func(t *testing.T, path string) {
			write(t, path, "{")
			must(t, os.Truncate(path, 1<<40))
		},
		"empty": func(t *testing.T, path string) { write(t, path, "") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			finalise(t, dir, "x")
			path := filepath.Join(dir, manifest.Name)
			must(t, os.Rename(path, filepath.Join(dir, "moved")))
			replace(t, path)
			_, err := manifest.Read(t.Context(), dir, wanted)
			var said *manifest.Error
			if !errors.Is(err, manifest.ErrDamaged) || !errors.As(err, &said) || said.File != path {
				t.Errorf("error %v", err)
			}
			if name == "huge" && !strings.Contains(err.Error(), "has more than") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAHugeReportIsNotRead(t *testing.T) {
	dir := t.TempDir()
	finalise(t, dir, "x")
	must(t, os.Truncate(filepath.Join(dir, "report"), 1<<40))
	edit(t, dir, `"size": 1`, `"size": 1099511627776`)
	if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrVoid) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error %v", err)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	finalise(t, dir, "x")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := manifest.Read(ctx, dir, wanted); !errors.Is(err, cause) || errors.Is(err, manifest.ErrVoid) {
		t.Errorf("error %v", err)
	}
}
