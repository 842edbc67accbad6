package model

import "fmt"

// Step is what can happen next: a step of the protocol, or one of the things that befall it.
type Step uint8

// The steps of a wave, in their order. A wave is at the step that it does next.
const (
	Plan         Step = iota // store: the wave is planned
	Resume                   // take the free lock of a dead wave, and look whose claims are still its own
	ClaimJob                 // store: take the items, drop those that another wave has
	ClaimTracker             // tracker: compare and swap, all or none; a refusal cancels the job
	ReadRef                  // remote: read the item refs
	Adopt                    // store: what the item refs say has shipped leaves the wave
	Build                    // store: agent, commit and tests, of which only the verified commit counts
	Intent                   // store: the push that comes
	Push                     // remote: one atomic push sets out
	Ask                      // remote: read the item refs again, whatever the push said
	Terminals                // store: what shipped, of this wave or another; else push again
	Settle                   // tracker: done, with the commit
	Report                   // write the report and let go of the lock
	Ended

	Land   // the remote decides a push that is on its way
	Crash  // the process of a wave dies
	Renew  // a holder learns that its claim in the tracker is lost
	Reopen // a person wants a done item done again
)

// String is the step's name.
func (s Step) String() string {
	return [...]string{"plan", "resume", "claim job", "claim in tracker", "read item ref", "adopt", "build", "push intent", "push",
		"ask remote", "terminals", "settle", "report", "ended", "push lands", "crash", "claim lost", "reopen"}[s]
}

// Move is one step in a trace.
type Move struct {
	Wave   waveID // 0 where a person moved
	Do     Step
	At     Step   // where the wave was
	Lapsed leases // of others, that it found to have run out
}

// leases says, for each item, whose lease was found to have run out, and where that wave was.
type leases [maxItems]struct {
	holder waveID
	at     Step
}

func (l leases) has(i int) bool { return l[i].holder != 0 }

// String is a line of a trace.
func (m Move) String() string {
	if m.Wave == 0 {
		return "a person: " + m.Do.String()
	}
	text := fmt.Sprintf("wave %s: %v", m.Wave, m.Do)
	if m.Do == Crash || m.Do == Renew {
		text += fmt.Sprintf(" before %v", m.At)
	}
	for _, l := range m.Lapsed {
		if l.holder != 0 {
			text += fmt.Sprintf(", the lease of %s lapsed before %v", l.holder, l.at)
		}
	}
	return text
}

// String is the wave's letter.
func (w waveID) String() string { return string(rune('A' + w - 1)) }

// moves yields every state that may follow s.
func (c Config) moves(s state, yield func(Move, state)) {
	for n := range s.waves {
		if n > 0 && s.waves[n-1].at == Plan {
			break // waves are alike: they begin in the order of their names
		}
		c.wave(s, n, yield)
	}
	for i := range c.Items {
		if s.reopens > 0 && s.rows[i].status == done {
			next := s
			next.reopens--
			next.reopened[i]++
			next.rows[i].status = todo
			yield(Move{Do: Reopen}, next)
		}
	}
}

// wave yields what may happen to a wave: its push lands, it takes its next step, it dies, it learns of a lost claim. A pause
// needs no move of its own: it is that others move.
func (c Config) wave(s state, n int, yield func(Move, state)) {
	w, move := s.waves[n], Move{Wave: waveID(n + 1), At: s.waves[n].at}
	try := func(do Step, change func(*state) bool) {
		if next := s; change(&next) {
			move.Do = do
			yield(move, next)
		}
	}
	for k, p := range s.flying[n] {
		if p != (push{}) {
			try(Land, func(s *state) bool { c.land(s, n, k); return true })
		}
	}
	if w.alive && s.crashes > 0 {
		try(Crash, func(s *state) bool { s.crash(n); return true })
	}
	if w.alive && ReadRef <= w.at && w.at <= Push {
		try(Renew, func(s *state) bool { return s.renew(n) })
	}
	if w.at != Ended {
		for _, move.Lapsed = range s.lapses(n) {
			try(w.at, func(s *state) bool { return c.step(s, n, move.Lapsed) })
		}
	}
}

// lapses are the ways in which a wave may find the leases that its next step looks at. Any of them may have run out whenever
// somebody looks: its holder is dead, or paused, or has just renewed it.
func (s *state) lapses(n int) []leases {
	all := []leases{{}}
	for i := range s.rows {
		holder := s.rows[i].holder
		switch s.waves[n].at {
		case Plan, ClaimTracker:
		case ClaimJob:
			holder = s.jobs[i].holder
		default:
			return all
		}
		if holder == 0 || holder == waveID(n+1) {
			continue
		}
		for _, l := range all {
			l[i].holder, l[i].at = holder, s.waves[holder-1].at
			all = append(all, l)
		}
	}
	return all
}

// step does the wave's next step; false: it cannot be done now.
func (c Config) step(s *state, n int, lapsed leases) bool {
	w := &s.waves[n]
	switch w.at {
	case Plan:
		c.plan(s, w, lapsed)
	case Resume:
		c.resume(s, n)
	case ClaimJob:
		s.claimJobs(n, lapsed)
	case ClaimTracker:
		c.claimTracker(s, n, lapsed)
	case ReadRef, Ask:
		for i := range w.parts {
			if w.parts[i].progress == open {
				w.parts[i].saw = s.remote.item[i]
			}
		}
		w.at++
	case Adopt:
		if !c.decide(s, n) {
			w.at = Build
		}
	case Build:
		w.at++
	case Intent:
		for i := range w.parts {
			w.parts[i].intent = w.parts[i].progress == open
		}
		w.at++
	case Push:
		return s.push(n)
	case Terminals:
		if !c.decide(s, n) {
			w.at = Intent
		}
	case Settle:
		s.settle(n)
	case Report:
		w.forget()
		w.at = Ended
	}
	return true
}

// plan selects what nobody holds.
func (c Config) plan(s *state, w *wave, lapsed leases) {
	for i := range c.Items {
		if r := s.rows[i]; r.free(lapsed.has(i)) {
			w.parts[i] = part{progress: open}
			if !c.RecordUnderClaim {
				w.parts[i].recorded = r.shipped
			}
		}
	}
	w.alive, w.at = true, ClaimJob
	if !w.any(open) {
		w.at = Report
	}
}

// free says whether a stranger may claim the item.
func (r row) free(lapsed bool) bool { return r.status == todo || r.status == inProgress && lapsed }
