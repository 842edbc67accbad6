//go:build failpoint

package sqlite

import "os"

// fail ends the process at once when AESOP_FAILPOINT names the point: the tests' power cut. The points are listed in
// crash_test.go, which compares them with the calls.
func fail(point string) {
	if os.Getenv("AESOP_FAILPOINT") != point {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(os.Kill)
		select {}
	}
}
