package process_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// awaitLimit returns when we have the resource limit that marks us: it is set a moment after our start.
func awaitLimit() {
	var limit unix.Rlimit
	for tick := time.NewTicker(time.Millisecond); limit.Cur == limit.Max; <-tick.C {
		check(unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &limit))
	}
}

// loseLimit sets the resource limit back that children inherit from us.
func loseLimit() {
	var limit unix.Rlimit
	check(unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &limit))
	limit.Cur = limit.Max
	check(unix.Prlimit(0, unix.RLIMIT_LOCKS, &limit, nil))
}
