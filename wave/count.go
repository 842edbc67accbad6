package wave

import (
	"context"
	"fmt"
	"maps"

	"aesop/internal/git"
	"aesop/internal/testcount"
	"aesop/wave/journal"
)

// reportsBefore are the files in a fresh tree that look like reports of a test that has not run yet; nil where they cannot be told.
func reportsBefore(ctx context.Context, t *target, dir string, entries []git.Entry) map[string]bool {
	before := make(map[string]bool, len(entries))
	for _, e := range entries {
		before[e.Path] = true
	}
	if len(t.Prepare) == 0 && len(t.Carry) == 0 { // nothing else is there
		return before
	}
	found, err := testcount.Files(ctx, dir)
	if err != nil {
		return nil
	}
	maps.Copy(before, found)
	return before
}

// countTests notes how many tests a run executed: what its output says or, where that speaks of no runner, the JUnit reports that it
// wrote into the tree, beside the files that were there before.
func countTests(ctx context.Context, test *journal.Test, counted testcount.Count, dir string, before map[string]bool) {
	if counted.Runner == "" && before != nil {
		var err error
		if counted, err = testcount.Reports(ctx, dir, before); err != nil {
			return // the test took its own tree away; how many there were is not known
		}
	}
	test.Runner = counted.Runner
	if counted.Known {
		test.Tests = &counted.Tests
	}
}

// needTests takes the pass away from a test that executed nothing.
func needTests(test *journal.Test) {
	if test.Passed && test.Tests != nil && *test.Tests == 0 {
		test.Passed, test.Reason = false, fmt.Sprintf("the command exits 0, but no test was executed (%s)", test.Runner)
	}
}

// needTestsOf takes the pass away from a test that executed less than the one before the change, which may be nil.
func needTestsOf(base, test *journal.Test) {
	if test.Passed && test.Tests != nil && base != nil && base.Tests != nil && *test.Tests < *base.Tests {
		test.Passed, test.Reason = false, fmt.Sprintf("the command exits 0, but fewer tests were executed (%s) than before the change: %d, not %d",
			test.Runner, *test.Tests, *base.Tests)
	}
}

// proof is what a passed test rests on. A count proves where it can be compared: the run before the change was counted too, or
// failed, so that it had no tests that could be missing.
func proof(test, base *journal.Test) string {
	counted := test.Tests != nil && *test.Tests > 0
	if counted && base != nil && (base.Tests != nil || !base.Passed) {
		return "counter_proved"
	}
	return "exit_only"
}
