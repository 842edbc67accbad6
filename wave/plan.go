package wave

import (
	"context"
	"time"

	"aesop/tracker"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// Plan says what Run would do, and what the agents would be told. Gates are asked: a no comes back as the outcome.
// Nothing is changed but the engine's own repositories. What an item is stands there as people wrote it, secrets too, since it is compared
// with the backlog when the manifest is carried out.
func (s *Scheduler) Plan(ctx context.Context) (Manifest, error) {
	m, err := s.plan(ctx)
	m.Reason = s.redact(m.Reason)
	for n := range m.Skipped {
		m.Skipped[n].Detail = s.redact(m.Skipped[n].Detail)
	}
	for _, r := range m.Repositories {
		if r.Error != nil {
			r.Error.Message = s.redact(r.Error.Message)
		}
	}
	return m, s.clean(err)
}

func (s *Scheduler) plan(ctx context.Context) (Manifest, error) {
	plan := Manifest{SchemaVersion: SchemaVersion, Driver: s.config.Driver.Info().Name, Policy: ManifestPolicy(s.policy()),
		Repositories: []PlannedRepository{}, Items: []PlannedItem{}, Skipped: []SkippedItem{}}
	for _, gate := range s.gates(s.newWaveGates()...) {
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
	if err := s.unmetered(s.config.Driver.Info()); err != nil {
		return plan, err
	}
	chosen, err := s.choose(ctx, id, begin{})
	if err != nil {
		return plan, err
	}
	plan.addRepositories(chosen)
	plan.Skipped = append(plan.Skipped, skipped(chosen.Skipped)...)
	for _, item := range chosen.Items {
		planned, err := s.plannedItem(item)
		if err != nil {
			return plan, err
		}
		plan.Items = append(plan.Items, planned)
	}
	plan.Outcome = journal.Good
	if len(plan.Items) == 0 {
		plan.Outcome = nothing(chosen.Selection)
	}
	return plan, nil
}

// plannedItem is an item as a manifest has it.
func (s *Scheduler) plannedItem(item tracker.Item) (PlannedItem, error) {
	prompt, err := s.config.Prompts.Prompt(PromptInput{Item: item, Test: item.TestCmd.String(), Round: 1})
	return PlannedItem{ID: item.ID, Slug: item.Slug, Title: item.Title, Repo: item.Repository(), Priority: item.Priority,
		OwnsFiles: append([]string{}, item.OwnsFiles...), TestCmd: item.TestCmd.String(), Fingerprint: item.Fingerprint(), Model: orNull(s.model(item)), Prompt: &prompt}, err
}

func (m *Manifest) addRepositories(chosen choice) {
	for _, r := range chosen.targets.planned(chosen.places) {
		row := plannedRepository(r)
		if err := chosen.targets.failed[r.Name]; err != nil {
			row.Error = Explain(err)
		}
		m.Repositories = append(m.Repositories, row)
	}
}

// plannedRepository is a repository as a manifest has it.
func plannedRepository(r journal.Repository) PlannedRepository {
	return PlannedRepository{Repo: r.Name, Path: r.Path, Remote: r.Remote, BaseBranch: r.Branch, Base: r.Base, Dirty: append([]string{}, r.Dirty...)}
}

// choice is what a wave could begin with.
type choice struct {
	tracker.Selection
	places   []place
	targets  *targets
	manifest *Manifest // nil: there is none
}

// choose reads the backlog, opens its repositories and selects.
func (s *Scheduler) choose(ctx context.Context, id string, b begin) (choice, error) {
	backlog, err := s.config.Tracker.Backlog(ctx)
	if err != nil {
		return choice{}, err
	}
	if err := s.stale(b.manifest, backlog); err != nil {
		return choice{}, err
	}
	places, err := s.places(backlog)
	if err != nil {
		return choice{}, err
	}
	all, err := s.openAll(ctx, id, places, func(name string) origin { return origin{commit: b.from[name], over: b.over[name]} })
	if err != nil {
		return choice{}, err
	}
	if err := s.moved(ctx, b.manifest, all); err != nil {
		return choice{}, err
	}
	spent, err := s.spentItems(ctx, backlog)
	if err != nil {
		return choice{}, err
	}
	var asking error
	chosen := tracker.Intake(backlog, tracker.IntakeOptions{Now: s.config.Clock(), Max: s.config.MaxItems, MaxAttempts: s.config.MaxAttempts, Order: b.manifest.order(),
		Exclude:     func(id string) bool { return b.exclude[id] },
		Spent:       func(item tracker.Item) string { return spent[item.ID] },
		Unnameable:  s.unnameable,
		Unavailable: func(item tracker.Item) string { return all.unavailable(item.Repository()) },
		InBase: func(item tracker.Item) (bool, error) {
			in, err := all.inBase(ctx, item)
			if err != nil && all.open[item.Repository()] != nil {
				asking = err
			}
			return in, err
		}})
	return choice{chosen, places, all, b.manifest}, asking
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
func (s *Scheduler) planned(chosen choice, claims map[string]string) journal.Planned {
	info := s.config.Driver.Info()
	needs := s.policy()
	if chosen.manifest != nil {
		needs = chosen.manifest.Policy.policy()
	}
	plan := journal.Planned{Driver: info.Name, Tier: info.EffectiveTier(), Place: s.place, Repairs: needs.Repairs, SpotCheck: needs.SpotCheck, ReviewShare: needs.Review,
		Prompt: s.config.Prompts.Version(), RedBase: s.config.AllowRedBase, Review: s.config.Reviewer != nil, Approve: s.config.Approver != nil, Limited: s.config.Budget.Limited(),
		Repositories: chosen.targets.planned(chosen.places), Skipped: skipped(chosen.Skipped)}
	for _, item := range chosen.Items {
		plan.Items = append(plan.Items, journal.Item{ID: item.ID, Slug: item.Slug, Title: item.Title, Fingerprint: item.Fingerprint(),
			Repo: item.Repository(), Owns: item.OwnsFiles, TestText: item.TestCmd.String(), Model: chosen.model(s, item), Claim: claims[item.ID], Attempts: item.Attempts})
	}
	return plan
}

// model is what an item's worker runs with in the wave that is planned.
func (c choice) model(s *Scheduler, item tracker.Item) string {
	if c.manifest != nil {
		for _, planned := range c.manifest.Items {
			if planned.ID == item.ID && planned.Model != nil {
				return *planned.Model
			}
		}
	}
	return s.model(item)
}

// policy is the configured policy, or that of the driver's tier.
func (s *Scheduler) policy() policy.Policy {
	if s.config.Policy != nil {
		return *s.config.Policy
	}
	return policy.For(s.config.Driver.Info().EffectiveTier())
}

// newWaveID names a wave that starts now.
func (s *Scheduler) newWaveID() (string, error) {
	return NewID(s.config.Clock().Truncate(time.Second), s.config.Rand)
}
