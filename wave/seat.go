package wave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/git"
	"aesop/tracker"
	"aesop/wave/journal"
)

// TouchedError says that a driver changed the checkout that it was to look at, which makes void what it says.
type TouchedError struct{ Paths []string }

func (e *TouchedError) Error() string {
	named := e.Paths[:min(len(e.Paths), maxNamed)]
	return fmt.Sprintf("it changed the checkout that it was to read: %s", strings.Join(named, ", "))
}

// dispatchOn is Change.Dispatch for a commit of an item.
func (r *run) dispatchOn(id string, commit git.SHA) func(context.Context, driver.Driver, driver.Task) (driver.Result, error) {
	return func(ctx context.Context, d driver.Driver, task driver.Task) (driver.Result, error) {
		token, err := tracker.NewToken(r.s.config.Rand)
		if err != nil {
			return driver.Result{}, err
		}
		attempt := tracker.AttemptID(token)
		w := &work{run: r, target: r.targetOf(id), item: r.journal.Item(id), text: r.item(id), attempt: attempt, from: commit, dir: r.scratch(id, "seat-"+attempt)}
		defer r.turn(id)()
		defer w.discard(w.dir)
		result, err := w.look(ctx, d, task)
		paid, settleErr := r.settleSeat(w, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seats[id] = r.seats[id].with(result, paid)
		return result, errors.Join(err, settleErr)
	}
}

// turn waits until no other agent of a seat looks at the item, where something is limited: the item's job has one reservation. end lets
// the next one look.
func (r *run) turn(item string) (end func()) {
	if !r.s.config.Budget.Limited() {
		return func() {}
	}
	r.mu.Lock()
	if r.turns[item] == nil {
		r.turns[item] = new(sync.Mutex)
	}
	turn := r.turns[item]
	r.mu.Unlock()
	turn.Lock()
	return turn.Unlock
}

// held is what held agents of a seat, what outlived them, and what they cost.
type held struct {
	confinement string
	survivors   []string
	charge      *journal.Charge // nil: none was started
}

func (h held) with(result driver.Result, paid *journal.Charge) held {
	return held{weaker(h.confinement, result.Confinement), append(h.survivors, result.Survivors...), h.charge.Add(paid)}
}

// settleSeat writes down at once what an agent of a seat used: its judgement may come much later, or never.
func (r *run) settleSeat(w *work, failed error) (*journal.Charge, error) {
	if w.ran == nil {
		return nil, nil
	}
	w.ran.about.Verdict = cost.OK
	if failed != nil {
		w.ran.about.Verdict = cost.Failed
	}
	defer r.spentSome()
	return charge(r.s.rows(*w.ran, r.s.config.Clock()), w.ran.left), r.recordWith(r.settleSpent(w.item.ID, w.ran))
}

// weaker is the weaker of two confinements; "" is none that is known of.
func weaker(a, b string) string {
	if b == "" || a != "" && b != "none" {
		return a
	}
	return b
}

// look runs a driver on a fresh checkout of the commit w.from, which must then be what it was.
func (w *work) look(ctx context.Context, d driver.Driver, task driver.Task) (driver.Result, error) {
	engine, config, info := w.target.engine, w.s.config, d.Info()
	if err := engine.Checkout(ctx, w.from, w.dir); err != nil {
		return driver.Result{}, err
	}
	task.AttemptDir = w.folder("attempts", w.attempt)
	if err := os.MkdirAll(task.AttemptDir, 0o700); err != nil {
		return driver.Result{}, err
	}
	log, err := w.openLog(w.item.ID)
	if err != nil {
		return driver.Result{}, err
	}
	defer log.Close()
	task.Item, task.Slug, task.Wave, task.AttemptID, task.Dir, task.ReadOnly = w.item.ID, w.text.Slug, w.id, w.attempt, w.dir, true
	task.Environment = w.s.agentEnvironment(info)
	task.Mark, task.Round = w.s.mark(w.id, w.attempt), max(task.Round, 1)
	task.Budget = driver.Budget{Timeout: config.AgentTimeout, Idle: config.IdleTimeout}
	if err := w.reserveForSeat(ctx, w.item.ID, task, info); err != nil {
		return driver.Result{}, err
	}
	log.section("%s (%s) looks at %s, attempt %s", task.Role, info.Name, git.Short(w.from), w.attempt)
	result, err := w.runDriver(ctx, d, task, log)
	if errors.Is(err, cost.ErrCeiling) {
		return result, w.noRoom(err)
	}
	if err != nil {
		return result, err
	}
	entries, err := engine.List(ctx, w.from)
	if err != nil {
		return result, err
	}
	found, err := w.fence(ctx, entries, tracker.Ownership{})
	if err != nil {
		return result, fmt.Errorf("look whether the checkout is what it was: %w", err)
	}
	if len(found.Violations) > 0 { // it owns nothing, so each change is one
		touched := &TouchedError{}
		for _, v := range found.Violations {
			touched.Paths = append(touched.Paths, v.Path)
		}
		return result, touched
	}
	return result, nil
}
