package stateapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/job"
)

// Do makes a request to a job, as job.Apply does; that it was not applied is in the Decision. With a key every decision
// is the answer, also a refusal: whoever wants the job judged anew takes another key. Of two requests that differ only in
// their Purse the later one counts as the first once more.
func (w *WriteAPI) Do(ctx context.Context, how How, request job.Request) (job.Decision, error) {
	p, err := w.prepare(request)
	if err != nil {
		return job.Decision{}, fmt.Errorf("request to a job: %w", err)
	}
	a, err := once(ctx, w, fmt.Sprintf("%T", request), how.Key, p.told, func(tx statestore.Tx) (decided, error) {
		if how.Version != nil {
			if err := expect(tx, p.job, *how.Version); err != nil {
				return decided{}, err
			}
		}
		d, err := job.Apply(tx, p.request)
		return decided{d.Outcome, d.Reason, d.Text, d.Record, d.Released, d.Ceiling}, err
	})
	if err != nil {
		return job.Decision{}, err
	}
	if a.Reason == job.NoRoom && a.ceiling == nil {
		a.ceiling = fmt.Errorf("%s: %w", a.Text, cost.ErrCeiling)
	}
	return job.Decision{Outcome: a.Outcome, Reason: a.Reason, Text: a.Text, Record: a.Record, Ceiling: a.ceiling, Released: a.Released}, nil
}

// decided is a decision as an answer is kept.
type decided struct {
	Outcome  job.Outcome `json:"outcome"`
	Reason   job.Reason  `json:"reason,omitempty"`
	Text     string      `json:"text,omitempty"`
	Record   job.Record  `json:"record"`
	Released *job.Record `json:"released,omitempty"`
	ceiling  error
}

// expect compares the transition of a job, 0 where there is none.
func expect(tx statestore.Tx, id string, want statestore.Version) error {
	record, err := job.Get(tx, id)
	if err != nil && !errors.Is(err, statestore.ErrNotFound) {
		return err
	}
	if got := statestore.Version(record.TransitionSeq); got != want {
		return &statestore.ConflictError{What: job.Stream(id), Want: uint64(want), Got: uint64(got)}
	}
	return nil
}

// prepared is a request that is about to be made.
type prepared struct {
	request job.Request // with the text that may be stored
	job     string      // its id
	told    job.Request // what of it makes it another than others: all but the purse, which is a program
}

func (w *WriteAPI) prepare(request job.Request) (p prepared, err error) {
	clean := w.c.Redact
	switch r := request.(type) {
	case job.Create:
		r.Fields, err = w.cleanFields(r.Fields)
		p = prepared{r, r.ID, r}
	case job.Claim:
		plain := r
		plain.Reserve = nil
		p = prepared{r, r.ID, plain}
	case job.Reserve:
		plain := r
		plain.Reserve = nil
		p = prepared{r, r.ID, plain}
	case job.Progress:
		r.Fields, err = w.cleanFields(r.Fields)
		p = prepared{r, r.ID, r}
	case job.Complete:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	case job.Fail:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	case job.Cancel:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	case job.Infer:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	case job.Timeout:
		p = prepared{r, r.ID, r}
	case job.Requeue:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	case job.Redispatch:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	case job.Finalize:
		r.Reason = clean(r.Reason)
		p = prepared{r, r.ID, r}
	default: // settling is the notifier's, in the transaction in which it takes news off what is owed
		err = fmt.Errorf("%T: %w: it cannot be made here", request, ErrInvalid)
	}
	return p, err
}

// cleanFields is a JSON value with the text that may be stored, in names and values.
func (w *WriteAPI) cleanFields(fields json.RawMessage) (json.RawMessage, error) {
	if fields == nil {
		return nil, nil
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(fields))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	if err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fields: %w: %w", ErrInvalid, err)
	}
	if value, err = cleanValue(value, w.c.Redact); err != nil {
		return nil, fmt.Errorf("fields: %w", err)
	}
	return json.Marshal(value)
}

func cleanValue(value any, clean func(string) string) (any, error) {
	var err error
	switch v := value.(type) {
	case string:
		return clean(v), nil
	case []any:
		for i := range v {
			if v[i], err = cleanValue(v[i], clean); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		cleaned := make(map[string]any, len(v))
		for name, member := range v {
			name = clean(name)
			if _, twice := cleaned[name]; twice { // one of them would be lost, and which one is chance
				return nil, fmt.Errorf("name %.80q: %w: two names are the same without their secrets", name, ErrInvalid)
			}
			if cleaned[name], err = cleanValue(member, clean); err != nil {
				return nil, err
			}
		}
		return cleaned, nil
	}
	return value, nil
}
