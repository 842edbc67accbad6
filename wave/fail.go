//go:build !failpoint

package wave

// fail does nothing in ordinary builds; see fail_on.go.
func fail(string) {}
