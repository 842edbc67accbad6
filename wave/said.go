package wave

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/job/drop"
	"aesop/statestore/job/manifest"
	"aesop/wave/journal"
)

// said is what an agent left in the folder of its attempt, as the store may have it. It is a hint: tests decide.
type said struct {
	fields json.RawMessage // for the job's progress; nil: none
	report *job.Report     // that it finalised; nil: none
	event  *journal.Said   // nil: it said nothing
}

// saidField is the member of a job's progress that has the word of its agent about the end, and which attempt's it is.
const saidField = "said"

// maxFault bounds each complaint about what an agent left, which can quote it.
const maxFault = 1000

// listen reads what the agent published and finalised, also after a stop: both are soon read. What cannot be read is told, and no reason
// against what the agent did.
func (w *work) listen(dir string) said {
	ctx, cancel := w.bookkeeping()
	defer cancel()
	var s said
	var faults []string
	complain := func(err error) {
		faults = append(faults, clipped(strings.ReplaceAll(err.Error(), dir, w.below(dir)), maxFault))
	}
	if err := isFolder(dir); err != nil { // what is in its place is not the engine's
		complain(err)
		return said{event: &journal.Said{Fault: faults[0]}}
	}
	d, err := drop.Read(dir, w.attempt)
	switch {
	case err == nil:
		s.event = &journal.Said{Status: string(d.Status), Reason: d.Reason}
		if s.fields, err = w.published(ctx, d); err != nil {
			complain(err)
		}
	case !errors.Is(err, drop.ErrNone):
		complain(err)
	}
	v, err := manifest.Read(ctx, dir, manifest.Want{Job: w.jobID(w.item.ID), Attempt: w.attempt})
	switch {
	case err == nil:
		s.report = &job.Report{Path: v.Report, SHA256: v.SHA256}
	case !errors.Is(err, manifest.ErrNone):
		complain(err)
	}
	if s.event == nil && s.report == nil && faults == nil {
		return s
	}
	if s.event == nil {
		s.event = &journal.Said{}
	}
	if s.report != nil {
		s.event.Report = w.below(s.report.Path)
	}
	s.event.Fault = strings.Join(faults, "\n")
	return s
}

func isFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder any more", path)
	}
	return err
}

// published are the fields of a drop, with its word about the end, without secrets. The error, which counts beside them, is why some are
// left out.
func (w *work) published(ctx context.Context, d drop.Drop) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(d.Fields, &fields) // it was checked to be an object
	var fault error
	for name := range fields {
		if strings.EqualFold(name, saidField) {
			delete(fields, name)
			fault = fmt.Errorf("%s: the field %s is the engine's, and left out", drop.Name, saidField)
		}
	}
	word := map[string]json.RawMessage{}
	if d.Status != "" {
		word[saidField], _ = json.Marshal(map[string]string{"attempt": w.attempt, "status": string(d.Status), "reason": d.Reason})
	}
	maps.Copy(fields, word)
	all := w.clean(fields)
	if err := w.fits(ctx, all); err != nil {
		return w.clean(word), errors.Join(fault, err)
	}
	return all, fault
}

// clean is an object without secrets, or nil where it is empty.
func (w *work) clean(fields map[string]json.RawMessage) json.RawMessage {
	if len(fields) == 0 {
		return nil
	}
	data, _ := json.Marshal(fields)
	return w.s.config.Redactor.JSON(data)
}

// fits says why the item's job could not keep fields beside those that it has. Whether it takes any is decided when they are written.
func (w *work) fits(ctx context.Context, fields json.RawMessage) error {
	if fields == nil {
		return nil
	}
	w.mu.Lock()
	token := w.jobs[w.item.ID]
	w.mu.Unlock()
	return w.s.config.Store.View(ctx, func(r statestore.Reader) error {
		record, err := job.Get(r, w.jobID(w.item.ID))
		if err != nil {
			return err
		}
		d := job.Decide(&record, job.Progress{ID: record.ID, By: job.Worker{Token: token}, Fields: fields}, r.Now())
		if d.Reason == job.FieldsTooLarge {
			return &jobError{d}
		}
		return nil
	})
}

// tellJob notes in the item's job what the agent said, with the authority of the attempt. What the job does not take is left out.
func (w *work) tellJob() func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		if w.said.fields == nil && w.said.report == nil {
			return nil
		}
		by, err := w.authority(tx, w.item.ID)
		if err != nil {
			return err
		}
		worker, ours := by.(job.Worker)
		if !ours {
			return nil
		}
		_, err = w.s.apply(tx, job.Progress{ID: w.jobID(w.item.ID), By: worker, Fields: w.said.fields, Report: w.said.report})
		if _, refused := errors.AsType[*jobError](err); refused {
			return nil
		}
		return err
	}
}
