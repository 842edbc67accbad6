package claude

import "time"

// With sets what tests need to be quick and certain.
func (d *Driver) With(linger time.Duration, now time.Time) *Driver {
	d.linger, d.now = linger, func() time.Time { return now }
	return d
}
