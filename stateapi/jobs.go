package stateapi

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
)

// Job is a job, or an error that is statestore.ErrNotFound.
func (a *ReadAPI) Job(ctx context.Context, id string) (record job.Record, err error) {
	err = a.view(ctx, "job", func(r statestore.Reader) (err error) {
		record, err = job.Get(r, id)
		return err
	})
	return record, err
}

// JobQuery selects jobs.
type JobQuery struct {
	Wave   string     // "": of all waves
	Status job.Status // "": any
}

// Jobs are a page of jobs, by their ids. A status that there is not is ErrInvalid.
func (a *ReadAPI) Jobs(ctx context.Context, q JobQuery, p Page) (Of[job.Record], error) {
	if q.Status != "" && !q.Status.Live() && !q.Status.Ended() {
		return Of[job.Record]{}, fmt.Errorf("jobs: %w: there is no status %q", ErrInvalid, q.Status)
	}
	return pageOf(ctx, a, "jobs", filterOf(q), p, func(r statestore.Reader, after string, page *page[job.Record]) error {
		for record, err := range jobs(r, q.Wave, after) {
			if err != nil {
				return err
			}
			entry := &record
			if q.Status != "" && record.Status != q.Status {
				entry = nil
			}
			if !page.add(record.ID, entry) {
				return nil
			}
		}
		return nil
	})
}

// jobs are all of a wave, or of all waves.
func jobs(r statestore.Reader, wave, after string) iter.Seq2[job.Record, error] {
	if wave == "" {
		return job.All(r, after)
	}
	return job.List(r, wave, after)
}

// Beat is a heartbeat and how old it is.
type Beat struct {
	lifecycle.Heartbeat
	Freshness
}

// Agent is what is known of the agent of a job.
type Agent struct {
	lifecycle.Agent
	Beat    *Beat             `json:"heartbeat,omitempty"` // of the running attempt; nil: there is none
	Verdict lifecycle.Verdict `json:"verdict"`             // unknown where something is damaged, which it names
	Advice  *lifecycle.Advice `json:"advice,omitempty"`    // that is open; nil: none is
}

// Heartbeat is the newest one of a job, of its running attempt or an earlier one, or an error that is
// statestore.ErrNotFound.
func (a *ReadAPI) Heartbeat(ctx context.Context, job string) (b Beat, err error) {
	err = a.view(ctx, "heartbeat", func(r statestore.Reader) (err error) {
		b.Heartbeat, err = lifecycle.BeatOf(r, job)
		b.Freshness = freshness(b.At, r.Now(), a.c.BeatFresh)
		return err
	})
	if err != nil {
		return Beat{}, err
	}
	return b, nil
}

// Agent is the agent of a job with its history, or an error that is statestore.ErrNotFound. What is damaged of its
// history is an error.
func (a *ReadAPI) Agent(ctx context.Context, id string) (agent Agent, err error) {
	err = a.view(ctx, "agent", func(r statestore.Reader) error {
		record, err := job.Get(r, id)
		if err != nil {
			return err
		}
		if agent, err = a.agent(r, record); err != nil {
			return err
		}
		agent.Agent, err = lifecycle.Of(r, id)
		return err
	})
	if err != nil {
		return Agent{}, err
	}
	return agent, nil
}

// agent is an agent without its history.
func (a *ReadAPI) agent(r statestore.Reader, record job.Record) (Agent, error) {
	sight, err := lifecycle.Look(r, record, a.c.Thresholds)
	if err != nil {
		return Agent{}, err
	}
	agent := Agent{Agent: sight.Agent, Verdict: sight.Verdict}
	if sight.Beat != nil {
		agent.Beat = &Beat{*sight.Beat, freshness(sight.Beat.At, r.Now(), a.c.BeatFresh)}
	}
	if record.Status != job.Running {
		return agent, nil // advice that a sweep has still to close says nothing of it
	}
	advice, err := lifecycle.AdviceOf(r, record.ID)
	damaged := (*statestore.DamagedError)(nil)
	switch {
	case errors.Is(err, statestore.ErrNotFound):
	case errors.As(err, &damaged):
		agent.Verdict = lifecycle.Unread(record, damaged)
	case err != nil:
		return Agent{}, err
	case advice.Attempt == record.Attempt:
		agent.Advice = &advice
	}
	return agent, nil
}

// AgentQuery selects agents.
type AgentQuery struct {
	Wave string // "": of all waves
	Live bool   // only those whose job is pending or running; without a Wave they come in the order of their items
}

// Agents are a page of agents without their history, by their jobs. One of whom an event, the heartbeat or the advice is
// damaged is in it, judged unknown. A job whose record cannot be read is an error.
func (a *ReadAPI) Agents(ctx context.Context, q AgentQuery, p Page) (Of[Agent], error) {
	return pageOf(ctx, a, "agents", filterOf(q), p, func(r statestore.Reader, after string, page *page[Agent]) error {
		if q.Live && q.Wave == "" {
			return a.liveAgents(r, after, page)
		}
		for record, err := range jobs(r, q.Wave, after) {
			if err != nil {
				return err
			}
			if more, err := a.addAgent(r, record.ID, record, q.Live && !record.Status.Live(), page); err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// addAgent adds the agent of a job to a page, where it has still room.
func (a *ReadAPI) addAgent(r statestore.Reader, name string, record job.Record, leaveOut bool, p *page[Agent]) (bool, error) {
	if leaveOut || p.full() {
		return p.add(name, nil), nil
	}
	agent, err := a.agent(r, record)
	if err != nil {
		return false, err
	}
	return p.add(name, &agent), nil
}

func (a *ReadAPI) liveAgents(r statestore.Reader, after string, p *page[Agent]) error {
	for item, err := range job.Items(r, after) {
		if err != nil {
			return err
		}
		var record job.Record
		if item.Live != "" && !p.full() {
			if record, err = job.Get(r, item.Live); err != nil {
				return err
			}
		}
		if more, err := a.addAgent(r, item.ID, record, item.Live == "", p); err != nil || !more {
			return err
		}
	}
	return nil
}
