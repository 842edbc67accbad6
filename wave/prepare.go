package wave

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aesop/driver"
	"aesop/internal/git"
	"aesop/internal/testrun"
	"aesop/internal/tree"
	"aesop/tracker"
	"aesop/wave/journal"
)

// readyAll sees to it, before any agent works, that some repositories are ready for what comes: what is made there can be scanned, and what is
// to be carried into their trees is copied to a place that agents are not told of. A repository in which that is not so has failed; it is an
// error where all of them have.
func (r *run) readyAll(all *targets, names map[string]bool) error {
	var faults []error
	tried := 0
	for name, t := range all.open {
		if !names[name] {
			continue
		}
		tried++
		err := r.canScan(r.stop.ctx, t, t.Base)
		if err == nil {
			err = r.keepCarried(t)
		}
		if err != nil {
			faults = append(faults, err)
			all.failed[name] = err
		}
	}
	if len(faults) > 0 && len(faults) == tried {
		return errors.Join(faults...)
	}
	maps.DeleteFunc(all.open, func(name string, _ *target) bool { return all.failed[name] != nil })
	return nil
}

// keepCarried fills the place where carried paths are kept. A wave that was left goes on with the copy that it began with, known by its
// digest: since then agents could have changed what stands in the work tree, and a copy that lies around.
func (r *run) keepCarried(t *target) error {
	if len(t.Carry) == 0 {
		return nil
	}
	if found, err := r.findCarried(t); found || err != nil {
		return err
	}
	if err := r.copyCarried(t); err != nil {
		return err
	}
	digest, err := testrun.DigestTree(r.carried(t))
	if err != nil {
		return err
	}
	if t.Carried != "" && t.Carried != digest {
		return carryError(strings.Join(t.Carry, " "), "is not what was carried when the wave began, and the copy of that is gone",
			"put it back as it was, or abandon the wave and run a new one")
	}
	t.Carried = digest
	return nil
}

// findCarried takes over the copy that a process which died has kept.
func (r *run) findCarried(t *target) (bool, error) {
	if t.Carried == "" {
		return false, nil
	}
	left, err := pathsIn(filepath.Join(r.s.config.State, "trees"), r.id+".carried-", "")
	if err != nil {
		return false, err
	}
	for _, dir := range left {
		kept := filepath.Join(dir, filepath.Base(r.carried(t)))
		if digest, err := testrun.DigestTree(kept); err != nil || digest != t.Carried {
			continue // another repository's, half a copy, or a spoilt one
		}
		return true, errors.Join(os.MkdirAll(filepath.Dir(r.carried(t)), 0o700), os.Rename(kept, r.carried(t)))
	}
	return false, nil
}

func (r *run) copyCarried(t *target) error {
	if t.user.Bare {
		return carryError(t.Carry[0], "is to be carried, and the repository has no work tree to carry it from", "take it out of carry")
	}
	ignores, err := t.engine.Ignores(r.stop.ctx, t.Base, filepath.Join(r.caches(), "ignores-"+itemName(t.Name)))
	if err != nil {
		return errors.Join(err, ignores.Close())
	}
	defer ignores.Close()
	for _, name := range t.Carry {
		if err := r.keepOne(t, ignores, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) keepOne(t *target, ignores *git.Ignores, name string) error {
	name = strings.TrimSuffix(name, "/")
	if err := tracker.CheckPath(name); err != nil {
		return carryError(name, err.Error(), "name a path relative to the root of the repository")
	}
	from, err := filepath.EvalSymlinks(filepath.Join(t.user.Root, filepath.FromSlash(name)))
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(from)
	}
	if err != nil {
		return carryError(name, "is to be carried, and is not in the work tree: "+err.Error(), "make it there, or let prepare make it in each tree")
	}
	if left, err := ignores.Match(name, info.IsDir()); err != nil {
		return err
	} else if !left {
		return carryError(name, "is to be carried, and is not ignored by the base, so that it would pass for an agent's work", "add it to .gitignore and push that")
	}
	err = testrun.CopyWithin(r.carried(t), filepath.FromSlash(name), from)
	if out, ok := errors.AsType[*testrun.OutsideError](err); ok {
		return carryError(name, "is to be carried, and "+out.Error()+", which is no place of the repository", "let prepare make it in each tree")
	}
	return err
}

func carryError(name, what, hint string) error {
	return &SetupError{Code: "carry", Message: fmt.Sprintf("%q %s", name, what), Hint: hint}
}

// carried is where a repository's carried paths are kept until the wave ends, in a folder whose name nobody is told.
func (r *run) carried(t *target) string {
	return filepath.Join(r.s.config.State, "trees", r.id+".carried-"+r.nonce, itemName(t.Name))
}

// freshTree checks a commit out and copies into it what is to be carried.
func (r *run) freshTree(ctx context.Context, t *target, commit git.SHA, dir string) error {
	if err := t.engine.Checkout(ctx, commit, dir); err != nil {
		return err
	}
	return testrun.CopyTree(dir, r.carried(t))
}

// prepare runs the repository's lines in a fresh tree, until one fails; that one's end comes back.
func (r *run) prepare(ctx context.Context, t *target, dir string, env []string, mark string, log io.Writer) (*journal.Test, error) {
	for n, line := range t.Prepare {
		command := tracker.Command{Shell: line}
		fmt.Fprintf(log, "--- prepare: %s\n", line)
		test, _, err := r.command(ctx, testrun.Spec{Argv: command.Words(), Dir: dir, Env: env, Mark: fmt.Sprintf("%s-prepare-%d", mark, n), Log: log})
		if err != nil {
			return nil, err
		}
		if !test.Passed {
			test.Reason = joinLines(test.Reason, fmt.Sprintf("the tree could not be made ready: %s: %s", line, testEnd(test)))
			return &test, nil
		}
	}
	return nil, nil
}

// readyTree is a fresh tree for an agent, with what the agent is told; *knownSecretError where the agent may not have it. In a repair, what the failed commit keeps from being made ready, or
// leaves then, is for the agent to see to.
func (w *work) readyTree(ctx context.Context, log *itemLog) (prompt string, failure *driver.Failure, err error) {
	if err := w.freshTree(ctx, w.target, w.from, w.dir); err != nil {
		return "", nil, err
	}
	if err := w.withoutKnown(ctx); err != nil {
		return "", nil, err
	}
	left, err := w.makeReady(ctx, log)
	if err == nil && left != "" && w.from == w.target.Base {
		err = errors.New(left)
	}
	if err != nil {
		return "", nil, err
	}
	if failure, err = w.failure(ctx, left); err != nil {
		return "", nil, err
	}
	prompt, err = w.s.config.Prompts.Prompt(PromptInput{Item: w.text, Test: w.text.TestCmd.String(), Round: w.round, Failure: failure})
	return prompt, failure, err
}

// makeReady sees to what the agent's tree needs beside the commit. It says what is wrong with the tree then, or "".
func (w *work) makeReady(ctx context.Context, log *itemLog) (string, error) {
	if len(w.target.Prepare)+len(w.target.Carry) == 0 {
		return "", nil
	}
	failed, err := w.prepareTree(ctx, log)
	if err != nil {
		return "", err
	}
	if failed != nil && w.from == w.target.Base {
		return joinLines(failed.Reason, joinLines(failed.Stdout, failed.Stderr)), nil
	}
	return w.foreign(ctx)
}

// prepareTree runs prepare as before a test.
func (w *work) prepareTree(ctx context.Context, log *itemLog) (*journal.Test, error) {
	if len(w.target.Prepare) == 0 {
		return nil, nil
	}
	private := w.dir + ".private"
	defer w.discard(private)
	env, err := w.testEnvironment(private, w.cacheOf(w.item.ID))
	if err != nil {
		return nil, err
	}
	return w.prepare(ctx, w.target, w.dir, env, w.s.mark(w.id, "ready-"+w.attempt), log)
}

// foreign names what was put into the tree that would be taken for the agent's doing, for its work or against it.
func (w *work) foreign(ctx context.Context) (string, error) {
	entries, err := w.target.engine.List(ctx, w.from)
	if err != nil {
		return "", err
	}
	owns, err := tracker.ParseOwnership(w.text.OwnsFiles)
	if err != nil {
		return "", err
	}
	found, err := w.fence(ctx, entries, owns)
	if err != nil {
		return "", err
	}
	if w.before, err = ownedBelow(w.dir, found.Ignored, owns); err != nil {
		return "", err
	}
	blamed := "prepare leaves what the base does not ignore; add it to .gitignore and push that: "
	taken := "prepare makes, or carry copies, what the item owns, so that it would pass for the agent's work; let the item own other files: "
	if w.from != w.target.Base {
		blamed = "with this change prepare leaves in the tree what does not belong to the item; remove it, and see that it does not come again: "
		taken = "with this change prepare makes or changes files of the item, which are taken for part of the change: "
	}
	var wrong string
	if len(found.Violations) > 0 {
		wrong = blamed + fenceReason(found.Violations)
	}
	if len(found.Changes) > 0 {
		wrong = joinLines(wrong, taken+strings.Join(changedPaths(found.Changes), ", "))
	}
	return wrong, nil
}

// changedPaths names changes, but not more than a reason names.
func changedPaths(changes []git.Change) []string {
	var names []string
	for _, c := range changes[:min(len(changes), maxNamed)] {
		names = append(names, c.Path)
	}
	return names
}

// fence reads the agent's tree against a commit's files, by the ignore files of the base.
func (w *work) fence(ctx context.Context, entries []git.Entry, owns tracker.Ownership) (tree.Found, error) {
	// Where nobody has to find them: a folder beside the tree would be there already after a crash, or by an agent's doing.
	scratch := filepath.Join(w.caches(), "ignores-"+itemName(w.item.ID)+"-"+w.attempt)
	return fenceBy(ctx, w.target.engine, w.target.Base, scratch, w.dir, entries, owns)
}

// fenceBy is tree.Fence by the ignore files of a commit, which are written to scratch meanwhile.
func fenceBy(ctx context.Context, engine *git.Engine, rules git.SHA, scratch, dir string, entries []git.Entry, owns tracker.Ownership) (tree.Found, error) {
	ignores, err := engine.Ignores(ctx, rules, scratch)
	if err != nil {
		return tree.Found{}, errors.Join(err, ignores.Close())
	}
	found, err := tree.Fence(ctx, dir, entries, owns, ignores.Match)
	return found, errors.Join(err, ignores.Close())
}

// testEnvironment is that of a test whose home and caches are below private; its caches begin as a real copy of seed, so that a test can
// never reach another's.
func (r *run) testEnvironment(private, seed string) ([]string, error) {
	if err := testrun.CopyTree(filepath.Join(private, "cache"), seed); err != nil {
		return nil, err
	}
	return testrun.Environment(r.s.config.Lookup, slices.Clone(r.s.config.PassEnv), private)
}
