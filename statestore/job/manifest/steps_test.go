package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorder is a real disk that notes its steps, and fails or dies at one of them.
type recorder struct {
	steps  []string
	failAt int  // step, from 1, that is not done and fails
	killAt int  // step, from 1, before which the process is killed
	half   bool // that step is a write, of which half is done
	meddle func(step string)
}

var errInjected = errors.New("injected")

func (r *recorder) step(what, name string) error {
	if strings.HasPrefix(name, Name+".") {
		name = "temporary"
	}
	r.steps = append(r.steps, strings.TrimSpace(what+" "+name))
	if r.meddle != nil {
		r.meddle(r.steps[len(r.steps)-1])
	}
	if len(r.steps) == r.killAt && !r.half {
		kill()
	}
	if len(r.steps) == r.failAt {
		return errInjected
	}
	return nil
}

func kill() {
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Kill()
	select {}
}

func (r *recorder) write(f *os.File, data []byte) error {
	if err := r.step("write", filepath.Base(f.Name())); err != nil {
		_, _ = f.Write(data[:len(data)/2])
		return err
	}
	if r.half && len(r.steps) == r.killAt {
		_, _ = f.Write(data[:len(data)/2])
		kill()
	}
	return realDisk{}.write(f, data)
}

func (r *recorder) sync(f *os.File) error {
	name := filepath.Base(f.Name())
	if info, err := f.Stat(); err == nil && info.IsDir() {
		name = "folder"
	}
	if err := r.step("sync", name); err != nil {
		return err
	}
	return realDisk{}.sync(f)
}

func (r *recorder) rename(root *os.Root, from, to string) error {
	if err := r.step("rename to "+to+" from", from); err != nil {
		return err
	}
	return realDisk{}.rename(root, from, to)
}

func (r *recorder) remove(root *os.Root, name string) error {
	if err := r.step("remove", name); err != nil {
		return err
	}
	return realDisk{}.remove(root, name)
}

func stage(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "staged"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var first = []string{"remove manifest.json", "sync staged", "rename to report from staged", "sync folder", "write temporary", "sync temporary",
	"rename to manifest.json from temporary", "sync folder"}

// TestReportIsPromotedBeforeTheManifestIsWritten: each step is on disk before the next begins.
func TestReportIsPromotedBeforeTheManifestIsWritten(t *testing.T) {
	dir := t.TempDir()
	again := slices.Insert(slices.Clone(first), 1, "sync folder") // of the removed manifest
	for n, want := range [][]string{first, again} {
		stage(t, dir, fmt.Sprint("report ", n))
		on := &recorder{}
		if _, err := finalize(t.Context(), draft(dir), on); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(on.steps, want) {
			t.Errorf("steps are %q, want %q", on.steps, want)
		}
	}
}

// TestAFailedFinalizationLeavesNothingToPublish: whatever step fails, nobody finds a manifest that counts, and the next try succeeds.
func TestAFailedFinalizationLeavesNothingToPublish(t *testing.T) {
	for _, refinalised := range []bool{false, true} {
		for n := 1; ; n++ {
			dir := t.TempDir()
			if refinalised { // with the same content, so that the old manifest would count
				stage(t, dir, "report")
				if _, err := Finalize(t.Context(), draft(dir)); err != nil {
					t.Fatal(err)
				}
			}
			stage(t, dir, "report")
			on := &recorder{failAt: n}
			m, err := finalize(t.Context(), draft(dir), on)
			if len(on.steps) < n {
				break
			}
			step := on.steps[n-1]
			if !errors.Is(err, errInjected) || m.SHA256 != "" {
				t.Errorf("%s fails: manifest %v, error %v", step, m, err)
			}
			_, err = Read(t.Context(), dir, Want{"w1/greet", "a1"})
			if removed := step != "remove manifest.json" || !refinalised; removed && !errors.Is(err, ErrNone) {
				t.Errorf("%s fails: read gives %v", step, err)
			}
			if names, _ := filepath.Glob(filepath.Join(dir, Name+".*")); len(names) > 0 {
				t.Errorf("%s fails: left is %q", step, names)
			}
			retry := draft(dir)
			if _, err := os.Stat(filepath.Join(dir, "staged")); err != nil {
				retry.Staged = ReportName
			}
			if _, err := Finalize(t.Context(), retry); err != nil {
				t.Errorf("%s failed: the next try gives %v", step, err)
			}
		}
	}
}

// TestWhatComesBetweenTheStepsLeavesNoManifest: a writer in what was synced already, or another file in its place.
func TestWhatComesBetweenTheStepsLeavesNoManifest(t *testing.T) {
	for name, meddle := range map[string]func(dir string){
		"rewritten": func(dir string) { stage(t, dir, "longer than before") },
		"replaced": func(dir string) {
			if err := os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "staged")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		stage(t, dir, "report")
		if err := os.Rename(filepath.Join(dir, "staged"), filepath.Join(dir, "other")); err != nil {
			t.Fatal(err)
		}
		stage(t, dir, "report")
		_, err := finalize(t.Context(), draft(dir), &recorder{meddle: func(step string) {
			if strings.HasSuffix(step, "from staged") {
				meddle(dir)
			}
		}})
		if !errors.Is(err, errChanged) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := Read(t.Context(), dir, Want{"w1/greet", "a1"}); !errors.Is(err, ErrNone) {
			t.Errorf("%s: read gives %v", name, err)
		}
	}
}

// TestKilledAtAnyStepNoManifestCountsWhoseReportIsNotWhole uses a process of its own a step.
func TestKilledAtAnyStepNoManifestCountsWhoseReportIsNotWhole(t *testing.T) {
	const before, after = "the old report", "the new report, which is longer"
	for _, refinalised := range []bool{false, true} {
		steps := len(first)
		if refinalised {
			steps++
		}
		write := steps - 3
		for n := 1; n <= steps+1; n++ {
			for _, half := range []bool{false, true} {
				if half && n != write {
					continue
				}
				t.Run(fmt.Sprintf("again %v, step %d, half %v", refinalised, n, half), func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					if refinalised {
						stage(t, dir, before)
						if _, err := Finalize(t.Context(), draft(dir)); err != nil {
							t.Fatal(err)
						}
					}
					stage(t, dir, after)
					child := exec.CommandContext(t.Context(), os.Args[0])
					child.Env = append(os.Environ(), "AESOP_TEST_FINALIZE="+dir, fmt.Sprintf("AESOP_TEST_KILL=%d %v", n, half))
					out, err := child.CombinedOutput()
					if killed := n <= steps; killed != (err != nil) || len(out) > 0 {
						t.Fatalf("the child: %v, %s", err, out)
					}
					v, err := Read(t.Context(), dir, Want{"w1/greet", "a1"})
					switch {
					case n > steps-1: // the manifest has its name
						if err != nil || v.SHA256 != sum(after) {
							t.Errorf("read gives %v, %v", v, err)
						}
					case n == 1 && refinalised: // nothing had begun
						if err != nil || v.SHA256 != sum(before) {
							t.Errorf("read gives %v, %v", v, err)
						}
					case !errors.Is(err, ErrNone):
						t.Errorf("read gives %v, %v", v, err)
					}
				})
			}
		}
	}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}
