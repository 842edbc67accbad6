//go:build failpoint

package wave

import (
	"os"
)

// fail ends the process at once when AESOP_FAILPOINT names the point: the tests' power cut. Points are the event types, hit after
// the event is stored, and "tracker_claim", "commit", "push", "tracker" and "report", hit after those effects and before they are written down.
func fail(point string) {
	if os.Getenv("AESOP_FAILPOINT") != point {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = self.Signal(os.Kill)
		select {}
	}
}
