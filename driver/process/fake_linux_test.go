package process_test

import "golang.org/x/sys/unix"

// loseLimit sets the resource limit back that children inherit from us.
func loseLimit() {
	var limit unix.Rlimit
	check(unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &limit))
	limit.Cur = limit.Max
	check(unix.Prlimit(0, unix.RLIMIT_LOCKS, &limit, nil))
}
