package main

import (
	"strings"
	"testing"

	"aesop/statestore"
	"aesop/statestore/outbox"
)

// TestDamagedNewsHidesNothingElse: what is owed to the others is told all the same.
func TestDamagedNewsHidesNothingElse(t *testing.T) {
	store := statestore.NewMemory(statestore.MemoryConfig{})
	err := store.Update(t.Context(), func(tx statestore.Tx) error {
		for _, name := range []string{"bad", "good", "lost"} {
			if err := outbox.Subscribe(tx, outbox.Subscription{Name: name}); err != nil {
				return err
			}
		}
		at, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{Type: "wave.ended"})
		if err != nil {
			return err
		}
		if _, err := outbox.Add(tx, at, outbox.Intent{Kind: "wave.ended", Subject: "s", Seq: 1, Data: []byte("{}")}); err != nil {
			return err
		}
		for record, err := range tx.Scan(statestore.Range{Prefix: "outbox/queue/bad/"}) {
			if err != nil {
				return err
			}
			if _, err := tx.Put(record.Key, []byte("{"), statestore.Any); err != nil {
				return err
			}
		}
		_, err = tx.Put("outbox/sink/lost", []byte("{"), statestore.Any)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := owedNews(t.Context(), store)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for i, want := range []struct{ name, says string }{{"bad", "is damaged"}, {"good", ""}, {"lost", "outbox/sink/lost is damaged"}} {
		if r := rows[i]; r.Receiver != want.name || r.Owed != 1 || want.says == "" && r.LastError != "" || !strings.Contains(r.LastError, want.says) {
			t.Errorf("row %d is %+v, want %+v", i, r, want)
		}
	}
}
