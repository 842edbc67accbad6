package wave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aesop/internal/git"
	"aesop/internal/testcount"
	"aesop/internal/testrun"
	"aesop/internal/tree"
	"aesop/wave/journal"
)

// verify tests the item's newest commit, in a clean checkout that no agent has seen.
func (r *run) verify(ctx context.Context, item *journal.ItemState) error {
	attempt, own := item.Last(), r.item(item.ID)
	test, err := r.test(ctx, testRun{target: r.targetOf(item.ID), name: "verify-" + attempt.ID, item: item.ID, commit: attempt.Ended.Commit, argv: own.TestCmd.Words(),
		text: item.TestText, workDir: own.WorkDir, seed: r.cacheOf(item.ID)})
	if err != nil {
		return err
	}
	needTests(&test)
	needTestsOf(item.BaseTest, &test)
	event := journal.Verified{Item: item.ID, Attempt: attempt.ID, Commit: attempt.Ended.Commit, Test: test}
	if test.Passed {
		return r.record(event) // the job ends when the commit has shipped
	}
	if attempt.Round > r.journal.Wave().Plan.Repairs {
		return r.recordWith(r.failJob(item.ID, "not_verified"), event)
	}
	return r.recordWith(r.repeatJob(item.ID, attempt.Round+1), event)
}

// testItemOnBase runs the item's test before any change, for the first prompt, and to fill a cache that no agent can reach.
func (r *run) testItemOnBase(ctx context.Context, item *journal.ItemState) error {
	tested, err := r.itemOnBase(ctx, item)
	if err != nil {
		return err
	}
	return r.record(tested)
}

// itemOnBase is a run of the item's test on the base as it is now, without the change.
func (r *run) itemOnBase(ctx context.Context, item *journal.ItemState) (journal.ItemBaseTested, error) {
	own, t := r.item(item.ID), r.targetOf(item.ID)
	test, err := r.test(ctx, testRun{target: t, name: "base", item: item.ID, commit: t.Base, argv: own.TestCmd.Words(), text: item.TestText,
		workDir: own.WorkDir, seed: r.baseCache(t), keep: r.cacheOf(item.ID)})
	return journal.ItemBaseTested{Item: item.ID, Test: test}, err
}

// testBases runs the configured verify command on each base, before any agent is paid. Where it fails, the repository's items end.
func (r *run) testBases() error {
	if err := r.eachRepository(r.testBase); err != nil {
		return err
	}
	wave := r.journal.Wave()
	for _, repository := range wave.In() {
		if repository.Red() && !wave.Plan.RedBase {
			if err := r.endAll(repository.Name, journal.StateCancelled, "the base is red"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) testBase(t *target) error {
	wave := r.journal.Wave()
	if t.Verify.Argv == nil || wave.Repositories[t.Name].Tested != nil ||
		len(wave.Select(func(i *journal.ItemState) bool { return i.Repo == t.Name })) == 0 {
		return nil
	}
	test, err := r.test(r.stop.ctx, testRun{target: t, name: "base-" + itemName(t.Name), item: "", commit: t.Base, argv: t.Verify.Argv,
		text: t.Verify.Text, keep: r.baseCache(t)})
	if err != nil {
		return err
	}
	return r.record(journal.BaseTested{Repo: t.Name, Command: t.Verify.Text, Test: test})
}

// testRun describes one run of a test command on a commit.
type testRun struct {
	target  *target
	name    string // of the tree, unique within the item
	item    string // "" for the wave as a whole
	commit  git.SHA
	argv    []string
	text    string
	workDir string
	seed    string // folder whose caches the run starts with, or ""
	keep    string // where the run's caches are kept for others, or ""
}

// test runs a command on a commit and throws the tree away. The error is the engine's, or that ctx ended.
func (r *run) test(ctx context.Context, t testRun) (journal.Test, error) {
	home := t.item
	if home == "" {
		home = wholeWave
	}
	place := r.scratch(home, t.name)
	if home == wholeWave {
		place = filepath.Join(r.s.config.State, "trees", r.id, "wave", t.name)
	}
	dir, private := filepath.Join(place, "tree"), filepath.Join(place, "private")
	r.discard(place)
	defer r.discard(place)
	if err := t.target.engine.Checkout(ctx, t.commit, dir); err != nil {
		if t.commit != t.target.Base && ctx.Err() == nil { // of an agent's making, so its misfortune
			return journal.Test{Reason: fmt.Sprintf("the commit cannot be checked out: %v", err)}, nil
		}
		return journal.Test{}, err
	}
	if err := testrun.CopyTree(dir, r.carried(t.target)); err != nil {
		return journal.Test{}, err
	}
	env, err := r.testEnvironment(private, t.seed)
	if err != nil {
		return journal.Test{}, err
	}
	log, err := r.openLog(home)
	if err != nil {
		return journal.Test{}, err
	}
	defer log.Close()
	log.section("test %s on %s: %s", t.name, git.Short(t.commit), t.text)
	mark := r.s.mark(r.id, "test-"+itemName(home)+"-"+t.name)
	unready, err := r.prepare(ctx, t.target, dir, env, mark, log)
	if err != nil {
		return journal.Test{}, err
	}
	if unready != nil {
		return *unready, nil
	}
	entries, err := t.target.engine.List(ctx, t.commit)
	if err != nil {
		return journal.Test{}, err
	}
	before := reportsBefore(ctx, t.target, dir, entries)
	test, counted, err := r.command(ctx, testrun.Spec{Argv: t.argv, Dir: filepath.Join(dir, filepath.FromSlash(t.workDir)), Env: env, Mark: mark, Log: log})
	if err != nil {
		return journal.Test{}, err
	}
	countTests(ctx, &test, counted, dir, before)
	log.section("%s", testEnd(test))
	if err := unchanged(ctx, &test, dir, entries); err != nil {
		return journal.Test{}, err
	}
	if t.keep != "" {
		if err := errors.Join(os.RemoveAll(t.keep), os.MkdirAll(filepath.Dir(t.keep), 0o700)); err != nil {
			return journal.Test{}, err
		}
		if err := os.Rename(filepath.Join(private, "cache"), t.keep); err != nil {
			return journal.Test{}, err
		}
	}
	return test, nil
}

// command runs a command of people's. The error is the engine's, or that ctx ended.
func (r *run) command(ctx context.Context, spec testrun.Spec) (journal.Test, testcount.Count, error) {
	spec.Timeout = r.s.config.TestTimeout
	outcome, err := testrun.Run(ctx, spec)
	if missing, ok := errors.AsType[*testrun.DirectoryError](err); ok {
		return journal.Test{Reason: missing.Error()}, testcount.Count{}, nil
	}
	if start, ok := errors.AsType[*testrun.StartError](err); ok {
		return journal.Test{Reason: start.Error()}, testcount.Count{}, nil
	}
	if err != nil {
		return journal.Test{}, testcount.Count{}, err
	}
	return journal.Test{Passed: outcome.Passed(), Exit: outcome.Exit, TimedOut: outcome.TimedOut, Stdout: r.s.redact(outcome.Stdout),
		Stderr: r.s.redact(outcome.Stderr), Reason: unended(outcome), DurationMs: outcome.Duration.Milliseconds(), Confinement: outcome.Confinement, Survivors: outcome.Survivors}, outcome.Counted, nil
}

// testEnd says how a test went, for its log.
func testEnd(t journal.Test) string {
	took := (time.Duration(t.DurationMs) * time.Millisecond).Round(time.Millisecond)
	if t.Exit == nil {
		return fmt.Sprintf("%s, after %s", t.Reason, took)
	}
	if t.Tests != nil {
		return fmt.Sprintf("exit %d after %s, %d tests executed (%s)", *t.Exit, took, *t.Tests, t.Runner)
	}
	return fmt.Sprintf("exit %d after %s", *t.Exit, took)
}

// unended says why a command did not end by itself; its output need not.
func unended(o testrun.Outcome) string {
	switch {
	case o.TimedOut:
		return fmt.Sprintf("stopped after %s, its time limit", o.Duration.Round(time.Millisecond))
	case o.Signal != "":
		return "ended by " + o.Signal
	}
	return ""
}

// unchanged fails a test that rewrote the files it was to test: what passed then is not the commit.
func unchanged(ctx context.Context, test *journal.Test, dir string, entries []git.Entry) error {
	if !test.Passed {
		return nil
	}
	modified, err := tree.Modified(ctx, dir, entries)
	if err != nil {
		return err
	}
	if len(modified) > 0 {
		test.Passed = false
		test.Reason = fmt.Sprintf("the test changed files of the commit: %s", strings.Join(modified[:min(len(modified), maxNamed)], ", "))
	}
	return nil
}

// baseCache is the folder of what the verify command's run on the base left in its caches; it exists only where there was one.
func (r *run) baseCache(t *target) string {
	return filepath.Join(r.caches(), "base-"+itemName(t.Name))
}

// cacheOf is the folder for the caches of an item's run on the base.
func (r *run) cacheOf(item string) string { return filepath.Join(r.caches(), "item-"+itemName(item)) }
