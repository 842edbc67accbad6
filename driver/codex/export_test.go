package codex

import "time"

// With sets what tests need to be quick.
func (d *Driver) With(linger time.Duration) *Driver {
	d.linger = linger
	return d
}
