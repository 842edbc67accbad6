package storetest

import (
	"errors"
	"slices"

	"aesop/statestore"
)

func eventTests() []test {
	texts := func(events []statestore.Stored) []string {
		out := []string{}
		for _, e := range events {
			out = append(out, e.Type[len("test."):])
		}
		return out
	}
	check := func(f *fixture, r statestore.Reader, q statestore.EventQuery, want ...string) {
		f.Helper()
		if got := texts(f.events(r, q)); !slices.Equal(got, want) {
			f.Errorf("events %+v: %q, want %q", q, got, want)
		}
	}
	fill := func(f *fixture) {
		f.update(func(tx statestore.Tx) {
			f.append(tx, "a", 0, entry("", "a1"), entry("", "a2"))
			f.append(tx, "b", 0, entry("", "b1"))
		})
		f.update(func(tx statestore.Tx) { f.append(tx, "a", 2, entry("", "a3")) })
	}
	return []test{
		{"an event comes back with its place", func(f *fixture) {
			fill(f)
			f.view(func(r statestore.Reader) {
				events := f.events(r, statestore.EventQuery{})
				places := []struct {
					stream  string
					version statestore.Version
				}{{"a", 1}, {"a", 2}, {"b", 1}, {"a", 3}}
				if len(events) != len(places) {
					f.Fatalf("%d events, want %d", len(events), len(places))
				}
				for i, e := range events {
					if e.Stream != places[i].stream || e.Version != places[i].version {
						f.Errorf("event %d is %s %d, want %v", i, e.Stream, e.Version, places[i])
					}
					if i > 0 && e.Seq <= events[i-1].Seq || e.Seq == 0 {
						f.Errorf("the sequences do not grow: %d at %d", e.Seq, i)
					}
				}
				if e := events[0]; string(e.Data) != `{"text":"a1"}` || e.Type != "test.a1" || e.ID != "" {
					f.Errorf("the first event is %+v", e)
				}
			})
		}},
		{"sequences start at 1", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				if seq := f.append(tx, "a", 0, entry("", "a1")); seq != 1 {
					f.Errorf("the first event is %d", seq)
				}
			})
		}},
		{"Stream, After and Limit select", func(f *fixture) {
			fill(f)
			f.view(func(r statestore.Reader) {
				all := f.events(r, statestore.EventQuery{})
				check(f, r, statestore.EventQuery{}, "a1", "a2", "b1", "a3")
				check(f, r, statestore.EventQuery{Stream: "a"}, "a1", "a2", "a3")
				check(f, r, statestore.EventQuery{Stream: "none"})
				check(f, r, statestore.EventQuery{After: all[0].Seq}, "a2", "b1", "a3")
				check(f, r, statestore.EventQuery{Stream: "a", After: all[1].Seq}, "a3")
				check(f, r, statestore.EventQuery{Limit: 3}, "a1", "a2", "b1")
				check(f, r, statestore.EventQuery{Stream: "a", Limit: 1}, "a1")
				check(f, r, statestore.EventQuery{After: all[3].Seq})
				check(f, r, statestore.EventQuery{After: ^statestore.Seq(0)})
			})
		}},
		{"more events than any page come whole", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				for i := range 1000 {
					f.append(tx, []string{"a", "b", "b"}[i%3], statestore.AnyVersion, entry("", "e"))
				}
			})
			f.view(func(r statestore.Reader) {
				if n := len(f.events(r, statestore.EventQuery{})); n != 1000 {
					f.Errorf("%d events, want 1000", n)
				}
				b := f.events(r, statestore.EventQuery{Stream: "b", Limit: 600})
				if len(b) != 600 || b[599].Version != 600 {
					f.Errorf("%d events of b, want 600", len(b))
				}
			})
		}},
		{"a Tx sees the events that it appended", func(f *fixture) {
			fill(f)
			f.update(func(tx statestore.Tx) {
				seq := f.append(tx, "b", 1, entry("", "b2"))
				check(f, tx, statestore.EventQuery{Stream: "b"}, "b1", "b2")
				check(f, tx, statestore.EventQuery{After: seq - 1}, "b2")
				f.append(tx, "b", 2, entry("", "b3"))
			})
		}},
		{"Append returns the sequence of the last event, 0 for none", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				seq := f.append(tx, "a", 0, entry("", "a1"), entry("", "a2"))
				if events := f.events(tx, statestore.EventQuery{}); events[1].Seq != seq {
					f.Errorf("append returned %d, the last event is %d", seq, events[1].Seq)
				}
				if seq := f.append(tx, "a", 2); seq != 0 {
					f.Errorf("append of nothing returned %d", seq)
				}
			})
		}},
		{"Append wants its version", func(f *fixture) {
			fill(f)
			f.update(func(tx statestore.Tx) {
				_, err := tx.Append("a", 2, entry("", "x"))
				f.conflict(err, "a", 2, 3)
				_, err = tx.Append("none", 1, entry("", "x"))
				f.conflict(err, "none", 1, 0)
				_, err = tx.Append("a", 0)
				f.conflict(err, "a", 0, 3)
				f.append(tx, "a", statestore.AnyVersion, entry("", "a4"))
				check(f, tx, statestore.EventQuery{Stream: "a"}, "a1", "a2", "a3", "a4")
			})
		}},
		{"a stream has a name", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				if _, err := tx.Append("", statestore.AnyVersion, entry("", "x")); err == nil {
					f.Error("an event without a stream was appended")
				}
			})
		}},
		{"an ID is added once to a stream", func(f *fixture) {
			var first statestore.Seq
			f.update(func(tx statestore.Tx) {
				first = f.append(tx, "a", 0, entry("id", "a1"), entry("id", "again"))
				if again := f.append(tx, "a", 1, entry("id", "again")); again != first {
					f.Errorf("the same ID again is %d, want %d", again, first)
				}
			})
			f.update(func(tx statestore.Tx) {
				if again := f.append(tx, "a", statestore.AnyVersion, entry("id", "later")); again != first {
					f.Errorf("the same ID later is %d, want %d", again, first)
				}
				f.append(tx, "a", 1, entry("id", "mixed"), entry("other", "a2"), entry("", "a3"), entry("", "a4"))
				f.append(tx, "b", 0, entry("id", "b1"))
				check(f, tx, statestore.EventQuery{Stream: "a"}, "a1", "a2", "a3", "a4")
				check(f, tx, statestore.EventQuery{Stream: "b"}, "b1")
				if events := f.events(tx, statestore.EventQuery{Stream: "a"}); events[3].Version != 4 || events[1].ID != "other" {
					f.Errorf("the stream is %+v", events)
				}
			})
		}},
		{"an ID that was rolled back is free", func(f *fixture) {
			failed := errors.New("no")
			err := f.store.Update(f.ctx, func(tx statestore.Tx) error {
				f.append(tx, "a", 0, entry("id", "undone"))
				return failed
			})
			if !errors.Is(err, failed) {
				f.Fatal(err)
			}
			f.update(func(tx statestore.Tx) { f.append(tx, "a", 0, entry("id", "a1")) })
			f.view(func(r statestore.Reader) { check(f, r, statestore.EventQuery{}, "a1") })
		}},
		{"data is copied", func(f *fixture) {
			e := entry("", "a1")
			f.update(func(tx statestore.Tx) {
				f.append(tx, "a", 0, e)
				e.Data[0] = 'X'
				f.events(tx, statestore.EventQuery{})[0].Data[1] = 'X'
			})
			e.Data[2] = 'X'
			f.view(func(r statestore.Reader) {
				f.events(r, statestore.EventQuery{})[0].Data[0] = 'X'
				if e := f.events(r, statestore.EventQuery{})[0]; string(e.Data) != `{"text":"a1"}` {
					f.Errorf("data is %s", e.Data)
				}
			})
		}},
	}
}
