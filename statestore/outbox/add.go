package outbox

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"aesop/statestore"
)

// Add owes an intent to every subscribed sink that wants its kind, in the caller's transaction. at is the Seq of the event that it tells of,
// appended in that transaction, and orders what is owed. An empty ID and a zero At are filled in. It says whether the intent is owed to
// anybody; an ID that is owed already is not owed twice, and no error. A subscription that is damaged is one: nobody knows what it wants.
// Secrets must be out of Data: it is stored and sent as it is.
func Add(tx statestore.Tx, at statestore.Seq, i Intent) (owed bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("owe %s of %s: %w", i.Kind, i.Subject, err)
		}
	}()
	if i.ID == "" {
		i.ID = ID(i.Subject, i.Seq, i.Kind)
	}
	if i.At.IsZero() {
		i.At = tx.Now()
	}
	if at == 0 {
		return false, errors.New("it tells of no event")
	}
	if err := i.check(); err != nil {
		return false, err
	}
	text, err := encode(stored{Intent: i, Event: at})
	if err != nil {
		return false, err
	}
	if len(text) > MaxSize {
		return false, fmt.Errorf("%d bytes: %w", len(text), ErrTooLarge)
	}
	_, err = tx.Get(intentKey(i.ID))
	if !errors.Is(err, statestore.ErrNotFound) {
		return err == nil, err
	}
	for s, err := range Subscriptions(tx) {
		if err != nil {
			return false, err
		}
		if !Match(s.Kinds, i.Kind) {
			continue
		}
		owed = true
		if err := owe(tx, s.Name, at, i); err != nil {
			return false, err
		}
	}
	if !owed {
		return false, nil
	}
	if _, err := tx.Put(newestKey(i), nil, 0); err != nil {
		return false, err
	}
	_, err = tx.Put(intentKey(i.ID), text, 0)
	return err == nil, err
}

// owe puts an intent into the queue of a sink.
func owe(tx statestore.Tx, sink string, at statestore.Seq, i Intent) error {
	if _, err := tx.Put(owedKey(i.ID, sink), []byte(newestKey(i)), 0); err != nil {
		return err
	}
	_, err := tx.Put(queueKey(sink, at, i), []byte("{}"), 0)
	return err
}

func intentKey(id string) statestore.Key { return statestore.Key("outbox/intent/" + id) }

// newestKey sorts the newest of a subject before the others.
func newestKey(i Intent) statestore.Key {
	return newestOf(i.Subject) + statestore.Key(fmt.Sprintf("%016x/%s", ^uint64(i.Seq), i.ID))
}

func newestOf(subject string) statestore.Key {
	return statestore.Key(fmt.Sprintf("outbox/newest/%x/", sha256.Sum256([]byte(subject))))
}

func owedKey(id, sink string) statestore.Key { return statestore.Key("outbox/owed/" + id + "/" + sink) }

// queueKey sorts by event; where several intents tell of one event, by their seq.
func queueKey(sink string, at statestore.Seq, i Intent) statestore.Key {
	return queueOf(sink) + statestore.Key(fmt.Sprintf("%016x/%016x/%s", uint64(at), i.Seq, i.ID))
}

func queueOf(sink string) statestore.Key { return statestore.Key("outbox/queue/" + sink + "/") }
