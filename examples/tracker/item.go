package main

import (
	"cmp"
	"fmt"
	"time"

	"aesop/examples/internal/cli"
	"aesop/tracker"
	"aesop/wave"
)

const schemaVersion = wave.SchemaVersion

// itemDocument is an item as --json prints it. What is absent is null, a list empty.
type itemDocument struct {
	ID                 string           `json:"id"`
	Slug               string           `json:"slug"`
	Title              *string          `json:"title"`
	Status             tracker.Status   `json:"status"`
	StatusReason       *string          `json:"statusReason"`
	Priority           string           `json:"priority"`
	CreatedAt          *time.Time       `json:"createdAt"`
	OwnsFiles          []string         `json:"ownsFiles"`
	Prompt             *string          `json:"prompt"`
	TestCmd            any              `json:"testCmd"` // string, array or null
	WorkDir            *string          `json:"workDir"`
	Repo               *string          `json:"repo"`
	DependsOn          []string         `json:"dependsOn"`
	AcceptanceCriteria []string         `json:"acceptanceCriteria"`
	Model              *string          `json:"model"`
	Notes              *string          `json:"notes"`
	Attempts           int              `json:"attempts"`
	Epoch              int              `json:"epoch"`
	Claim              *claimState      `json:"claim"`
	Shipped            *shippedDocument `json:"shipped"`
	Defect             *defectDocument  `json:"defect"`
}

// claimState is a claim as everybody may see it, without the token.
type claimState struct {
	Wave       *string   `json:"wave"`
	Owner      *string   `json:"owner"`
	Attempt    string    `json:"attempt"`
	LeaseUntil time.Time `json:"leaseUntil"`
}

type shippedDocument struct {
	Wave   *string `json:"wave"`
	Branch *string `json:"branch"`
	Commit string  `json:"commit"`
}

type defectDocument struct {
	Reason tracker.Reason `json:"reason"`
	Detail string         `json:"detail"`
}

type oneItem struct {
	SchemaVersion int          `json:"schemaVersion"`
	Item          itemDocument `json:"item"`
}

func newItem(i tracker.Item) itemDocument {
	d := itemDocument{
		ID: i.ID, Slug: i.Slug, Title: orNull(i.Title), Status: i.Status, StatusReason: orNull(i.StatusReason), Priority: i.Priority,
		OwnsFiles: list(i.OwnsFiles), Prompt: orNull(i.Prompt), WorkDir: orNull(i.WorkDir), Repo: orNull(i.Repo),
		DependsOn: list(i.DependsOn), AcceptanceCriteria: list(i.AcceptanceCriteria), Model: orNull(i.Model), Notes: orNull(i.Notes),
		Attempts: i.Attempts, Epoch: i.Epoch,
	}
	if !i.CreatedAt.IsZero() {
		d.CreatedAt = &i.CreatedAt
	}
	if i.TestCmd.Shell != "" {
		d.TestCmd = i.TestCmd.Shell
	} else if i.TestCmd.Argv != nil {
		d.TestCmd = i.TestCmd.Argv
	}
	if c := i.Claim; c != nil {
		d.Claim = &claimState{Wave: orNull(c.Wave), Owner: orNull(c.Owner), Attempt: c.Attempt, LeaseUntil: c.LeaseUntil}
	}
	if s := i.Shipped; s != nil {
		d.Shipped = &shippedDocument{Wave: orNull(s.Wave), Branch: orNull(s.Branch), Commit: s.Commit}
	}
	if defect := i.Defect(); defect != nil {
		d.Defect = &defectDocument{Reason: defect.Reason, Detail: defect.Detail}
	}
	return d
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// list is never null in JSON.
func list(texts []string) []string { return append([]string{}, texts...) }

// standing says in one line how an item stands.
func standing(i tracker.Item) string {
	text := fmt.Sprintf("%s: %s", cli.OneLine(i.ID), cli.OneLine(string(i.Status)))
	if i.Claim != nil {
		text += ", claimed by " + holder(i.Claim)
	}
	if i.StatusReason != "" {
		text += ", " + cli.OneLine(i.StatusReason)
	}
	return text
}

// holder says whose a claim is, and how long.
func holder(c *tracker.ClaimState) string {
	until := " until"
	if !c.Live(time.Now()) {
		until = ", lapsed since"
	}
	return fmt.Sprintf("%s%s %s", cmp.Or(cli.OneLine(c.Owner), "somebody"), until, c.LeaseUntil.Format(time.RFC3339))
}
