package statestore

import "fmt"

// DamagedError names a record or an event that cannot be read as what it should be. Nothing is concluded from what else there is.
type DamagedError struct {
	What string // record beat/w1/greet, event 3 of job/w1/greet
	Err  error
}

// DamagedRecord is that of a record.
func DamagedRecord(key Key, err error) *DamagedError {
	return &DamagedError{What: "record " + string(key), Err: err}
}

// DamagedEvent is that of an event.
func DamagedEvent(stored Stored, err error) *DamagedError {
	return &DamagedError{What: fmt.Sprintf("event %d of %s", stored.Version, stored.Stream), Err: err}
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.What, e.Err) }

// Unwrap returns what is wrong with it.
func (e *DamagedError) Unwrap() error { return e.Err }

// MarshalText makes it a string in JSON.
func (e *DamagedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }
