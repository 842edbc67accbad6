package sqlite

import (
	"fmt"
)

const (
	schemaVersion = 2          // of this binary, in the database's user_version
	applicationID = 0x6165736f // "aeso": tells our databases from other programs'
)

// schema makes an empty database. Keys and streams are text so that people can look with any SQLite program; text compares by
// its bytes. The sums are those of recordSum and eventSum. The only row of deleted is the greatest revision that a deleted record
// had: new records begin above it, so that no key has a revision twice.
func schema() []string {
	return []string{
		"CREATE TABLE records (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL, rev INTEGER NOT NULL, " +
			"sum INTEGER NOT NULL DEFAULT -1) STRICT",
		"CREATE TABLE events (seq INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL, id TEXT NOT NULL, " +
			"type TEXT NOT NULL, data BLOB NOT NULL, at INTEGER NOT NULL, sum INTEGER NOT NULL DEFAULT -1) STRICT",
		"CREATE UNIQUE INDEX events_id ON events (stream, id) WHERE id <> ''",
		uniqueVersion,
		"CREATE TABLE deleted (rev INTEGER NOT NULL) STRICT",
		"INSERT INTO deleted VALUES (0)",
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
	}
}

// uniqueVersion also finds the events of a stream in their order, and its newest version without a look at the table.
const uniqueVersion = "CREATE UNIQUE INDEX events_version ON events (stream, version)"

// SchemaError says that a database is not of the schema that this binary knows. It is left as it is.
type SchemaError struct {
	Path  string
	Found int // in the database
	Known int // to this binary
}

func (e *SchemaError) Error() string {
	if e.Found > e.Known {
		return fmt.Sprintf("%s has schema version %d and this binary knows %d: use a newer binary", e.Path, e.Found, e.Known)
	}
	return fmt.Sprintf("%s has schema version %d, which this binary (version %d) does not know", e.Path, e.Found, e.Known)
}
