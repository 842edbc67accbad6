package wave_test

import (
	"context"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// pytest is a test command that says that as many tests were executed as the file count.txt has lines, and fails without done.txt.
const pytest = `n=$(grep -c . count.txt); echo "$n passed in 0.01s"; test -e done.txt`

func intOr(p *int, none int) int {
	if p == nil {
		return none
	}
	return *p
}

func TestCountedTests(t *testing.T) {
	for name, tt := range map[string]struct {
		base, change string // content of count.txt; change "" leaves it
		test         string
		state        journal.State
		proof        string
		run, onBase  int // -1: not known
		reason       string
	}{
		"more":                          {"1\n", "1\n2\n", pytest, journal.StateShipped, "counter_proved", 2, 1, ""},
		"as many":                       {"1\n2\n", "2\n3\n", pytest, journal.StateShipped, "counter_proved", 2, 2, ""},
		"fewer":                         {"1\n2\n", "1\n", pytest, journal.StateNotVerified, "", 1, 2, "fewer tests were executed (pytest) than before the change: 1, not 2"},
		"none":                          {"", "\n", pytest, journal.StateNotVerified, "", 0, 0, "no test was executed (pytest)"},
		"not known":                     {"1\n", "\n", "test -e done.txt", journal.StateShipped, "exit_only", -1, -1, ""},
		"not known before, and red":     {"1\n", "1\n2\n", `test -e done.txt || exit 2; ` + pytest, journal.StateShipped, "counter_proved", 2, -1, ""},
		"none, not known before":        {"1\n", "\n", `test -e done.txt || exit 2; ` + pytest, journal.StateNotVerified, "", 0, -1, "no test was executed (pytest)"},
		"not known before, but good":    {"1\n", "1\n2\n", `test -e done.txt || exit 0; ` + pytest, journal.StateShipped, "exit_only", 2, -1, ""},
		"reports in the tree":           {"1\n", "1\n2\n", `mkdir out; { echo "<testsuite>"; sed 's/.*/<testcase\/>/' count.txt; echo "</testsuite>"; } > out/TEST-a.xml; test -e done.txt`, journal.StateShipped, "counter_proved", 2, 1, ""},
		"fewer, by reports in the tree": {"1\n2\n", "1\n", `{ echo "<testsuite>"; sed 's/.*/<testcase\/>/' count.txt; echo "</testsuite>"; } > r.xml; test -e done.txt`, journal.StateNotVerified, "", 1, 2, "(junit)"},
		"report of the repository":      {"1\n", "1\n2\n", `test -e kept.xml && test -e done.txt`, journal.StateShipped, "exit_only", -1, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("count.txt", tt.base)
			w.write("kept.xml", "<testsuite/>")
			w.commit("Count")
			w.git(w.repo, "push", "--quiet")
			w.items(item{"id": "a", "ownsFiles": []string{"count.txt", "done.txt"}, "testCmd": tt.test})
			played := &agent{info: driver.Info{Name: "played", Tier: 1}, work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				if err := put(task, "count.txt", tt.change); err != nil {
					return driver.Result{}, err
				}
				return driver.Result{}, put(task, "done.txt", "")
			}}
			i := wantState(t, w.run(with(played)), "a", tt.state)
			proof := ""
			if i.Proof != nil {
				proof = *i.Proof
			}
			if proof != tt.proof || intOr(i.TestsRun, -1) != tt.run || intOr(i.TestsOnBase, -1) != tt.onBase {
				t.Errorf("proof %q, %d tests, %d before: %s", proof, intOr(i.TestsRun, -1), intOr(i.TestsOnBase, -1), asJSON(i))
			}
			if tt.reason == "" {
				return
			}
			if !strings.Contains(i.Failure.Tail, tt.reason) {
				t.Errorf("the failure is %q", i.Failure.Tail)
			}
			// It went back to the driver as a failed test does.
			if len(played.tasks) < 2 || !strings.Contains(played.tasks[1].Failure.Reason, tt.reason) {
				t.Errorf("%d dispatches, the last with %+v", len(played.tasks), played.tasks[len(played.tasks)-1].Failure)
			}
		})
	}
}

// TestUnionThatLosesTests: each item passes alone, and one of them takes tests away from the test of the repository.
func TestUnionThatLosesTests(t *testing.T) {
	w := newWorld(t)
	w.write("count.txt", "1\n2\n")
	w.commit("Count")
	w.git(w.repo, "push", "--quiet")
	w.items(item{"id": "a"}, item{"id": "b", "ownsFiles": []string{"b.txt", "count.txt"}})
	w.script(map[string][]attempt{"a": good("a"), "b": {{"files": map[string]string{"b.txt": "good", "count.txt": "1\n"}}}})
	report := w.run(func(c *wave.Config) {
		c.Verify = tracker.Command{Shell: `echo "$(grep -c . count.txt) passed in 0.01s"`}
	})
	wantState(t, report, "a", journal.StateShipped)
	if i := wantState(t, report, "b", journal.StateIntegrationFailed); !strings.Contains(i.Failure.Tail, "fewer tests were executed") {
		t.Errorf("%s", asJSON(i))
	}
}

// TestRepositoryWithoutTestsShips: that its own test executes none is no fault of an item.
func TestRepositoryWithoutTestsShips(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	report := w.run(func(c *wave.Config) { c.Verify = tracker.Command{Shell: `echo "no tests ran in 0.01s"`} })
	wantState(t, report, "a", journal.StateShipped)
}

// TestReportsThatWereCarriedAreNotOfTheTest: what lies in the tree before the test is no word of it.
func TestReportsThatWereCarriedAreNotOfTheTest(t *testing.T) {
	w := newWorld(t)
	w.write(".gitignore", "tracker.json\nout/\nmade.xml\n")
	w.commit("Rules")
	w.git(w.repo, "push", "--quiet")
	w.write("out/TEST-old.xml", "<testsuite><testcase/></testsuite>")
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	i := wantState(t, w.run(func(c *wave.Config) {
		c.Carry, c.Prepare = []string{"out/"}, []string{`echo "<testsuite><testcase/></testsuite>" > made.xml`}
	}), "a", journal.StateShipped)
	if i.TestsRun != nil || *i.Proof != "exit_only" {
		t.Errorf("%s", asJSON(i))
	}
}
