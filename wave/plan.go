package wave

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"aesop/tracker"
	"aesop/wave/journal"
)

// Plan is what a wave would do now. Making it changes nothing but the engine's own repository.
type Plan struct {
	SchemaVersion int               `json:"schemaVersion"`
	Outcome       journal.Outcome   `json:"outcome"` // good where there is something to do
	Reason        string            `json:"reason"`  // of a stop
	Repo          string            `json:"repo"`
	Remote        string            `json:"remote"`
	BaseBranch    string            `json:"baseBranch"`
	Base          string            `json:"base"`
	Driver        string            `json:"driver"`
	Items         []PlannedItem     `json:"items"`
	Skipped       []journal.Skipped `json:"skipped"`
	Dirty         []string          `json:"dirty"` // changed paths of the user's work tree, which a wave does not see
}

// PlannedItem is an item that a wave would take.
type PlannedItem struct {
	ID        string   `json:"id"`
	Slug      string   `json:"slug"`
	Title     string   `json:"title"`
	Priority  string   `json:"priority"`
	Model     *string  `json:"model"`
	OwnsFiles []string `json:"ownsFiles"`
	TestCmd   string   `json:"testCmd"`
}

// Plan says what Run would do. Gates are asked: a no comes back as the plan's outcome.
func (s *Scheduler) Plan(ctx context.Context) (Plan, error) {
	plan := Plan{SchemaVersion: SchemaVersion, Repo: s.user.Root, Driver: s.config.Driver.Info().Name,
		Items: []PlannedItem{}, Skipped: []journal.Skipped{}, Dirty: []string{}}
	for _, gate := range append([]Gate{s.halt}, s.config.Gates...) {
		if err := gate.Check(ctx, Point{Step: "claim"}); err != nil {
			stopped := stoppedBy(gateAnswer(gate, err))
			plan.Outcome, plan.Reason = stopped.Outcome, stopped.Reason
			return plan, nil
		}
	}
	id, err := s.newWaveID()
	if err != nil {
		return plan, err
	}
	t, err := s.open(ctx, id, origin{})
	if err != nil {
		return plan, err
	}
	chosen, err := s.choose(ctx, t, nil)
	if err != nil {
		return plan, err
	}
	plan.Remote, plan.BaseBranch, plan.Base = t.remote.Name, t.branch, t.base
	plan.Dirty = append(plan.Dirty, t.dirty...)
	plan.Skipped = append(plan.Skipped, skipped(chosen.Skipped)...)
	for _, item := range chosen.Items {
		planned := PlannedItem{ID: item.ID, Slug: item.Slug, Title: item.Title, Priority: item.Priority, OwnsFiles: item.OwnsFiles,
			TestCmd: item.TestCmd.String()}
		if model := s.model(item); model != "" {
			planned.Model = &model
		}
		plan.Items = append(plan.Items, planned)
	}
	plan.Outcome = journal.Good
	if len(plan.Items) == 0 {
		plan.Outcome = nothing(chosen)
	}
	return plan, nil
}

// choose reads the backlog and selects, leaving out the items of exclude.
func (s *Scheduler) choose(ctx context.Context, t *target, exclude map[string]bool) (tracker.Selection, error) {
	backlog, err := s.config.Tracker.Backlog(ctx)
	if err != nil {
		return tracker.Selection{}, err
	}
	if err := s.oneRepository(backlog); err != nil {
		return tracker.Selection{}, err
	}
	var asking error
	chosen := tracker.Intake(backlog, tracker.IntakeOptions{Now: s.config.Clock(), Max: s.config.MaxItems, MaxAttempts: s.config.MaxAttempts,
		Exclude: func(id string) bool { return exclude[id] },
		InBase: func(commit string) (bool, error) {
			in, err := t.engine.Contains(ctx, t.base, commit)
			if err != nil {
				asking = err
			}
			return in, err
		}})
	return chosen, asking
}

// oneRepository refuses a backlog for another repository than this one.
func (s *Scheduler) oneRepository(backlog tracker.Backlog) error {
	for _, item := range backlog.Items {
		if item.Repo == "" {
			continue
		}
		path, err := filepath.EvalSymlinks(filepath.Join(filepath.Dir(backlog.Source), filepath.FromSlash(item.Repo)))
		if err != nil {
			return &SetupError{Code: "several_repositories", Message: fmt.Sprintf("item %s: repo %q: %v", item.ID, item.Repo, err), Err: err}
		}
		if path != s.user.Root {
			return &SetupError{Code: "several_repositories", Message: fmt.Sprintf("item %s is for %s, this wave is for %s", item.ID, path, s.user.Root),
				Hint: "keep one backlog for each repository"}
		}
	}
	return nil
}

// nothing says why a selection is empty.
func nothing(chosen tracker.Selection) journal.Outcome {
	if chosen.Open == 0 && len(chosen.Skipped) == 0 {
		return journal.NothingToDo
	}
	return journal.NothingSelectable
}

func skipped(skips []tracker.Skip) []journal.Skipped {
	rows := make([]journal.Skipped, len(skips))
	for i, s := range skips {
		rows[i] = journal.Skipped{ID: s.ID, Slug: s.Slug, Reason: string(s.Reason), Detail: s.Detail}
	}
	return rows
}

// model is what an item's worker runs with; "" is the program's own default.
func (s *Scheduler) model(item tracker.Item) string {
	switch {
	case item.Model != "":
		return item.Model
	case s.config.Model != "":
		return s.config.Model
	}
	return s.config.Driver.Info().Model(workerRole)
}

// planned is the event that begins a wave.
func (s *Scheduler) planned(ctx context.Context, t *target, items []tracker.Item, claims map[string]string) (journal.Planned, error) {
	info := s.config.Driver.Info()
	who, err := s.user.Identity(ctx)
	if err != nil {
		return journal.Planned{}, err
	}
	plan := journal.Planned{Driver: info.Name, Tier: info.EffectiveTier(), Repairs: repairRounds(info.EffectiveTier()), Repo: s.user.Root,
		Origin: t.remote.Name, Verify: journal.Command{Argv: s.config.Verify.Words(), Text: s.config.Verify.String()}, Remote: t.shipper.Name(), Branch: t.branch, Base: t.base, Prompt: s.config.Prompts.Version(), Who: who.Name, Email: who.Email,
		Dirty: t.dirty, RedBase: s.config.AllowRedBase, Review: s.config.Reviewer != nil, Approve: s.config.Approver != nil}
	for _, item := range items {
		plan.Items = append(plan.Items, journal.Item{ID: item.ID, Slug: item.Slug, Title: item.Title, Fingerprint: item.Fingerprint(),
			TestText: item.TestCmd.String(), Model: s.model(item), Claim: claims[item.ID],
			Attempts: item.Attempts})
	}
	return plan, nil
}

// repairRounds is how often a failed commit goes back to a driver of a tier.
func repairRounds(tier int) int {
	return [...]int{1, 2, 2, 3}[tier-1]
}

// newWaveID names a wave that starts now.
func (s *Scheduler) newWaveID() (string, error) {
	return NewID(s.config.Clock().Truncate(time.Second), s.config.Rand)
}
