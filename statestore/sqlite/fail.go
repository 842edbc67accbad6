//go:build !failpoint

package sqlite

// fail does nothing in ordinary builds; see fail_on.go.
func fail(string) {}
