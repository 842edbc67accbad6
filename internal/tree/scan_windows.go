package tree

import (
	"io/fs"

	"aesop/internal/git"
)

const openFlags = 0

// links: a file's link count is not part of what Windows tells about it here.
func links(fs.FileInfo) uint64 { return 1 }

// modeOf keeps the mode of the base, since the file system has no executable bit.
func modeOf(_ fs.FileInfo, entry git.Entry) string {
	if entry.Mode == executable {
		return executable
	}
	return regular
}
