// Package review makes a reviewer of any driver: an agent of its own, other than the one that did the work, that reads a verified
// commit and says whether it does what was asked.
//
//	reviewer, err := review.New(claude, review.Options{Model: "opus"})
//	config.Reviewer = reviewer
//
// It gets a throw-away checkout for reading only, the item's text and the real diff, and answers by a schema: approve or reject, with
// evidence. An answer that does not keep to the schema, or that comes from an agent that changed its checkout, is none; after a second
// dispatch without an answer the wave stops as at a gate that cannot be evaluated. It is never a writer: nothing of its checkout ships.
package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"aesop/cost"
	"aesop/driver"
	"aesop/wave"
)

// Options of a Reviewer.
type Options struct {
	Model string // "": the driver's model of reviewers
}

// Reviewer asks a driver. It implements wave.Reviewer and is safe for concurrent use.
type Reviewer struct {
	driver  driver.Driver
	options Options
	answers *jsonschema.Resolved
}

var (
	_ wave.Reviewer = (*Reviewer)(nil)
	_ driver.Prober = (*Reviewer)(nil)
)

// New makes a reviewer of a driver.
func New(d driver.Driver, options Options) (*Reviewer, error) {
	if d == nil {
		return nil, errors.New("review: a driver is needed")
	}
	answers, err := resolveSchema()
	if err != nil {
		return nil, fmt.Errorf("review: the schema of answers: %w", err)
	}
	return &Reviewer{driver: d, options: options, answers: answers}, nil
}

// dispatches is how often an agent is asked about one change.
const dispatches = 2

// Review asks the driver, and once more where there is no usable answer. The usage of all dispatches is in the Judgement, also beside
// an error.
func (r *Reviewer) Review(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	var used []cost.Usage
	judgement := func() wave.Judgement {
		usage := cost.Sum(used...)
		return wave.Judgement{Usage: &usage}
	}
	var last error
	for round := 1; round <= dispatches; round++ {
		prompt, err := promptFor(c, last)
		if err != nil {
			return judgement(), err
		}
		result, err := c.Dispatch(ctx, r.driver, driver.Task{Role: driver.Reviewer, Model: r.model(), Schema: json.RawMessage(schema), Prompt: prompt, Round: round})
		used = append(used, result.Usage())
		if ctx.Err() != nil {
			return judgement(), context.Cause(ctx)
		}
		if err == nil {
			var a answer
			if a, err = r.read(result); err == nil {
				j := judgement()
				j.OK, j.Reason = a.Verdict == approve, a.reason()
				return j, nil
			}
		}
		last = err
	}
	return judgement(), fmt.Errorf("%s gave no usable answer in %d dispatches: %w", r.driver.Info().Name, dispatches, last)
}

// Probe says why the driver could not work at all, where it can say so at once.
func (r *Reviewer) Probe(env []string) error {
	if prober, ok := r.driver.(driver.Prober); ok {
		return prober.Probe(env)
	}
	return nil
}

func (r *Reviewer) model() string {
	if r.options.Model != "" {
		return r.options.Model
	}
	return r.driver.Info().Model(driver.Reviewer)
}
