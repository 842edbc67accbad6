package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/statestore/outbox"
)

// TestAStallIsNews: whoever is subscribed is owed each change of advice, in its transaction.
func TestAStallIsNews(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.update(func(tx statestore.Tx) error {
			return outbox.Subscribe(tx, outbox.Subscription{Name: "pager", Kinds: []string{"agent."}})
		})
		token := f.claimed("j")
		f.mustBeat("j", token, time.Time{})
		f.pass(time.Hour)
		f.sweep()
		f.sweep()
		f.mustBeat("j", token, f.now)
		f.sweep()
		var kinds []string
		f.view(func(r statestore.Reader) error {
			for owed, err := range outbox.Pending(r, "pager") {
				if err != nil {
					return err
				}
				kinds = append(kinds, owed.Intent.Kind)
				if owed.Intent.Subject != "agent/j" {
					t.Errorf("it is of %s", owed.Intent.Subject)
				}
			}
			return nil
		})
		if want := []string{"agent.stalled", "agent.recovered"}; !slices.Equal(kinds, want) {
			t.Errorf("owed is %v, want %v", kinds, want)
		}
	})
}
