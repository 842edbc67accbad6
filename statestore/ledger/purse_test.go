package ledger_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/tracker"
)

// Of the test below.
const (
	purseCallers = 8 // of each process
	purseRounds  = 6 // of each caller
	purseBound   = 10_000
	// placeVariable has, in a child, the database; its last part is the child's name.
	placeVariable = "AESOP_TEST_PURSE"
)

func limits() []cost.Limit { return []cost.Limit{{Scope: cost.PerWave, Tokens: purseBound}} }

// TestNoLimitIsPassedByAnyNumberOfCallers: 64 callers in 8 processes reserve, use some, settle or die with what they reserved; spent and
// reserved together never pass the limit, looked at in each transaction.
func TestNoLimitIsPassedByAnyNumberOfCallers(t *testing.T) {
	if place := os.Getenv(placeVariable); place != "" {
		callersOf(t, place)
		return
	}
	path := filepath.Join(t.TempDir(), "state.db")
	store := open(t, path)
	var all sync.WaitGroup
	for n := range processes {
		all.Go(func() {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoLimitIsPassedByAnyNumberOfCallers$", "-test.count=1")
			child.Env = append(os.Environ(), fmt.Sprintf("%s=%s#p%d", placeVariable, path, n))
			if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
				t.Errorf("process %d: %v\n%s", n, err, out)
			}
		})
	}
	all.Wait()
	l := ledger.New(store)
	s := standing(t, store, l)
	if s.Spent+s.Reserved > purseBound || s.Spent < purseBound/2 {
		t.Errorf("%d spent and %d reserved of %d", s.Spent, s.Reserved, purseBound)
	}
	if s.Reserved == 0 {
		t.Error("nobody died with a reservation, so that was not tried")
	}
}

// TestAJobsOwnReservationIsNotInItsWay when it asks again.
func TestAJobsOwnReservationIsNotInItsWay(t *testing.T) {
	store := statestore.NewMemory(statestore.MemoryConfig{})
	l := ledger.New(store)
	for _, id := range []string{"a", "b"} {
		if granted, err := attempt(t, store, l, id, true); err != nil || !granted {
			t.Fatalf("%v, %v", granted, err)
		}
	}
	reserved := func(but string) (tokens int64) {
		if err := store.View(t.Context(), func(r statestore.Reader) error {
			judge, err := l.Judge(r, limits(), but, nil)
			tokens = judge.Standings(cost.Subject{Wave: "w"})[0].Reserved
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	if all, others := reserved(""), reserved("a")+reserved("b"); all == 0 || all != others || reserved("a") == all {
		t.Errorf("%d are reserved, without one or the other %d", all, others)
	}
}

func standing(t *testing.T, store statestore.Store, l *ledger.Ledger) (s cost.Standing) {
	t.Helper()
	err := store.View(t.Context(), func(r statestore.Reader) error {
		judge, err := l.Judge(r, limits(), "", nil)
		if err == nil {
			s = judge.Standings(cost.Subject{Wave: "w"})[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// callersOf are the callers of one process.
func callersOf(t *testing.T, place string) {
	path, name, _ := strings.Cut(place, "#")
	store := open(t, path)
	l := ledger.New(store)
	var granted, refused atomic.Int64
	var all sync.WaitGroup
	for c := range purseCallers {
		all.Go(func() {
			for n := range purseRounds {
				ok, err := attempt(t, store, l, fmt.Sprintf("%s-%d-%d", name, c, n), n == purseRounds-1)
				switch {
				case err != nil:
					t.Errorf("%s: %v", name, err)
				case ok:
					granted.Add(1)
				default:
					refused.Add(1)
				}
			}
		})
	}
	all.Wait()
	if granted.Load()+refused.Load() != purseCallers*purseRounds {
		t.Errorf("%d granted and %d refused", granted.Load(), refused.Load())
	}
}

// attempt is one attempt: it reserves up to 200 tokens and uses some of them. One that dies settles nothing.
func attempt(t *testing.T, store statestore.Store, l *ledger.Ledger, id string, dies bool) (granted bool, err error) {
	token, err := tracker.NewToken(rand.Reader)
	if err != nil {
		return false, err
	}
	ask := cost.Ask{Subject: cost.Subject{Wave: "w", Item: id, Model: "m"}, Most: cost.Amount{Tokens: mrand.Int64N(200) + 1}}
	purse := ledger.Purse{Ledger: l, Limits: limits(), Ask: ask}
	if _, err := l.Book(t.Context()); err != nil { // so that the transaction has little to read
		return false, err
	}
	err = store.Update(t.Context(), func(tx statestore.Tx) error {
		for _, request := range []job.Request{job.Create{ID: id, Item: id, Wave: "w", Seat: "worker"}, job.Claim{ID: id, Token: token, Deadline: tx.Now().Add(time.Hour), Reserve: purse}} {
			d, err := job.Apply(tx, request)
			switch {
			case err != nil:
				return err
			case d.Ceiling != nil:
				return d.Ceiling
			case !d.OK():
				return errors.New(d.Text)
			}
		}
		judge, err := l.Judge(tx, limits(), "", nil)
		if err != nil {
			return err
		}
		if s := judge.Standings(ask.Subject)[0]; s.Spent+s.Reserved > purseBound {
			return fmt.Errorf("%d spent and %d reserved of %d", s.Spent, s.Reserved, purseBound)
		}
		return nil
	})
	if errors.Is(err, cost.ErrCeiling) {
		return false, nil
	}
	if err != nil || dies {
		return err == nil, err
	}
	used := mrand.Int64N(ask.Most.Tokens + 1)
	return true, store.Update(t.Context(), func(tx statestore.Tx) error {
		if err := ledger.Append(tx, cost.Call{ID: id, At: tx.Now(), Wave: "w", Item: id, Attempt: id, Usage: cost.Usage{Input: used, Metered: true}}); err != nil {
			return err
		}
		d, err := job.Apply(tx, job.Complete{ID: id, By: job.Worker{Token: token}})
		if err == nil && !d.OK() {
			err = errors.New(d.Text)
		}
		return err
	})
}
