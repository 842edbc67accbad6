package model

// Bounds of the arrays in a state. A state is a plain value, so that it can be the key of a map.
const (
	maxItems = 2
	waves    = 2
)

// wave and commit are numbered from 1; 0 is nobody and absent. A wave's verified commit of an item is written to its journal
// once and for all, so the wave's number names the commit too.
type (
	waveID uint8
	commit = waveID
)

// status of an item in the tracker.
type status uint8

const (
	todo status = iota
	inProgress
	done
)

// state is everything that a crash leaves (store, tracker, remote, what each wave's journal says) and everything that it takes
// (what the waves' processes have in memory).
type state struct {
	jobs    [maxItems]job
	rows    [maxItems]row
	remote  remote
	waves   [waves]wave
	flying  [waves][2]push // pushes on their way, whose sender may be dead
	crashes uint8          // that may still happen
	reopens uint8          // that a person may still ask for

	accepted [maxItems]uint8 // pushes with the item's work that the remote took
	reopened [maxItems]uint8
}

// job is the item's live job in the store, and the shipments that the store has recorded.
type job struct {
	holder   waveID
	recorded uint8 // one bit a commit
}

// row is the item in the tracker.
type row struct {
	status  status
	holder  waveID
	token   uint8
	shipped commit // the recorded shipment; a reopening leaves it
}

// remote is what the remote holds. Where item refs are not pushed, item is what the signed trailers of the branches say.
type remote struct {
	branch [waves]bool
	item   [maxItems]commit
}

// push is one atomic push of a wave: its branch, from absent, and the refs of some of its items, each from its old value.
type push struct {
	items [maxItems]bool
	old   [maxItems]commit
}

// wave is one run of the engine. alive says that a process holds the wave's lock.
type wave struct {
	at    Step
	alive bool
	parts [maxItems]part
}

// part is an item in a wave. What is in the journal survives a crash.
type part struct {
	progress progress // journal
	intent   bool     // journal: a push of it may have begun
	recorded commit   // journal: the recorded shipment that the work is meant to replace
	known    commit   // journal: what shipped, of this wave or adopted

	mine  bool   // memory: the claim in the tracker was this wave's when it was resumed
	token uint8  // memory: of the claim; equal numbers are equal tokens, 0 is none
	saw   commit // memory: where the item ref was when it was last read
}

// progress of an item in a wave.
type progress uint8

const (
	out     progress = iota // not the wave's, or settled
	open                    // to be built and shipped
	shipped                 // on the remote; the tracker is to be told
)

// forget is what a crash does to a process.
func (w *wave) forget() {
	w.alive = false
	for i := range w.parts {
		p := &w.parts[i]
		p.mine, p.token, p.saw = false, 0, 0
	}
}

// any says whether some item of the wave has got so far.
func (w *wave) any(p progress) bool {
	for _, part := range w.parts {
		if part.progress == p {
			return true
		}
	}
	return false
}

// mint makes a token for a claim of the item: a number that nobody has. What orders claims for people, the epoch, decides nothing
// and is not in the model.
func (s *state) mint(i int) uint8 {
	for token := uint8(1); ; token++ {
		used := s.rows[i].token == token
		for _, w := range s.waves {
			used = used || w.parts[i].token == token
		}
		if !used {
			return token
		}
	}
}

// finished says that no process has anything to do and no push is on its way.
func (s *state) finished() bool {
	for w := range s.waves {
		if s.waves[w].at != Ended || s.flying[w] != [2]push{} {
			return false
		}
	}
	return true
}
