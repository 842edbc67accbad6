package cost

import "context"

// Ledger keeps calls. It is append-only, safe for concurrent use by goroutines and processes, and durable on nil.
type Ledger interface {
	// Record appends calls, all or none. One whose ID the ledger has already changes nothing.
	Record(ctx context.Context, calls ...Call) (Recorded, error)
	// Book is what the ledger has now. A ledger that does not exist is empty; one that cannot be read is an error.
	Book(ctx context.Context) (*Book, error)
}

// Recorded says what became of calls that were given to a ledger.
type Recorded struct {
	Added  int `json:"added"`
	Known  int `json:"known"`  // the ledger had them
	Differ int `json:"differ"` // the ledger had others under their ids, and keeps those
	// Refused could not be calls: see Call.Check. A Ledger takes none where one is such, and returns its error instead.
	Refused int `json:"refused,omitempty"`
}

// Add sums what became of two lots of calls.
func (r Recorded) Add(s Recorded) Recorded {
	return Recorded{Added: r.Added + s.Added, Known: r.Known + s.Known, Differ: r.Differ + s.Differ, Refused: r.Refused + s.Refused}
}
