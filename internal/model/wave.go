package model

// crash ends the wave's process, and with it what it had in memory.
func (s *state) crash(n int) {
	s.crashes--
	s.waves[n].forget()
	s.waves[n].at = Resume
}

// resume takes the lock of a wave whose process is dead. An item whose claim is not the wave's any more is given up where a push
// of it may have begun, also if it could be claimed afresh: that push may have been adopted, settled and reopened meanwhile.
func (c Config) resume(s *state, n int) {
	w := &s.waves[n]
	w.alive = true
	for i := range w.parts {
		p := &w.parts[i]
		p.mine = p.progress != out && s.rows[i].holder == waveID(n+1)
		if !p.mine && (c.YieldPushed && p.intent || p.progress == shipped) {
			s.drop(n, i)
		}
	}
	w.at = ClaimJob
	if !w.any(open) && !w.any(shipped) {
		w.at = Report
	}
}

// drop takes an item out of a wave, and ends its job there.
func (s *state) drop(n, i int) {
	s.waves[n].parts[i] = part{}
	s.endJob(n, i)
}

func (s *state) endJob(n, i int) {
	if j := &s.jobs[i]; j.holder == waveID(n+1) {
		j.holder = 0
	}
}

// claimJobs takes the items in the store. A job that is live and another wave's is respected: a new wave goes on without the
// item; a resumed one, whom the tracker still names as the holder, gives way until that job has ended or lapsed.
func (s *state) claimJobs(n int, lapsed leases) {
	w, self := &s.waves[n], waveID(n+1)
	for i := range w.parts {
		p, j := &w.parts[i], s.jobs[i]
		if p.progress != open || j.holder == 0 || j.holder == self || lapsed.has(i) {
			continue
		}
		if p.mine {
			w.forget()
			w.at = Resume
			return
		}
		s.drop(n, i)
	}
	for i := range w.parts {
		if w.parts[i].progress == open {
			s.jobs[i].holder = self
		}
	}
	w.at = ClaimTracker
	if !w.any(open) && !w.any(shipped) {
		w.at = Report
	}
}

// claimTracker writes all claims in one swap, under new tokens; what is refused leaves the wave, and the rest is tried again.
func (c Config) claimTracker(s *state, n int, lapsed leases) {
	w, self := &s.waves[n], waveID(n+1)
	refused := false
	for i := range w.parts {
		p, r := &w.parts[i], s.rows[i]
		if p.progress != out && (p.mine && r.holder != self || !p.mine && !r.free(lapsed.has(i))) {
			s.drop(n, i)
			refused = true
		}
	}
	switch {
	case !w.any(open) && !w.any(shipped):
		w.at = Report
		return
	case refused:
		return
	case w.any(open):
		w.at = ReadRef
	default:
		w.at = Settle
	}
	for i := range w.parts {
		p, r := &w.parts[i], &s.rows[i]
		if p.progress == out {
			continue
		}
		p.mine, p.token = false, s.mint(i)
		r.status, r.holder, r.token = inProgress, self, p.token
		if c.RecordUnderClaim {
			p.recorded = r.shipped
		}
	}
}

// decide takes what the item refs say into the journal. True: the wave has got further than its next step.
func (c Config) decide(s *state, n int) (further bool) {
	w := &s.waves[n]
	landed, adopted := true, false // of all open items: refs of one push move together
	for _, p := range w.parts {
		landed = landed && (p.progress != open || p.intent && p.saw == waveID(n+1))
	}
	for i := range w.parts {
		p := &w.parts[i]
		if p.progress != open || !landed && !(c.Adopt && p.saw != p.recorded) {
			continue
		}
		s.jobs[i].recorded |= 1 << p.saw
		*p = part{progress: shipped, known: p.saw, token: p.token}
		s.endJob(n, i)
		adopted = true
	}
	if !w.any(open) {
		w.at = Settle
		return true
	}
	if adopted && w.at == Terminals {
		w.at = Intent // the rest is joined anew
		return true
	}
	return false
}

// push sends a push on its way. The lease of an item ref is what was read: with the rule of adoption that is the recorded
// shipment, or else the item would have left the wave. Two equal pushes are one, since the first takes the branch.
func (s *state) push(n int) bool {
	var p push
	for i, part := range s.waves[n].parts {
		if part.progress == open {
			p.items[i], p.old[i] = true, part.saw
		}
	}
	s.waves[n].at = Ask
	for k, f := range s.flying[n] {
		if f == p {
			return true
		}
		if f == (push{}) {
			s.flying[n][k] = p
			return true
		}
	}
	return false
}

// land is the remote's decision about a push: all of it or nothing. It comes whenever it comes, to a process that waits, has
// gone on, or is dead.
func (c Config) land(s *state, n, k int) {
	p := s.flying[n][k]
	s.flying[n][k] = push{}
	if k == 0 { // keep the places in order, so that equal states are equal
		s.flying[n] = [2]push{s.flying[n][1], {}}
	}
	if s.remote.branch[n] {
		return
	}
	for i := range p.items {
		if c.ItemRef && p.items[i] && s.remote.item[i] != p.old[i] {
			return
		}
	}
	s.remote.branch[n] = true
	for i := range p.items {
		if p.items[i] {
			s.remote.item[i] = waveID(n + 1)
			s.accepted[i]++
		}
	}
}

// renew drops the items whose claim the tracker gives to another; false: there is none.
func (s *state) renew(n int) (lost bool) {
	w := &s.waves[n]
	for i := range w.parts {
		if w.parts[i].progress == open && w.parts[i].token != s.rows[i].token {
			s.drop(n, i)
			lost = true
		}
	}
	if lost && !w.any(open) {
		w.at = Settle
	}
	return lost
}

// settle tells the tracker what shipped. The token of a claim that was lost is refused: its new holder finds the shipment on the
// remote.
func (s *state) settle(n int) {
	w := &s.waves[n]
	for i := range w.parts {
		p, r := &w.parts[i], &s.rows[i]
		if p.progress == shipped && r.token == p.token {
			*r = row{status: done, shipped: p.known}
		}
		w.parts[i] = part{}
	}
	w.at = Report
}
