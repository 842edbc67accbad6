package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aesop/statestore"
)

// writeVariable makes TestWriteFixture write testdata/vN.db, N being the schema version of the code that runs. Before a change of
// the schema, run it on the code as it is and commit the file; the upgrade of that version is then proved on it for ever:
//
//	AESOP_TEST_WRITE=1 go test ./statestore/sqlite -run TestWriteFixture
const writeVariable = "AESOP_TEST_WRITE"

func TestWriteFixture(t *testing.T) {
	if os.Getenv(writeVariable) == "" {
		t.Skip("not applicable: writes a file for people to commit; " + writeVariable + " asks for it")
	}
	path := filepath.Join(t.TempDir(), "state.db")
	fillFixture(t, path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fmt.Sprintf("testdata/v%d.db", schemaVersion), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// fillFixture makes a database with some of everything: empty values, records written often, deleted and made anew, events with
// and without an id, of several streams and of more than a page.
func fillFixture(t *testing.T, path string) {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 678900, time.UTC)
	store, err := Open(t.Context(), Config{Path: path, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	update := func(fn func(tx statestore.Tx) error) {
		t.Helper()
		now = now.Add(time.Minute)
		testUpdate(t, store, fn)
	}
	for i := range 40 {
		update(func(tx statestore.Tx) error {
			job := fmt.Sprintf("job/w%d/item-ä%d", i%3, i%7)
			stream := []string{job, "wave/20260102-030405-abcd"}[i%2]
			_, put := tx.Put(statestore.Key(job), fmt.Appendf(nil, `{"n":%d}`, i), statestore.Any)
			_, empty := tx.Put(statestore.Key(fmt.Sprintf("mark/%d", i%5)), nil, statestore.Any)
			var entries []statestore.Entry
			for n := range 5 {
				entries = append(entries, statestore.Entry{ID: []string{"", fmt.Sprint(i, "/", n)}[n%2], Type: "test", Data: fmt.Appendf(nil, `{"i":%d,"n":%d}`, i, n)})
			}
			_, appended := tx.Append(stream, statestore.AnyVersion, append(entries, statestore.Entry{Type: "without data"})...)
			return errors.Join(put, empty, appended)
		})
		if i%8 == 7 {
			update(func(tx statestore.Tx) error { return tx.Delete("mark/3", statestore.Any) })
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// content is all that a store holds, as text.
func content(t *testing.T, store statestore.Store) (lines []string) {
	t.Helper()
	for _, event := range testEvents(t, store) {
		lines = append(lines, fmt.Sprintf("%+v", event))
	}
	err := store.View(t.Context(), func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("%+v", record))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
