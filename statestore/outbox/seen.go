package outbox

import (
	"encoding/json"
	"errors"
	"fmt"

	"aesop/statestore"
)

// SeenLimit is how many ids are remembered for each receiver.
const SeenLimit = 10_000

// seenSpan numbers the ids that a receiver remembers.
type seenSpan struct {
	First uint64 `json:"first"`
	Next  uint64 `json:"next"`
}

// Seen notes that a receiver has an intent, in the transaction in which the receiver does what it does about it, and says whether this is
// the first time. Only then there is something to do: each id has its effect once, whatever is sent again and whoever dies when.
//
// The newest SeenLimit ids of a receiver are remembered. One that was forgotten counts as new, so that an effect can come twice only where
// a sink sends an intent again after the receiver got SeenLimit newer ones. A Notifier sends again what it could not settle before it goes on
// with the same subject, and within one round; receivers that must be right for longer compare the intent's Seq with that of their subject.
func Seen(tx statestore.Tx, receiver, id string) (first bool, err error) {
	if !sinkForm.MatchString(receiver) {
		return false, fmt.Errorf("receiver %q: the name must be of lower-case letters, digits and . _ -", receiver)
	}
	if id == "" {
		return false, fmt.Errorf("receiver %s: the intent has no id", receiver)
	}
	root := statestore.Key("outbox/seen/" + receiver)
	if _, err := tx.Get(root + "/id/" + statestore.Key(id)); !errors.Is(err, statestore.ErrNotFound) {
		return false, err
	}
	var span seenSpan
	switch record, err := tx.Get(root); {
	case errors.Is(err, statestore.ErrNotFound):
	case err != nil:
		return false, err
	default:
		if err := json.Unmarshal(record.Value, &span); err != nil {
			return false, damaged(root, err)
		}
	}
	if span.Next-span.First >= SeenLimit {
		if err := forget(tx, root, span.First); err != nil {
			return false, err
		}
		span.First++
	}
	if _, err := tx.Put(root+"/id/"+statestore.Key(id), nil, 0); err != nil {
		return false, err
	}
	if _, err := tx.Put(seenAt(root, span.Next), []byte(id), 0); err != nil {
		return false, err
	}
	span.Next++
	value, err := json.Marshal(span)
	if err != nil {
		return false, err
	}
	_, err = tx.Put(root, value, statestore.Any)
	return err == nil, err
}

func seenAt(root statestore.Key, n uint64) statestore.Key {
	return root + statestore.Key(fmt.Sprintf("/at/%016x", n))
}

// forget removes the id that has a number.
func forget(tx statestore.Tx, root statestore.Key, n uint64) error {
	record, err := tx.Get(seenAt(root, n))
	if err != nil {
		return err
	}
	if err := remove(tx, root+"/id/"+statestore.Key(record.Value)); err != nil {
		return err
	}
	return remove(tx, record.Key)
}
