package statestore

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Drift is a record that is not what the events say. Records that events can be folded to are kept for speed; the events win.
type Drift struct {
	Key    Key
	Stored []byte // nil: there is none
	Want   []byte // nil: there should be none
}

// String says what is wrong, for people.
func (d Drift) String() string {
	switch {
	case d.Stored == nil:
		return fmt.Sprintf("record %s is missing", d.Key)
	case d.Want == nil:
		return fmt.Sprintf("record %s should not be there", d.Key)
	}
	return fmt.Sprintf("record %s is not what the events say", d.Key)
}

// Compare holds all records under some prefixes, none of which begins another, against what they should be. It empties want.
func Compare(r Reader, want map[Key][]byte, prefixes ...Key) ([]Drift, error) {
	var drifts []Drift
	for _, prefix := range prefixes {
		for stored, err := range r.Scan(Range{Prefix: prefix}) {
			if err != nil {
				return nil, err
			}
			value, known := want[stored.Key]
			delete(want, stored.Key)
			if known && bytes.Equal(stored.Value, value) {
				continue
			}
			drifts = append(drifts, Drift{Key: stored.Key, Stored: append([]byte{}, stored.Value...), Want: value})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		drifts = append(drifts, Drift{Key: k, Want: want[k]})
	}
	clear(want)
	return drifts, nil
}

// Repair makes records what the events say, and returns what it changed: what the Checks of the packages that keep them find, one after another.
func Repair(tx Tx, checks ...func(Reader) ([]Drift, error)) ([]Drift, error) {
	var all []Drift
	for _, check := range checks {
		drifts, err := check(tx)
		if err != nil {
			return nil, err
		}
		if err := mend(tx, drifts); err != nil {
			return nil, err
		}
		all = append(all, drifts...)
	}
	return all, nil
}

// mend makes records what they should be.
func mend(tx Tx, drifts []Drift) error {
	for _, d := range drifts {
		var err error
		if d.Want == nil {
			err = tx.Delete(d.Key, Any)
		} else {
			_, err = tx.Put(d.Key, d.Want, Any)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
