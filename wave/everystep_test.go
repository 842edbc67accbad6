package wave_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"aesop/wave"
	"aesop/wave/journal"
)

// haltAt sets HALT when an event of a type is stored, and remembers what was stored after it.
type haltAt struct {
	t     *testing.T
	halt  wave.Halt
	event string
	after []string
	set   bool
}

func (h *haltAt) Observe(_ *journal.Wave, e journal.Event) {
	if h.set {
		h.after = append(h.after, e.Type())
	}
	if e.Type() == h.event && !h.set {
		h.set = true
		if err := h.halt.Set(wave.HaltNote{Reason: "at " + h.event}); err != nil {
			h.t.Error(err)
		}
	}
}

func TestHaltAtEveryEventStopsBeforeTheNextEffect(t *testing.T) {
	// After these the wave's effects are over: what is left is bookkeeping.
	over := []string{"shipped", "settled", "ended"}
	for _, event := range []string{"planned", "base_tested", "claimed", "item_base_tested", "attempt_started", "attempt_ended", "verified", "spot_checked", "item_ended", "integrated",
		"push_intent", "shipped", "settled", "ended"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			w := crashWorld(t)
			store := w.store()
			h := &haltAt{t: t, halt: wave.Halt{Dir: w.state}, event: event}
			verify := func(c *wave.Config) { c.Verify.Shell, c.Sinks = "true", w.notify() }
			s := w.schedulerOn(store, verify, func(c *wave.Config) { c.Parallel = 1; c.Observers = []wave.Observer{h} })
			report, err := s.Run(t.Context())
			must(t, err)
			checkContract(t, report)
			if !h.set {
				t.Fatalf("the event did not happen: %s", asJSON(report))
			}
			_, pushed := w.refs()["refs/aesop/items/ships"]
			switch {
			case slices.Contains(over, event):
				wantOutcome(t, report, journal.Partial)
			case event == "push_intent", event == "integrated": // stored together; the push may have been on its way; the report says what the remote says
				// It may also land after the remote was asked; the resume finds it. What is said to be pushed must be.
				if reported(t, report, "ships").Pushed && !pushed {
					t.Errorf("pushed %v, report: %s", pushed, asJSON(reported(t, report, "ships")))
				}
			default:
				wantOutcome(t, report, journal.Halted)
				if pushed {
					t.Error("something was pushed after HALT")
				}
				// Events that are not durable are stored, and seen, together with the start that they wait for.
				if started := slices.Index(h.after, "attempt_started"); started >= 0 && event != "claimed" && event != "item_base_tested" {
					t.Errorf("an agent was started after HALT: %v", h.after)
				}
			}
			must(t, h.halt.Clear())
			if _, err := w.schedulerOn(store, verify).Resume(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if diff := w.endDiff(report.Wave); diff != "" {
				t.Errorf("undisturbed (-) and resumed (+) differ:\n%s", diff)
			}
		})
	}
}

func TestKilledWithAnAgentOrATestAtWork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL and the process table of Linux")
	}
	for name, play := range map[string]func(w *world, mark string){
		"agent": func(w *world, mark string) {
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": {{"exec": "test -e " + mark + " || { echo $$ > " + mark + "; while :; do sleep 0.05; done; }; echo good > a.txt"}}})
		},
		"test": func(w *world, mark string) {
			w.items(item{"id": "a", "testCmd": "test -e a.txt || exit 1; test -e " + mark + " || { echo $$ > " + mark + "; while :; do sleep 0.05; done; }; grep good a.txt"})
			w.script(map[string][]attempt{"a": good("a")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mark := filepath.Join(w.dir, "at-work")
			play(w, mark)
			path, err := failing()
			must(t, err)
			cmd := exec.CommandContext(t.Context(), path, "run", "--repo", w.repo, "--state", w.state, "--driver", "script", "--script", w.scriptFile)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "GIT_CONFIG_NOSYSTEM=1"}
			must(t, cmd.Start())
			waitForFile(t.Context(), mark)
			must(t, cmd.Process.Signal(syscall.SIGKILL))
			_ = cmd.Wait()
			if code, out := w.binary("", "resume"); code != 0 {
				t.Fatalf("resume: exit %d\n%s", code, out)
			}
			if left := marked(t, w.newest()); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if w.show(w.refs()["refs/aesop/items/a"], "a.txt") != "good" {
				t.Error("the item did not ship")
			}
		})
	}
}

func TestKilledAgainDuringResume(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	for _, second := range []string{"taken_over", "tracker_claim", "resumed", "verified", "push", "settled"} {
		t.Run(second, func(t *testing.T) {
			t.Parallel()
			w := crashWorld(t)
			if code, _ := w.binary("attempt_ended", "run"); code != -1 {
				t.Fatalf("exit %d", code)
			}
			if code, _ := w.binary(second, "resume"); code != -1 {
				t.Fatalf("resume: exit %d, the failpoint was not reached", code)
			}
			if code, out := w.binary("", "resume"); code != 1 {
				t.Fatalf("second resume: exit %d\n%s", code, out)
			}
			if diff := w.endDiff(w.newest()); diff != "" {
				t.Errorf("undisturbed (-) and resumed (+) differ:\n%s", diff)
			}
		})
	}
}
