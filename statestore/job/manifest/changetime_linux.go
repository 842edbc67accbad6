package manifest

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when the file's content or status last changed, by the kernel's clock: unlike the time of modification, it cannot be set.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}
