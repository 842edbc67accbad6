package sqlite

import (
	"database/sql/driver"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkBareTransaction is the floor for BenchmarkTransitionSerial: the same statements without store, gate and savepoint.
func BenchmarkBareTransaction(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	if err := create(path); err != nil {
		b.Fatal(err)
	}
	c, err := dial(path, "synchronous = FULL")
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	value := make([]byte, 256)
	exec := func(query string, args ...driver.Value) {
		if _, err := c.exec(query, args...); err != nil {
			b.Fatal(err)
		}
	}
	for i := int64(0); b.Loop(); i++ {
		k := "job/" + strconv.FormatInt(i%1000, 10)
		exec("BEGIN IMMEDIATE")
		if _, _, err := c.integer("SELECT rev FROM records WHERE key = ?", k); err != nil {
			b.Fatal(err)
		}
		exec("INSERT INTO records VALUES (?1, ?2, ?3, 0) ON CONFLICT DO UPDATE SET value = ?2, rev = ?3", k, value, i)
		exec("INSERT INTO events VALUES (?, ?, ?, '', 'job.claim', ?, 1, 0)", i+1, k, i+1, value)
		exec("COMMIT")
	}
}
