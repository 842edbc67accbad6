package sqlite

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// readSharedHead reads in a thread with a table of descriptors of its own, which ends with it: closing the file in the common table
// would drop the locks that other handles of this process have on it. Where a thread may not do that, the answer is none.
func readSharedHead(path string) ([]byte, error) {
	type answer struct {
		head []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends with this goroutine
		read := readApart
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread() // but the main thread never ends: it is kept busy while another one reads
			read = readSharedHead
		}
		head, err := read(path)
		answers <- answer{head, err}
	}()
	a := <-answers
	return a.head, a.err
}

// readApart begins with a copy of the table of descriptors, not with an empty one: what the runtime of Go does on this thread needs its own,
// and ends the process without a word where it has none. For as long as the thread lives, what others close stays open in the copy.
func readApart(path string) ([]byte, error) {
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		return nil, nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	head := make([]byte, sharedHead)
	n, err := unix.Pread(fd, head, 0)
	return head[:max(n, 0)], err
}
