package process

import (
	"context"
	"time"
)

// emptyScans is how many looks in a row must find nothing: a process that forks and ends while we look can slip through one.
const emptyScans = 3

// Kill kills every process of this user whose mark matches, with its descendants, but never this process, and returns what
// was still there when ctx ended. It is for what an earlier, dead process of ours left behind. An error says that processes
// could not be looked at.
func Kill(ctx context.Context, match func(mark string) bool) ([]Survivor, error) {
	limits := map[uint64]bool{} // of the marks that matched, for relatives without an environment
	return eradicate(ctx, 0, func(p *process) bool {
		if mark := p.mark(); mark != "" && match(mark) && p.ours() {
			limits[limitOf(mark)] = true
			return true
		}
		return len(limits) > 0 && limits[p.locks()] && p.ours()
	})
}

// eradicate kills the members and their descendants until several looks in a row find none, or until ctx ends; then it
// returns those that the last look found. Processes older than since are no members.
func eradicate(ctx context.Context, since uint64, member func(*process) bool) ([]Survivor, error) {
	older := map[int]bool{}
	killed := map[int]uint64{} // start by pid: who is dying has perhaps lost the parent by which it was found
	dying := func(p *process) bool { start, known := killed[p.pid]; return known && start == p.start || member(p) }
	pause := time.Millisecond
	for empty := 0; empty < emptyScans; {
		all, err := processes(since, older)
		if err != nil {
			return nil, err
		}
		found := family(all, dying)
		if len(found) == 0 {
			empty++
			continue
		}
		empty = 0
		for _, p := range found {
			p.kill()
			killed[p.pid] = p.start
		}
		if !wait(ctx, pause) {
			return survivors(found), nil
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
	return nil, nil
}

// wait says whether ctx still held after d.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err() == nil
}

// family picks the members and everything that descends from one.
func family(all []process, member func(*process) bool) []process {
	in := make(map[int]bool)
	var found, rest []process
	for i := range all {
		if member(&all[i]) {
			in[all[i].pid] = true
			found = append(found, all[i])
		} else {
			rest = append(rest, all[i])
		}
	}
	for grown := len(found) > 0; grown; {
		grown = false
		var left []process
		for _, p := range rest {
			if in[p.parent] {
				in[p.pid], grown = true, true
				found = append(found, p)
			} else {
				left = append(left, p)
			}
		}
		rest = left
	}
	return found
}

func survivors(found []process) []Survivor {
	list := make([]Survivor, len(found))
	for i := range found {
		list[i] = found[i].survivor()
	}
	return list
}
