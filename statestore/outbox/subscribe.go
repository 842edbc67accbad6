package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"

	"aesop/statestore"
)

// Subscription names a sink and says what it wants.
type Subscription struct {
	Name  string   `json:"name"`            // lower-case letters, digits and . _ - up to 64
	Kinds []string `json:"kinds,omitempty"` // kinds, or beginnings of kinds up to a dot: "job."; none: all
}

var sinkForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Check says what is wrong with the name or the kinds.
func (s Subscription) Check() error {
	if !sinkForm.MatchString(s.Name) {
		return fmt.Errorf("sink %q: the name must be of lower-case letters, digits and . _ -", s.Name)
	}
	for _, kind := range s.Kinds {
		if !kindForm.MatchString(strings.TrimSuffix(kind, ".")) {
			return fmt.Errorf("sink %s: %q is not a kind, nor the beginning of kinds up to a dot", s.Name, kind)
		}
	}
	return nil
}

// Match says whether a kind is one of kinds, or begins with one of them that ends with a dot. Where there are none, every kind does.
func Match(kinds []string, kind string) bool {
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(k string) bool {
		return kind == k || strings.HasSuffix(k, ".") && strings.HasPrefix(kind, k)
	})
}

func sinkKey(name string) statestore.Key { return statestore.Key("outbox/sink/" + name) }

// Subscribe makes what is added from now on owed to a sink. Subscribing it again with other kinds changes what it is owed from now on; what
// it is owed already stays.
func Subscribe(tx statestore.Tx, s Subscription) error {
	if err := s.Check(); err != nil {
		return err
	}
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if had, err := tx.Get(sinkKey(s.Name)); err == nil && string(had.Value) == string(value) {
		return nil
	}
	_, err = tx.Put(sinkKey(s.Name), value, statestore.Any)
	return err
}

// Unsubscribe owes a sink nothing more, also nothing of what it was owed, and says how many intents those were. Intents that nobody is owed any
// more are given to settled, which may be nil; what cannot be read of them is dropped without. A sink that is not subscribed is no error.
func Unsubscribe(tx statestore.Tx, name string, settled SettledFunc) (dropped int, err error) {
	if err := (Subscription{Name: name}).Check(); err != nil {
		return 0, err
	}
	if err := remove(tx, sinkKey(name)); err != nil {
		return 0, err
	}
	var queue []statestore.Key
	for record, err := range tx.Scan(statestore.Range{Prefix: queueOf(name)}) {
		if err != nil {
			return 0, err
		}
		queue = append(queue, record.Key)
	}
	for _, key := range queue {
		id := path.Base(string(key))
		i, err := load(tx, id)
		tell := settled
		if bad := (*statestore.DamagedError)(nil); errors.As(err, &bad) {
			i.ID, tell = id, nil
		} else if err != nil {
			return 0, err
		}
		if err := settle(tx, entry{key: key, sink: name, intent: i.Intent}, tell); err != nil {
			return 0, err
		}
	}
	return len(queue), nil
}

// Wanted says whether any sink wants a kind, so that nobody has to make news that nobody is owed.
func Wanted(r statestore.Reader, kind string) (bool, error) {
	for s, err := range Subscriptions(r) {
		if err != nil || Match(s.Kinds, kind) {
			return err == nil, err
		}
	}
	return false, nil
}

// Subscriptions yields who is subscribed, in the order of their names. One that cannot be read comes as a *statestore.DamagedError
// with its name, after which the rest can still be had; any other error is the last.
func Subscriptions(r statestore.Reader) iter.Seq2[Subscription, error] {
	return func(yield func(Subscription, error) bool) {
		for record, err := range r.Scan(statestore.Range{Prefix: sinkKey("")}) {
			var s Subscription
			if err == nil {
				if err = json.Unmarshal(record.Value, &s); err == nil {
					err = s.Check()
				}
				if err == nil && sinkKey(s.Name) != record.Key {
					err = fmt.Errorf("it names the sink %s", s.Name)
				}
				if err != nil {
					s = Subscription{Name: strings.TrimPrefix(string(record.Key), string(sinkKey("")))}
					err = damaged(record.Key, err)
				}
			}
			if bad := (*statestore.DamagedError)(nil); !yield(s, err) || err != nil && !errors.As(err, &bad) {
				return
			}
		}
	}
}
