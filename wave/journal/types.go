package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

func (Planned) Type() string          { return "planned" }
func (Claimed) Type() string          { return "claimed" }
func (Dropped) Type() string          { return "dropped" }
func (BaseTested) Type() string       { return "base_tested" }
func (ItemBaseTested) Type() string   { return "item_base_tested" }
func (AttemptStarted) Type() string   { return "attempt_started" }
func (AttemptEnded) Type() string     { return "attempt_ended" }
func (Verified) Type() string         { return "verified" }
func (Asked) Type() string            { return "asked" }
func (Corrected) Type() string        { return "corrected" }
func (SpotChecked) Type() string      { return "spot_checked" }
func (Scanned) Type() string          { return "scanned" }
func (Judged) Type() string           { return "judged" }
func (Unanswered) Type() string       { return "unanswered" }
func (BaseMoved) Type() string        { return "base_moved" }
func (Rebased) Type() string          { return "rebased" }
func (Integrated) Type() string       { return "integrated" }
func (ItemEnded) Type() string        { return "item_ended" }
func (PushIntent) Type() string       { return "push_intent" }
func (Shipped) Type() string          { return "shipped" }
func (Adopted) Type() string          { return "adopted" }
func (PushFailed) Type() string       { return "push_failed" }
func (RepositoryFailed) Type() string { return "repository_failed" }
func (Settled) Type() string          { return "settled" }
func (GateChecked) Type() string      { return "gate_checked" }
func (Stopped) Type() string          { return "stopped" }
func (Resumed) Type() string          { return "resumed" }
func (TakenOver) Type() string        { return "taken_over" }
func (Budgeted) Type() string         { return "budgeted" }
func (Alerted) Type() string          { return "alerted" }
func (Ended) Type() string            { return "ended" }

// Durable says whether an event must be on disk before the wave goes on; others are written together with the next that is.
// An attempt's end is durable because what the agent was paid for would otherwise be done, and paid, again; a judgement because nobody
// is asked twice; that there was none because it was paid for.
func Durable(e Event) bool {
	switch e.(type) {
	case Planned, AttemptStarted, AttemptEnded, Verified, SpotChecked, Asked, Corrected, Judged, Unanswered, BaseMoved, Rebased, PushIntent, Shipped, Adopted, PushFailed, RepositoryFailed, Stopped, Resumed, TakenOver, Ended:
		return true
	}
	return false
}

// decode turns stored bytes into an event. An unknown type is an error: a wave of a newer version is not half-read.
func decode(name string, data []byte) (Event, error) {
	read, ok := readers()[name]
	if !ok {
		return nil, fmt.Errorf("event type %q is not known to this version", name)
	}
	return read(data)
}

// Types are the names of all events, sorted.
func Types() []string { return slices.Sorted(maps.Keys(readers())) }

// readers are the events by name.
func readers() map[string]func([]byte) (Event, error) {
	return map[string]func([]byte) (Event, error){
		Budgeted{}.Type():         read[Budgeted],
		Alerted{}.Type():          read[Alerted],
		Planned{}.Type():          read[Planned],
		Claimed{}.Type():          read[Claimed],
		Dropped{}.Type():          read[Dropped],
		BaseTested{}.Type():       read[BaseTested],
		ItemBaseTested{}.Type():   read[ItemBaseTested],
		AttemptStarted{}.Type():   read[AttemptStarted],
		AttemptEnded{}.Type():     read[AttemptEnded],
		Verified{}.Type():         read[Verified],
		Asked{}.Type():            read[Asked],
		Corrected{}.Type():        read[Corrected],
		SpotChecked{}.Type():      read[SpotChecked],
		Scanned{}.Type():          read[Scanned],
		Judged{}.Type():           read[Judged],
		Unanswered{}.Type():       read[Unanswered],
		BaseMoved{}.Type():        read[BaseMoved],
		Rebased{}.Type():          read[Rebased],
		Integrated{}.Type():       read[Integrated],
		ItemEnded{}.Type():        read[ItemEnded],
		PushIntent{}.Type():       read[PushIntent],
		Shipped{}.Type():          read[Shipped],
		Adopted{}.Type():          read[Adopted],
		PushFailed{}.Type():       read[PushFailed],
		RepositoryFailed{}.Type(): read[RepositoryFailed],
		Settled{}.Type():          read[Settled],
		GateChecked{}.Type():      read[GateChecked],
		Stopped{}.Type():          read[Stopped],
		Resumed{}.Type():          read[Resumed],
		TakenOver{}.Type():        read[TakenOver],
		Ended{}.Type():            read[Ended],
	}
}

func read[E Event](data []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Type(), err)
	}
	return e, nil
}
