package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aesop/statestore"
)

// Marks are cost.Marks in a store: which alerts were given. They are safe for concurrent use.
type Marks struct {
	Store statestore.Store
}

func markKey(key string) statestore.Key { return statestore.Key("ledger/alert/" + key) }

// Marked implements cost.Marks.
func (m Marks) Marked(ctx context.Context, key string) (marked bool, err error) {
	err = m.Store.View(ctx, func(r statestore.Reader) error {
		switch _, err := r.Get(markKey(key)); {
		case errors.Is(err, statestore.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("look for alert %s: %w", key, err)
		}
		marked = true
		return nil
	})
	return marked, err
}

// Mark implements cost.Marks.
func (m Marks) Mark(ctx context.Context, key string, at time.Time) error {
	data, err := json.Marshal(struct {
		At time.Time `json:"at"`
	}{at.UTC()})
	if err != nil {
		return fmt.Errorf("mark alert %s: %w", key, err)
	}
	return m.Store.Update(ctx, func(tx statestore.Tx) error {
		if _, err := tx.Put(markKey(key), data, 0); err != nil && !errors.Is(err, statestore.ErrConflict) {
			return fmt.Errorf("mark alert %s: %w", key, err)
		}
		return nil
	})
}
