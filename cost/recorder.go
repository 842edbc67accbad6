package cost

import (
	"context"
	"iter"
)

// Recorder gives calls to a ledger in batches, so that many of them need little memory. Flush ends it. It is for one goroutine.
type Recorder struct {
	Ledger Ledger
	// Kept yields what the ledger has, to find out which calls differ in their price alone: they are the same call, priced at another
	// time, and count as known. nil: such a call differs.
	Kept func(context.Context) iter.Seq2[Call, error]
	Done Recorded // what became of those that the ledger got

	calls []Call
}

// recorderBatch is how many calls a Recorder records at once.
const recorderBatch = 1000

// Add takes a call, which may be recorded later.
func (r *Recorder) Add(ctx context.Context, c Call) error {
	r.calls = append(r.calls, c)
	if len(r.calls) < recorderBatch {
		return nil
	}
	return r.Flush(ctx)
}

// Flush records what was added.
func (r *Recorder) Flush(ctx context.Context) error {
	if len(r.calls) == 0 {
		return nil
	}
	done, err := r.Ledger.Record(ctx, r.calls...)
	if err != nil {
		return err
	}
	if done.Differ > 0 && r.Kept != nil {
		repriced, err := r.repriced(ctx)
		if err != nil {
			return err
		}
		done.Known, done.Differ = done.Known+repriced, done.Differ-repriced
	}
	r.Done = r.Done.Add(done)
	r.calls = r.calls[:0]
	return nil
}

// repriced counts the calls of the batch that the ledger has with another price.
func (r *Recorder) repriced(ctx context.Context) (n int, err error) {
	batch := map[string][]Call{}
	for _, c := range r.calls {
		batch[c.ID] = append(batch[c.ID], c)
	}
	for old, err := range r.Kept(ctx) {
		if err != nil {
			return 0, err
		}
		for _, c := range batch[old.ID] {
			if c.fingerprint() != old.fingerprint() && c.Alike(old) {
				n++
			}
		}
	}
	return n, nil
}
