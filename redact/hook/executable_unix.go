//go:build unix

package hook

import "golang.org/x/sys/unix"

// executable says whether git would run a file. Its mode alone does not tell: it can give the right to others only, and a file system can
// be mounted so that nothing runs from it.
func executable(path string) bool { return unix.Access(path, unix.X_OK) == nil }
