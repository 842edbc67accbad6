package aesop_test

import (
	"errors"
	"strings"
	"testing"

	"aesop"
	"aesop/cost"
	"aesop/stateapi"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
	"aesop/wave"
)

// TestOneSeamReadsAllOfAPlace after a real wave, and while it is halted.
func TestOneSeamReadsAllOfAPlace(t *testing.T) {
	repo, _ := repository(t)
	report, engine := runOne(t, aesop.Config{Repo: repo, Agent: &greeter{}})
	place, err := aesop.Locate(t.Context(), repo, aesop.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := place.ReadAPI(engine.Store)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	waves, err := read.Waves(ctx, stateapi.Page{})
	if err != nil || len(waves.Entries) != 1 || waves.Entries[0].ID != report.Wave || waves.Entries[0].Outcome != "good" || waves.Entries[0].Items["shipped"] != 1 {
		t.Errorf("the waves are %+v (%v)", waves, err)
	}
	jobs, err := read.Jobs(ctx, stateapi.JobQuery{Wave: report.Wave, Status: job.Completed}, stateapi.Page{})
	if err != nil || len(jobs.Entries) != 1 || jobs.Entries[0].ID != wave.JobID(report.Wave, "greet") {
		t.Errorf("the jobs are %+v (%v)", jobs, err)
	}
	agent, err := read.Agent(ctx, jobs.Entries[0].ID)
	if err != nil || agent.State != lifecycle.Done || agent.Verdict.Level != lifecycle.Ended || len(agent.History) < 3 {
		t.Errorf("the agent is %+v (%v)", agent, err)
	}
	backlog, err := read.Backlog(ctx)
	if err != nil || len(backlog.Items) != 1 || backlog.Items[0].Status != tracker.Done {
		t.Errorf("the backlog is %+v (%v)", backlog, err)
	}
	spent, err := read.Spent(ctx, cost.Question{Query: cost.Query{Wave: report.Wave}, Period: cost.WavePeriod}, cost.ByItem)
	if err != nil || spent.Total.Calls != 1 || len(spent.Groups) != 1 {
		t.Errorf("spent is %+v (%v)", spent, err)
	}
	events, err := read.Events(ctx, stateapi.EventQuery{Types: []string{"job."}}, stateapi.Page{})
	if err != nil || len(events.Entries) < 3 || events.Entries[0].Type != "job.create" {
		t.Errorf("the events are %+v (%v)", events, err)
	}
	if halted, err := read.Halted(ctx); halted != nil || err != nil {
		t.Errorf("halted is %+v (%v)", halted, err)
	}
	if err := place.Halt().Set(wave.HaltNote{Reason: "lunch"}); err != nil {
		t.Fatal(err)
	}
	if halted, err := read.Halted(ctx); err != nil || halted == nil || halted.Reason != "lunch" {
		t.Errorf("halted is %+v (%v)", halted, err)
	}
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	writer, err := place.WriteAPI(engine.Store)
	if err != nil {
		t.Fatal(err)
	}
	phase := "waiting with " + secret
	if _, err := writer.SetStatus(ctx, stateapi.How{Key: "k"}, stateapi.StatusChange{Phase: &phase}); err != nil {
		t.Fatal(err)
	}
	if status, err := read.Status(ctx, ""); err != nil || !strings.HasPrefix(status.Phase, "waiting with ") || strings.Contains(status.Phase, secret) {
		t.Errorf("the status is %+v (%v)", status, err)
	}
	write(t, place.Backlog, "{")
	var damaged *tracker.FileError
	if _, err := read.Backlog(ctx); !errors.As(err, &damaged) || !strings.Contains(err.Error(), place.Backlog) {
		t.Errorf("a damaged backlog gives %v", err)
	}
}
