//go:build unix

package tree

import (
	"io/fs"
	"syscall"

	"aesop/internal/git"
)

// openFlags keep a fifo that was swapped in from blocking the reader.
const openFlags = syscall.O_NONBLOCK

func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

func modeOf(info fs.FileInfo, _ git.Entry) string {
	if info.Mode()&0o100 != 0 {
		return executable
	}
	return regular
}
