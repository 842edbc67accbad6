package outbox

import (
	"encoding/json"
	"errors"

	"aesop/statestore"
)

// SettledFunc is called in the transaction in which nobody is owed an intent any more, so that whoever noted that it is pending can take
// that note back. It touches nothing but tx and may run again. Its error undoes the settlement: the intent stays owed and is sent again.
type SettledFunc func(tx statestore.Tx, i Intent) error

// settle removes what was sent from the queue, and the intent where that was the last. What is settled already is no error. An entry is
// settled by its key, which has the intent's identity, so that nothing that came meanwhile is ever removed.
func settle(tx statestore.Tx, e entry, settled SettledFunc) error {
	switch err := tx.Delete(e.key, statestore.Any); {
	case errors.Is(err, statestore.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	owed, err := tx.Get(owedKey(e.intent.ID, e.sink))
	if errors.Is(err, statestore.ErrNotFound) {
		return nil // others settle what it is
	}
	if err != nil {
		return err
	}
	if err := tx.Delete(owed.Key, owed.Rev); err != nil {
		return err
	}
	for _, err := range tx.Scan(statestore.Range{Prefix: owedKey(e.intent.ID, ""), Limit: 1}) {
		return err // others are owed it, or the store failed
	}
	for _, key := range []statestore.Key{intentKey(e.intent.ID), statestore.Key(owed.Value)} {
		if err := remove(tx, key); err != nil {
			return err
		}
	}
	if settled == nil {
		return nil
	}
	return settled(tx, e.intent)
}

// remove deletes a record that may be gone.
func remove(tx statestore.Tx, k statestore.Key) error {
	if err := tx.Delete(k, statestore.Any); !errors.Is(err, statestore.ErrNotFound) {
		return err
	}
	return nil
}

// failed notes a try that failed, unless the entry was settled meanwhile.
func failed(tx statestore.Tx, e entry, text string) error {
	record, err := tx.Get(e.key)
	if errors.Is(err, statestore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var t tries
	if err := json.Unmarshal(record.Value, &t); err != nil {
		return damaged(e.key, err)
	}
	t.Tries, t.LastTry, t.LastError = t.Tries+1, tx.Now(), text
	value, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = tx.Put(e.key, value, record.Rev)
	return err
}
