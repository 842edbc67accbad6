package job_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"aesop/statestore"
	"aesop/statestore/job"
)

// TestJobsAreReadOnFromAnyOfThem: all, those of a wave, and items. A page may end where its last job is gone from the next one's place.
func TestJobsAreReadOnFromAnyOfThem(t *testing.T) {
	f := newFixture(t)
	for _, id := range []string{"w1/a", "w1/b", "w1/c"} {
		f.create(id, "item of "+id)
	}
	f.applied(job.Create{ID: "w2/d", Item: "z", Wave: "w2", Seat: "worker"})
	f.applied(job.Cancel{ID: "w1/b", By: job.Operator{TransitionSeq: 1}})
	for _, test := range []struct {
		after             string
		all, listed, item []string
	}{
		{"", []string{"w1/a", "w1/b", "w1/c", "w2/d"}, []string{"w1/a", "w1/b", "w1/c"}, nil},
		{"w1/a", []string{"w1/b", "w1/c", "w2/d"}, []string{"w1/b", "w1/c"}, nil},
		{"w1/bb", []string{"w1/c", "w2/d"}, []string{"w1/c"}, nil},
		{"w2/d", nil, nil, nil},
	} {
		var all, listed []string
		err := f.store.View(t.Context(), func(r statestore.Reader) error {
			for record, err := range job.All(r, test.after) {
				if err != nil {
					return err
				}
				all = append(all, record.ID)
			}
			for record, err := range job.List(r, "w1", test.after) {
				if err != nil {
					return err
				}
				listed = append(listed, record.ID)
			}
			return nil
		})
		if err != nil || !slices.Equal(all, test.all) || !slices.Equal(listed, test.listed) {
			t.Errorf("after %q: %v and %v, %v", test.after, all, listed, err)
		}
	}
	var items []string
	err := f.store.View(t.Context(), func(r statestore.Reader) error {
		for item, err := range job.Items(r, "item of w1/a") {
			if err != nil {
				return err
			}
			items = append(items, fmt.Sprintf("%s %d %s", item.ID, item.Epoch, item.Live))
		}
		return nil
	})
	if want := []string{"item of w1/b 1 ", "item of w1/c 1 w1/c", "z 1 w2/d"}; err != nil || !slices.Equal(items, want) {
		t.Errorf("items are %q, %v", items, err)
	}
}

// TestARecordThatCannotBeReadIsNamed wherever one is read.
func TestARecordThatCannotBeReadIsNamed(t *testing.T) {
	for key, read := range map[statestore.Key]func(r statestore.Reader) error{
		"job/a":         func(r statestore.Reader) error { _, err := job.Get(r, "a"); return err },
		"item/item":     func(r statestore.Reader) error { _, _, err := job.Live(r, "item"); return err },
		"wave-job/w1/a": func(r statestore.Reader) error { return last(job.List(r, "w1", "")) },
	} {
		f := newFixture(t)
		f.create("a", "item")
		f.update(func(tx statestore.Tx) error { _, err := tx.Put(key, []byte("{"), statestore.Any); return err })
		err := f.store.View(t.Context(), read)
		if damaged, ok := errors.AsType[*statestore.DamagedError](err); !ok || damaged.What != "record "+string(key) {
			t.Errorf("%s: error is %v", key, err)
		}
	}
}

// last is the error that jobs end with.
func last(jobs iter.Seq2[job.Record, error]) (err error) {
	for _, err = range jobs {
	}
	return err
}

// TestOfFindsTheJobOfAnAttemptAlsoAfterIt, and of no other.
func TestOfFindsTheJobOfAnAttemptAlsoAfterIt(t *testing.T) {
	f, _ := running(t)
	attempt := f.get("a").Attempt
	f.applied(job.Requeue{ID: "a", By: job.Operator{TransitionSeq: f.get("a").TransitionSeq}})
	err := f.store.View(t.Context(), func(r statestore.Reader) error {
		if record, err := job.Of(r, attempt); err != nil || record.ID != "a" || record.Status != job.Pending {
			t.Errorf("it is %+v, %v", record, err)
		}
		if record, err := job.Of(r, "0000000000000000"); !errors.Is(err, statestore.ErrNotFound) {
			t.Errorf("it is %+v, %v", record, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
