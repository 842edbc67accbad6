package wave

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/git"
	"aesop/internal/testrun"
	"aesop/internal/tree"
	"aesop/tracker"
	"aesop/wave/journal"
)

// dispatch gives the item to the driver once and turns what it left into a commit.
func (r *run) dispatch(ctx context.Context, item *journal.ItemState) error {
	round, begin, gate := r.round(item)
	if err := r.pass(gate, item.ID); err != nil {
		return err
	}
	if reason := r.s.unpaid(item.Model); reason != "" {
		return r.end(item.ID, journal.StateSetupFailed, reason, false, &journal.Failure{Step: "setup", Tail: reason})
	}
	if item.BaseTest == nil {
		if err := r.testItemOnBase(ctx, item); err != nil {
			return err
		}
		item = r.journal.Item(item.ID)
	}
	token, err := r.s.newToken()
	if err != nil {
		return err
	}
	attempt, info := tracker.AttemptID(token), r.s.config.Driver.Info()
	if err := r.inTurn(ctx, item.ID); err != nil {
		return err
	}
	err = r.admit(ctx, item.ID, gate, func() error {
		from, err := r.purse(ctx, item.ID, info.Name, item.Model)
		if err != nil {
			return err
		}
		return r.recordWith(r.startJob(item.ID, token, round, from),
			journal.AttemptStarted{Item: item.ID, Attempt: attempt, Round: round, Driver: info.Name, Tier: info.EffectiveTier(), Model: item.Model})
	})
	r.asking.done(item.ID)
	if errors.Is(err, cost.ErrCeiling) {
		return r.refuse(item.ID, gate, refusalOf(err))
	}
	if err != nil {
		return r.cannotTell(err)
	}
	r.setJobToken(item.ID, token)
	w := &work{run: r, target: r.targetOf(item.ID), item: item, text: r.item(item.ID), attempt: attempt, round: round, from: begin,
		dir: r.agentDir(item.ID, round, attempt)}
	return r.attemptEnded(w, w.do(ctx))
}

// agentDir is the folder in which an attempt's agent works.
func (r *run) agentDir(item string, round int, attempt string) string {
	return r.scratch(item, fmt.Sprintf("agent-%d-%s", round, attempt))
}

// round says which dispatch this is, from which commit it starts, and what the gates call it.
func (r *run) round(item *journal.ItemState) (round int, from git.SHA, gate string) {
	round, from, gate = 1, r.targetOf(item.ID).Base, "dispatch"
	for _, a := range item.Attempts {
		round = a.Round
		if a.Test != nil && !a.Test.Passed { // a repair starts from the commit that failed
			round, from, gate = a.Round+1, a.Ended.Commit, "repair"
		}
	}
	return round, from, gate
}

// work is one attempt.
type work struct {
	*run
	target  *target
	item    *journal.ItemState
	text    tracker.Item
	attempt string
	round   int
	from    git.SHA // commit that the tree starts from
	dir     string
	before  string     // ownedBelow of the tree as the agent was given it
	may     *allowance // how much the agent may use
	ran     *spent     // what it used; nil: none was started
	said    said       // what it left to be heard
}

// do prepares the tree, runs the driver, reads the tree and builds the commit. Everything that can go wrong is in what it
// returns; the event is complete but for the item's and the attempt's name.
func (w *work) do(ctx context.Context) journal.AttemptEnded {
	began := w.s.config.Clock()
	end := w.steps(ctx)
	end.Item, end.Attempt = w.item.ID, w.attempt
	end.DurationMs = max(0, w.s.config.Clock().Sub(began).Milliseconds()) // a clock can be set back
	if ctx.Err() != nil && end.Outcome != journal.OutcomeBuilt {
		end.Outcome, end.Reason = journal.OutcomeCancelled, context.Cause(ctx).Error()
	}
	return end
}

func (w *work) steps(ctx context.Context) journal.AttemptEnded {
	task, log, err := w.task(ctx)
	if secret, ok := errors.AsType[*knownSecretError](err); ok {
		w.discard(w.dir)
		return journal.AttemptEnded{Outcome: journal.OutcomeSecret, Reason: secret.Error(), Tail: strings.Join(secret.paths, "\n"),
			Usage: cost.Usage{Metered: true}} // nothing was used
	}
	if err != nil {
		return journal.AttemptEnded{Outcome: journal.OutcomeSetup, Reason: err.Error()}
	}
	defer log.Close()
	log.section("agent, round %d, attempt %s", w.round, w.attempt)
	result, err := w.runDriver(ctx, w.s.config.Driver, task, log)
	w.said = w.listen(task.AttemptDir)
	end := journal.AttemptEnded{Said: w.said.event, Usage: result.Usage(), Session: result.Session, Resumed: result.Resumed, Confinement: result.Confinement, Survivors: result.Survivors}
	if errors.Is(err, cost.ErrCeiling) {
		end.Outcome, end.Reason, end.Parked = journal.OutcomeCeiling, err.Error(), w.parkWork(ctx)
		return end
	}
	if err != nil {
		end.Outcome, end.Class, end.Reason = journal.OutcomeDriver, string(driver.ClassOf(err)), err.Error()
		end.Tail = string(result.Output)
		if e, ok := errors.AsType[*driver.Error](err); ok {
			end.Exit = e.ExitCode
		}
		end.Parked = w.parkWork(ctx)
		return end
	}
	return w.harvest(ctx, log, end)
}

// task checks the tree out and describes the work.
func (w *work) task(ctx context.Context) (driver.Task, *itemLog, error) {
	config, info := w.s.config, w.s.config.Driver.Info()
	attemptDir := w.folder("attempts", w.attempt)
	if err := os.MkdirAll(attemptDir, 0o700); err != nil {
		return driver.Task{}, nil, err
	}
	log, err := w.openLog(w.item.ID)
	if err != nil {
		return driver.Task{}, nil, err
	}
	prompt, failure, err := w.readyTree(ctx, log)
	if err != nil {
		log.Close()
		return driver.Task{}, nil, err
	}
	return driver.Task{Item: w.item.ID, Slug: w.text.Slug, Wave: w.id, AttemptID: w.attempt, Prompt: prompt, Role: driver.Worker, Model: w.item.Model,
		Session: w.session(info), Dir: w.dir, AttemptDir: attemptDir, Owns: w.text.OwnsFiles,
		Environment: w.s.agentEnvironment(info),
		Mark:        w.s.mark(w.id, w.attempt), Round: w.round, Failure: failure,
		Budget: driver.Budget{Timeout: config.AgentTimeout, Idle: config.IdleTimeout}}, log, nil
}

// agentEnvironment is what an agent's program gets of the user's environment: what every program needs, what the driver declares, and what
// the configuration passes on.
func (s *Scheduler) agentEnvironment(info driver.Info) []string {
	return testrun.Base(s.config.Lookup, slices.Concat([]string{"HOME", "TMPDIR", "TERM"}, info.Environment, s.config.PassEnv))
}

// probe says why the driver, or that of the reviewer, could not work at all.
func (s *Scheduler) probe() error {
	for _, seat := range []struct {
		who  any
		info driver.Info
	}{{s.config.Driver, s.config.Driver.Info()}, {s.config.Reviewer, driver.Info{}}} {
		prober, ok := seat.who.(driver.Prober)
		if !ok {
			continue
		}
		if err := prober.Probe(s.agentEnvironment(seat.info)); err != nil {
			return &SetupError{Code: "agent_missing", Message: err.Error(), Hint: "then run the command again: nothing is lost", Err: err}
		}
	}
	return nil
}

// canWork looks, before anything is claimed, whether the driver could work, and makes the needed repositories ready.
func (r *run) canWork(needed map[string]bool) error {
	if err := errors.Join(r.s.probe(), r.s.unmetered(r.s.config.Driver.Info())); err != nil {
		return err
	}
	return r.readyAll(r.targets, needed)
}

// session is what a repair continues, where the driver can.
func (w *work) session(info driver.Info) string {
	if last := w.item.Last(); info.Resumes && last != nil && last.Ended != nil {
		return last.Ended.Session
	}
	return ""
}

// maxDiff bounds the diff that a prompt or a reviewer is shown.
const maxDiff = 64 << 10

// failure is what the agent is told went wrong: its last commit's test, or the test on the base where that fails already; and what was
// found of its commit since.
func (w *work) failure(ctx context.Context, found string) (*driver.Failure, error) {
	test, step, diff := w.item.BaseTest, "base", ""
	if w.from != w.target.Base {
		last := w.item.Last()
		for i := range w.item.Attempts {
			if a := &w.item.Attempts[i]; a.Test != nil {
				last = a
			}
		}
		test, step = last.Test, "verify"
		var err error
		if diff, err = w.target.engine.Diff(ctx, w.target.Base, w.from, maxDiff); err != nil {
			return nil, err
		}
	}
	if test == nil || test.Passed {
		return nil, nil
	}
	return &driver.Failure{Step: step, Command: w.text.TestCmd.String(), ExitCode: test.Exit, TimedOut: test.TimedOut,
		Stdout: test.Stdout, Stderr: test.Stderr, Diff: diff, Reason: joinLines(test.Reason, found)}, nil
}

// runDriver runs a driver, logs what it tells, and turns a panic into a failure of this attempt.
func (w *work) runDriver(ctx context.Context, d driver.Driver, task driver.Task, log *itemLog) (result driver.Result, err error) {
	told := false
	defer func() {
		if !told { // a driver that told nothing on the way
			log.write(result.Output)
		}
		if result.Summary != "" {
			log.section("its last words: %s", strings.TrimSpace(result.Summary))
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			err = &driver.Error{Class: driver.Crashed, Message: fmt.Sprintf("the driver panicked: %v", p)}
		}
	}()
	if ctx, w.may, err = w.allow(ctx, w.item.ID, cmp.Or(task.Model, d.Info().Model(task.Role))); err != nil {
		return result, err
	}
	defer w.may.end(nil)
	defer func() {
		if cut := cutOff(ctx); cut != nil && err != nil {
			err = cut
		}
		result = believed(result)
		w.used(task, d.Info(), result)
	}()
	watchers := w.watchers()
	if task.Role != driver.Worker { // its attempts are not the item's
		watchers.tell = func(driver.Event) {}
	}
	defer watchers.flush()
	return d.Run(ctx, task, func(e driver.Event) {
		watchers.hear(e)
		if e.Kind == "usage" {
			w.may.hear(e.Usage)
		}
		if e.Text != "" {
			told = told || e.Kind == "text"
			log.write([]byte(e.Text))
		}
	})
}

// harvest reads what the agent left. The commit has exactly the bytes that were checked.
func (w *work) harvest(ctx context.Context, log *itemLog, end journal.AttemptEnded) journal.AttemptEnded {
	engine, base := w.target.engine, w.target.Base
	entries, err := engine.List(ctx, base)
	if err != nil {
		return w.unread(end, err)
	}
	owns, err := tracker.ParseOwnership(w.text.OwnsFiles)
	if err != nil {
		return w.unread(end, err)
	}
	found, err := w.fence(ctx, entries, owns)
	if left := leftOut(found.Ignored); left != "" {
		log.section("%s", strings.TrimPrefix(left, "; "))
	}
	switch {
	case errors.Is(err, tree.ErrReplaced), err != nil && ctx.Err() == nil && !exists(filepath.Join(w.dir, ".git")):
		end.Outcome, end.Class, end.Reason = journal.OutcomeDriver, string(driver.Crashed), fmt.Sprintf("the agent removed its folder: %v", err)
		_ = os.Remove(w.dir) // a link in its place; a folder stays
		return end
	case err != nil:
		return w.unread(end, err)
	case len(found.Violations) > 0:
		end.Outcome, end.Reason, end.Parked = journal.OutcomeFence, fenceReason(found.Violations), w.park()
		return end
	case len(found.Changes) == 0:
		end.Outcome, end.Reason = journal.OutcomeNoChanges, "the agent changed nothing"+leftOut(found.Ignored)
		end.Parked = w.parkIgnored(found)
		return end
	}
	if end.Commit, err = w.commit(ctx, found.Changes); err != nil {
		return w.unread(end, err)
	}
	fail("commit")
	if end.Tree, err = engine.TreeOf(ctx, end.Commit); err != nil {
		return w.unread(end, err)
	}
	end.Outcome = journal.OutcomeBuilt
	w.discard(w.dir)
	return end
}

// unread ends an attempt whose tree could not be turned into a commit.
func (w *work) unread(end journal.AttemptEnded, err error) journal.AttemptEnded {
	end.Outcome, end.Reason, end.Parked = journal.OutcomeSetup, err.Error(), w.park()
	return end
}

// park keeps the agent's tree; what comes back is its place below the state directory.
func (w *work) park() string { return w.below(w.dir) }

// parkWork keeps the agent's tree if there is anything in it that was not there before, or if that cannot be told.
func (w *work) parkWork(ctx context.Context) string {
	found, err := readFolder(ctx, w.target.engine, w.from, w.target.Base, w.dir, w.text.OwnsFiles)
	if err != nil || len(found.Changes)+len(found.Violations) > 0 {
		return w.park()
	}
	return w.parkIgnored(found)
}

// parkIgnored keeps the agent's tree if it did anything in what the item owns and the base ignores, which is no part of a commit.
func (w *work) parkIgnored(found tree.Found) string {
	owns, err := tracker.ParseOwnership(w.text.OwnsFiles)
	if err != nil {
		return w.park()
	}
	if now, err := ownedBelow(w.dir, found.Ignored, owns); err != nil || now != w.before {
		return w.park()
	}
	w.discard(w.dir)
	return ""
}

// ownedBelow stands for the files at or below ignored paths that are owned, as they are now; "" where there are none.
func ownedBelow(dir string, ignored []string, owns tracker.Ownership) (string, error) {
	h, owned := sha256.New(), 0
	for _, name := range ignored {
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			below, err := filepath.Rel(dir, path)
			if err != nil || !owns.Contains(filepath.ToSlash(below)) {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			owned++
			fmt.Fprintf(h, "%q %v %d %d\n", below, info.Mode(), info.Size(), info.ModTime().UnixNano())
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	if owned == 0 {
		return "", nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// maxNamed is how many paths a reason names.
const maxNamed = 20

// leftOut names what the ignore files of the base keep out of a commit.
func leftOut(ignored []string) string {
	if len(ignored) == 0 {
		return ""
	}
	return "; left out, by the ignore files of the base: " + strings.Join(ignored[:min(len(ignored), maxNamed)], ", ")
}

func fenceReason(violations []tree.Violation) string {
	names := make([]string, 0, maxNamed)
	for _, v := range violations {
		if len(names) == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(violations)-maxNamed))
			break
		}
		names = append(names, v.String())
	}
	return strings.Join(names, ", ")
}

// discard removes a tree that is not needed any more; one that resists is left for prune.
func (r *run) discard(dir string) { _ = os.RemoveAll(dir) }
