package sqlite

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
)

// old is a database of schema version 1, made by the code of that time, in a new folder.
func old(t *testing.T) (path string, data []byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/v1.db")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// fresh is what a database of today holds that was filled like the fixtures.
func fresh(t *testing.T) (path string, lines []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	fillFixture(t, path)
	return path, content(t, testOpen(t, path))
}

// tables are the statements that made a database.
func tables(t *testing.T, path string) (lines []string) {
	t.Helper()
	c, err := dialReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	err = c.query("SELECT name, coalesce(sql, '') FROM sqlite_schema", func(row []driver.Value) error {
		lines = append(lines, fmt.Sprint(row))
		return nil
	})
	if err := errors.Join(err, c.close()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

func TestUpgrade(t *testing.T) {
	freshPath, want := fresh(t)
	path, _ := old(t)
	store := testOpen(t, path)
	if diff := cmp.Diff(want, content(t, store)); diff != "" {
		t.Errorf("fresh (-) and upgraded (+) differ:\n%s", diff)
	}
	if diff := cmp.Diff(tables(t, freshPath), tables(t, path)); diff != "" {
		t.Errorf("the schemas of fresh (-) and upgraded (+) differ:\n%s", diff)
	}
	testUpdate(t, store, func(tx statestore.Tx) error { // revisions and ids go on where they were
		rev, err := tx.Put("mark/3", nil, 0)
		if err == nil && rev <= 1 {
			t.Errorf("a record made anew has revision %d", rev)
		}
		_, again := tx.Append("wave/20260102-030405-abcd", 120, statestore.Entry{ID: "1/1"})
		return errors.Join(err, again)
	})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	testOpen(t, path)
	if left, _ := filepath.Glob(path + ".*"); len(left) != 1 || left[0] != path+".v1.backup" {
		t.Errorf("beside it lie %v, want one backup", left)
	}
	info, err := os.Stat(path + ".v1.backup")
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the backup is %v (%v)", info, err)
	}
}

// TestUpgradeOfACrashed upgrades what a killed process of the older version left in its log.
func TestUpgradeOfACrashed(t *testing.T) {
	path, _ := old(t)
	writer, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.exec("INSERT INTO records VALUES ('in the log', x'01', 7)"); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "state.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.close(); err != nil {
		t.Fatal(err)
	}
	if got := testGet(t, testOpen(t, copied), "in the log"); got != "\x01" {
		t.Errorf("it reads %q", got)
	}
	backup := filepath.Join(t.TempDir(), "state.db")
	if err := os.Rename(copied+".v1.backup", backup); err != nil {
		t.Fatal(err)
	}
	if got := testGet(t, testOpen(t, backup), "in the log"); got != "\x01" {
		t.Errorf("the backup reads %q", got)
	}
}

func TestUpgradeOverwritesNoBackup(t *testing.T) {
	path, _ := old(t)
	if err := os.WriteFile(path+".v1.backup", []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	testOpen(t, path)
	if data, err := os.ReadFile(path + ".v1.backup"); string(data) != "somebody's" {
		t.Errorf("the backup that was there is %q (%v)", data, err)
	}
	if version, err := examine(path + ".v1.backup.2"); version != 1 || err != nil {
		t.Errorf("the new backup has version %d (%v)", version, err)
	}
}

// TestUpgradeRefuses has databases of version 1 that no code of ours wrote.
func TestUpgradeRefuses(t *testing.T) {
	for name, statement := range map[string]string{
		"a version twice": "INSERT INTO events SELECT max(seq) + 1, stream, version, '', 'x', data, at FROM events",
		"a version later": "INSERT INTO events SELECT max(seq) + 1, stream, version + 2, '', 'x', data, at FROM events",
		"a gap":           "DELETE FROM events WHERE seq = 50",
		"a gap behind":    "UPDATE events SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM events)",
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := old(t)
			raw(t, path, statement)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(t.Context(), Config{Path: path})
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Path != path || !strings.Contains(err.Error(), "event") {
				t.Errorf("error is %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// TestForeignWriters has what other programs and older binaries may try on the file.
func TestForeignWriters(t *testing.T) {
	path, _ := fresh(t)
	for name, statement := range map[string]string{
		"a version twice":         "INSERT INTO events SELECT max(seq) + 1, stream, version, '', 'x', data, at, sum FROM events",
		"an event of version 1":   "INSERT INTO events VALUES (1000, 's', 1, '', 'x', x'', 1)",
		"a record of version 1":   "INSERT INTO records VALUES ('k', x'', 1)",
		"an id twice in a stream": "INSERT INTO events SELECT 1000, stream, 1000, id, 'x', data, at, sum FROM events WHERE id <> '' LIMIT 1",
	} {
		c, err := dial(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.exec(statement); err == nil {
			t.Errorf("%s was written", name)
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}
	raw(t, path, "UPDATE records SET value = x'00', rev = rev + 1 WHERE key = 'mark/0'") // as version 1 does
	store := testOpen(t, path)
	err := store.View(t.Context(), func(r statestore.Reader) error { _, err := r.Get("mark/0"); return err })
	var damaged *DamagedError
	if !errors.As(err, &damaged) {
		t.Errorf("a record that version 1 changed: %v", err)
	}
}

// TestUpgradedUnderAnOpenStore has a newer binary upgrade the file that this one has open.
func TestUpgradedUnderAnOpenStore(t *testing.T) {
	path := filled(t)
	store := testOpen(t, path)
	testPut(t, store, "k/000", "before")
	raw(t, path, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1))
	before := readCommitted(t, path)
	calls := map[string]error{
		"view":   store.View(t.Context(), func(statestore.Reader) error { t.Error("it was read"); return nil }),
		"update": store.Update(t.Context(), func(statestore.Tx) error { t.Error("it was written to"); return nil }),
	}
	for name, err := range calls {
		var schema *SchemaError
		if !errors.As(err, &schema) || schema.Found != schemaVersion+1 || schema.Path != path {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if after := readCommitted(t, path); !slices.Equal(before, after) {
		t.Error("the database was changed")
	}
}

// readCommitted is what a foreign program sees of the records.
func readCommitted(t *testing.T, path string) (lines []string) {
	t.Helper()
	c, err := dialReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	err = c.query("SELECT key, rev, sum FROM records", func(row []driver.Value) error {
		lines = append(lines, fmt.Sprint(row))
		return nil
	})
	if err := errors.Join(err, c.close()); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestNewerSchemaIsLeftAlone looks at every byte, also of a log that a newer binary left.
func TestNewerSchemaIsLeftAlone(t *testing.T) {
	path := filled(t)
	writer, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.exec(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1)); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "state.db")
	before := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		if before[suffix], err = os.ReadFile(path + suffix); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, before[suffix], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.close(); err != nil {
		t.Fatal(err)
	}
	var schema *SchemaError
	if _, err := Open(t.Context(), Config{Path: copied}); !errors.As(err, &schema) || schema.Found != schemaVersion+1 {
		t.Errorf("error is %v", err)
	}
	for suffix, want := range before {
		if got, err := os.ReadFile(copied + suffix); err != nil || !bytes.Equal(got, want) {
			t.Errorf("state.db%s was changed (%v)", suffix, err)
		}
	}
	if backups, _ := filepath.Glob(copied + "*backup*"); len(backups) > 0 {
		t.Errorf("backups were made: %v", backups)
	}
}

// TestForeignHands has rows that another program removed or changed, and SQLite finds nothing wrong with.
func TestForeignHands(t *testing.T) {
	get := func(store *Store) error {
		return store.View(t.Context(), func(r statestore.Reader) error { _, err := r.Get("mark/0"); return err })
	}
	scan := func(store *Store) error {
		return store.View(t.Context(), func(r statestore.Reader) (err error) {
			for _, err = range r.Scan(statestore.Range{}) {
			}
			return err
		})
	}
	events := func(q statestore.EventQuery) func(*Store) error {
		return func(store *Store) error {
			return store.View(t.Context(), func(r statestore.Reader) (err error) {
				for _, err = range r.Events(q) {
				}
				return err
			})
		}
	}
	all, stream := events(statestore.EventQuery{}), events(statestore.EventQuery{Stream: "wave/20260102-030405-abcd", After: 200})
	create := func(store *Store) error {
		return store.Update(t.Context(), func(tx statestore.Tx) error { _, err := tx.Put("new", nil, 0); return err })
	}
	for name, c := range map[string]struct {
		statement string
		calls     []func(*Store) error
	}{
		"a value":                {"UPDATE records SET value = x'00' WHERE key = 'mark/0'", []func(*Store) error{get, scan}},
		"a revision":             {"UPDATE records SET rev = 1 WHERE key = 'mark/0'", []func(*Store) error{get, scan}},
		"the data of an event":   {"UPDATE events SET data = x'' WHERE seq = 226", []func(*Store) error{all, stream}},
		"the time of an event":   {"UPDATE events SET at = at + 1 WHERE seq = 226", []func(*Store) error{all, stream}},
		"the id of an event":     {"UPDATE events SET id = 'other' WHERE seq = 226", []func(*Store) error{all, stream}},
		"the stream of an event": {"UPDATE events SET stream = 'other' WHERE seq = 226", []func(*Store) error{all, stream}},
		"an event is gone":       {"DELETE FROM events WHERE seq = 226", []func(*Store) error{all, stream}},
		"the first is gone":      {"DELETE FROM events WHERE seq = 1", []func(*Store) error{all}},
		"what was deleted":       {"DELETE FROM deleted", []func(*Store) error{create}},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := fresh(t)
			raw(t, path, c.statement)
			store := testOpen(t, path)
			for i, call := range c.calls {
				var damaged *DamagedError
				if err := call(store); !errors.As(err, &damaged) || damaged.Path != path {
					t.Errorf("call %d: error is %v", i, err)
				}
			}
		})
	}
}

// TestDamagedTime has the newest event, whose time is that of every transaction after it, put into the future.
func TestDamagedTime(t *testing.T) {
	path, _ := fresh(t)
	store := testOpen(t, path)
	raw(t, path, "UPDATE events SET at = at + 1000000000000 WHERE seq = (SELECT max(seq) FROM events)")
	_, opened := Open(t.Context(), Config{Path: path})
	for what, err := range map[string]error{
		"view":   store.View(t.Context(), func(r statestore.Reader) error { t.Errorf("it is %v", r.Now()); return nil }),
		"update": store.Update(t.Context(), func(tx statestore.Tx) error { t.Errorf("it is %v", tx.Now()); return nil }),
		"open":   opened,
	} {
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			t.Errorf("%s: error is %v", what, err)
		}
	}
}
