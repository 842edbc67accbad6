package stateapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"aesop/statestore"
)

// MainStatus and MainRole are the names of an orchestrator that gives none.
const (
	MainStatus = "main"
	MainRole   = "orchestrator"
)

// The events of a status. The data of the first is what was said; the other has none.
const (
	statusSet     = "status.set"
	statusCleared = "status.cleared"
)

func statusStream(id string) string         { return "status/" + id }
func statusKey(id string) statestore.Key    { return statestore.Key("status/" + id) }
func statusOf(k statestore.Key) (id string) { return strings.TrimPrefix(string(k), "status/") }

// Status is what an orchestrator says of itself.
type Status struct {
	ID        string             `json:"id"`
	Role      string             `json:"role"`
	Activity  string             `json:"activity,omitempty"` // what it does now
	Phase     string             `json:"phase,omitempty"`
	Version   statestore.Version `json:"version"` // number of changes of it, cleared ones too
	UpdatedAt time.Time          `json:"updatedAt"`
}

// StatusNow is a status and how old it is.
type StatusNow struct {
	Status
	Freshness
}

// Status is that of an orchestrator, "" is MainStatus. The error is statestore.ErrNotFound where it has none, and a
// *statestore.DamagedError where it cannot be read.
func (a *ReadAPI) Status(ctx context.Context, id string) (s StatusNow, err error) {
	if id == "" {
		id = MainStatus
	}
	err = a.view(ctx, "status", func(r statestore.Reader) error {
		status, err := loadStatus(r, id)
		s = a.now(r, status)
		return err
	})
	if err != nil {
		return StatusNow{}, err
	}
	return s, nil
}

// Statuses are a page of all statuses, by their ids.
func (a *ReadAPI) Statuses(ctx context.Context, p Page) (Of[StatusNow], error) {
	return pageOf(ctx, a, "statuses", "", p, func(r statestore.Reader, after string, page *page[StatusNow]) error {
		for record, err := range r.Scan(statestore.Range{Prefix: statusKey(""), After: statusKey(after)}) {
			if err != nil {
				return err
			}
			status, err := readStatus(record.Value, statusOf(record.Key))
			if err != nil {
				return statestore.DamagedRecord(record.Key, err)
			}
			now := a.now(r, status)
			if !page.add(status.ID, &now) {
				return nil
			}
		}
		return nil
	})
}

func (a *ReadAPI) now(r statestore.Reader, s Status) StatusNow {
	return StatusNow{s, freshness(s.UpdatedAt, r.Now(), a.c.StatusFresh)}
}

// loadStatus is a status as it is kept.
func loadStatus(r statestore.Reader, id string) (Status, error) {
	record, err := r.Get(statusKey(id))
	if err != nil {
		return Status{}, err
	}
	s, err := readStatus(record.Value, id)
	if err != nil {
		return Status{}, statestore.DamagedRecord(record.Key, err)
	}
	return s, nil
}

func readStatus(data []byte, id string) (Status, error) {
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, err
	}
	if s.ID != id || s.Role == "" || s.Version == 0 || s.UpdatedAt.IsZero() {
		return Status{}, errors.New("it is not the status of that orchestrator")
	}
	return s, nil
}

// said is what an event of a status has.
type said struct {
	Role     string `json:"role"`
	Activity string `json:"activity,omitempty"`
	Phase    string `json:"phase,omitempty"`
}

// statusAfter is the status after an event of its stream, or nil where that cleared it.
func statusAfter(stored statestore.Stored) (*Status, error) {
	switch stored.Type {
	case statusCleared:
		return nil, nil
	case statusSet:
	default:
		return nil, fmt.Errorf("its type is %q", stored.Type)
	}
	var says said
	if err := json.Unmarshal(stored.Data, &says); err != nil {
		return nil, err
	}
	if says.Role == "" {
		return nil, errors.New("it says no role")
	}
	id := strings.TrimPrefix(stored.Stream, statusStream(""))
	return &Status{ID: id, Role: says.Role, Activity: says.Activity, Phase: says.Phase, Version: stored.Version, UpdatedAt: stored.At}, nil
}

// Check compares all statuses that are kept with what the events say. It reads the whole log. An event of a status that
// cannot be read is a *statestore.DamagedError that names it.
func Check(r statestore.Reader) ([]statestore.Drift, error) {
	want := map[statestore.Key][]byte{}
	for stored, err := range r.Events(statestore.EventQuery{}) {
		if err != nil {
			return nil, err
		}
		id, ours := strings.CutPrefix(stored.Stream, statusStream(""))
		if !ours {
			continue
		}
		s, err := statusAfter(stored)
		switch {
		case err != nil:
			return nil, statestore.DamagedEvent(stored, err)
		case s == nil:
			delete(want, statusKey(id))
		default:
			if want[statusKey(id)], err = json.Marshal(s); err != nil {
				return nil, err
			}
		}
	}
	return statestore.Compare(r, want, statusKey(""))
}
