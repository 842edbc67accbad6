package lifecycle

import (
	"fmt"
	"strings"

	"aesop/statestore"
)

// Check compares the advice that is kept with what the events say. It reads the whole log. An event of advice that cannot
// be read is a *statestore.DamagedError that names it. Heartbeats have no events to be compared with.
func Check(r statestore.Reader) ([]statestore.Drift, error) {
	want := map[statestore.Key][]byte{}
	for stored, err := range r.Events(statestore.EventQuery{}) {
		if err != nil {
			return nil, err
		}
		id, ours := strings.CutPrefix(stored.Stream, Stream(""))
		if !ours {
			continue
		}
		_, err := readAdvice(stored.Data, id)
		switch {
		case err != nil:
		case stored.Type == StalledKind:
			want[adviceKey(id)] = stored.Data
		case stored.Type == recoveredEvent, stored.Type == endedEvent:
			delete(want, adviceKey(id))
		default:
			err = fmt.Errorf("its type is %q", stored.Type)
		}
		if err != nil {
			return nil, statestore.DamagedEvent(stored, err)
		}
	}
	return statestore.Compare(r, want, adviceKey(""))
}
