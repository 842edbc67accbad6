package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"aesop/tracker"
)

// The table is searched as a model: all states that one job can come to, with the few tokens, rounds and moments that make a difference.
const (
	modelTokens = 3
	modelRounds = 3
)

// world is a state of the model: the job, and what the requests about it can know.
type world struct {
	job       *Record
	used      int             // tokens that an attempt had: token(0) to token(used-1)
	completed map[string]bool // attempts that completed
}

// key tells worlds apart by what the table looks at. A transition's number says nothing but whether a request has seen it.
func (w world) key() string {
	if w.job == nil {
		return "none"
	}
	r := w.job
	return fmt.Sprintf("%s attempt=%s round=%d explicit=%t final=%t owed=%t used=%d completed=%v", r.Status, r.Attempt, r.Iteration,
		r.Explicit, r.Final, r.Intent != "", w.used, sortedKeys(w.completed))
}

func sortedKeys(set map[string]bool) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// move is a request in a world, with the time at which it is made, and what it rests on.
type move struct {
	ask   ask
	now   time.Time
	stale bool // its token, attempt, transition or intent is not that of the job
}

func (m move) String() string {
	return fmt.Sprintf("%s by %T at %s", m.ask.name, m.ask.by, m.now.Sub(start))
}

// moves are all requests that somebody could make in a world: by the right proof, and by every wrong one.
func (w world) moves() []move {
	var all []move
	add := func(stale bool, request Request) {
		for _, at := range []time.Time{start, start.Add(time.Hour)} { // before the deadline and after it
			a := request.ask()
			a.spent = a.name == "claim" && a.by.authority().token != token(byte(w.used))
			all = append(all, move{ask: a, now: at, stale: stale})
		}
	}
	add(false, Create{ID: "j", Item: "i", Wave: "w", Seat: "s", MaxIterations: modelRounds, AutoComplete: true})
	if w.used < modelTokens {
		add(false, Claim{ID: "j", Token: token(byte(w.used)), Deadline: start.Add(time.Minute)})
	}
	var attempt, intent string
	var seq, round int
	if w.job != nil {
		attempt, intent, seq, round = w.job.Attempt, w.job.Intent, w.job.TransitionSeq, w.job.Iteration
	}
	for n := range w.used {
		add(true, Claim{ID: "j", Token: token(byte(n))})
		mine := attempt != "" && tracker.AttemptID(token(byte(n))) == attempt
		by := Worker{Token: token(byte(n))}
		add(!mine, Progress{ID: "j", By: by, Fields: []byte(`{"n":1}`)})
		add(!mine, Timeout{ID: "j", By: Engine{Attempt: tracker.AttemptID(by.Token)}})
		add(!mine, Requeue{ID: "j", By: Engine{Attempt: tracker.AttemptID(by.Token)}})
		add(!mine, Infer{ID: "j", By: Gate{Attempt: tracker.AttemptID(by.Token), Enabled: true, Quiescent: true, Evidence: "e"}})
		for _, request := range ends(by) {
			add(!mine, request)
		}
	}
	for _, seen := range []int{seq - 1, seq} {
		by := Operator{TransitionSeq: seen}
		stale := seen != seq
		for _, request := range ends(by) {
			add(stale, request)
		}
		add(stale, Requeue{ID: "j", By: by})
		add(stale, Finalize{ID: "j", By: by, Reason: "r"})
		for next := round; next <= round+1; next++ {
			add(stale, Redispatch{ID: "j", By: by, Iteration: next})
			add(stale, Redispatch{ID: "j", By: Engine{TransitionSeq: seen}, Iteration: next})
		}
	}
	for _, sent := range []string{"old", "new"} {
		add(sent != intent, Settle{ID: "j", By: Notifier{Intent: sent}})
	}
	return all
}

func ends(by Authority) []Request {
	return []Request{Complete{ID: "j", By: by}, Fail{ID: "j", By: by}, Cancel{ID: "j", By: by}}
}

// after is the world that a move leads to, or false where nothing changes.
func (w world) after(rows []row, m move) (world, bool) {
	d := decide(rows, w.job, m.ask, m.now)
	if d.Outcome != Applied {
		return w, false
	}
	next := world{job: &d.Record, used: w.used, completed: w.completed}
	if m.ask.name == "claim" {
		next.used++
	}
	if d.Record.Status == Completed && w.job.Status == Running && d.Record.Attempt != "" {
		next.completed = map[string]bool{d.Record.Attempt: true}
		for k := range w.completed {
			next.completed[k] = true
		}
	}
	if d.Record.Status.Ended() && (w.job == nil || w.job.Status != d.Record.Status) {
		next.job.Intent = "new" // news of the end is owed
	}
	return next, true
}

// search visits every reachable world and every move in it that changes something.
func search(rows []row, visit func(from world, m move, to world)) map[string]world {
	seen := map[string]world{}
	for queue := []world{{}}; len(queue) > 0; queue = queue[1:] {
		w := queue[0]
		if _, ok := seen[w.key()]; ok {
			continue
		}
		seen[w.key()] = w
		for _, m := range w.moves() {
			if to, moved := w.after(rows, m); moved {
				visit(w, m, to)
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// violation says which promise a move that changed something broke, or "".
func violation(from world, m move, to world) string {
	before, after := from.job, to.job
	switch {
	case m.stale:
		return "a stale proof changes something"
	case before == nil:
		if m.ask.name != "create" || after.Status != Pending {
			return "a job begins otherwise than by create"
		}
		return ""
	case before.Status.Ended() && before.Explicit && !slices.Contains([]string{"redispatch", "finalize", "settle"}, m.ask.name):
		return "something other than redispatch, finalize and settle applies after an explicit end"
	case before.Final && m.ask.name != "settle":
		return "a final job changes"
	case after.Attempt != "" && after.Attempt != before.Attempt && m.ask.name != "claim":
		return "a token is minted by another request than claim"
	case before.Status == Running && after.Status == Completed && from.completed[before.Attempt]:
		return "one attempt completes twice"
	case m.ask.name == "settle" && (after.TransitionSeq != before.TransitionSeq || after.Status != before.Status):
		return "settle is a transition"
	case m.ask.name != "settle" && after.TransitionSeq != before.TransitionSeq+1:
		return "the transitions are not numbered one by one"
	case after.Iteration < before.Iteration || after.Iteration > modelRounds:
		return "the rounds go back or past their number"
	case after.Status == Running && after.Attempt == "" || after.Status == Pending && after.Attempt != "":
		return "attempt and status disagree"
	}
	return ""
}

func TestNothingInTheModelBreaksAPromise(t *testing.T) {
	worlds := search(table(), func(from world, m move, to world) {
		if broken := violation(from, m, to); broken != "" {
			t.Errorf("%s: %s in %s gives %s", broken, m, from.key(), to.key())
		}
	})
	t.Logf("%d states", len(worlds))
	if len(worlds) < 100 {
		t.Errorf("the search saw %d states only", len(worlds))
	}
}

// adversities are what requests remain when something goes wrong, from which an end must still be reachable.
var adversities = map[string]func(world, move) bool{
	"crash": func(_ world, m move) bool { // the tokens died with their holders
		return m.ask.by.authority().role != worker
	},
	"HALT": func(_ world, m move) bool { // nothing is dispatched
		return !slices.Contains([]string{"create", "claim", "redispatch"}, m.ask.name)
	},
	"timeout": func(w world, m move) bool { // a running attempt says nothing more, and only the clock goes on
		return w.job.Status != Running || m.ask.name == "timeout"
	},
}

func TestFromEveryStateAnEndIsReachable(t *testing.T) {
	for name, possible := range adversities {
		t.Run(name, func(t *testing.T) {
			ways := map[string][]string{}
			worlds := search(table(), func(from world, m move, to world) {
				if from.job != nil && possible(from, m) {
					ways[from.key()] = append(ways[from.key()], to.key())
				}
			})
			ended := map[string]bool{}
			for grown := true; grown; {
				grown = false
				for key, w := range worlds {
					if ended[key] || w.job == nil {
						continue
					}
					if w.job.Status.Ended() || slices.ContainsFunc(ways[key], func(to string) bool { return ended[to] }) {
						ended[key], grown = true, true
					}
				}
			}
			for key, w := range worlds {
				if w.job != nil && !ended[key] {
					t.Errorf("nothing ends %s", key)
				}
			}
		})
	}
}

// TestTheModelSeesABrokenTable breaks the table in the ways that the promises are about, and demands that the search notices each.
func TestTheModelSeesABrokenTable(t *testing.T) {
	for request, broken := range map[string]struct {
		violation string
		change    func(*row)
	}{
		"complete":   {"a stale proof changes something", func(r *row) { r.by = map[role]check{worker: unproven} }},
		"redispatch": {"a final job changes", func(r *row) { r.checks = r.checks[1:] }},
		"cancel":     {"something other than redispatch, finalize and settle applies after an explicit end", func(r *row) { r.from = append(r.from, Failed) }},
		"fail":       {"the transitions are not numbered one by one", func(r *row) { r.quiet = true }},
		"settle":     {"settle is a transition", func(r *row) { r.quiet = false }},
		"requeue":    {"attempt and status disagree", func(r *row) { r.effect = nil }},
		"progress":   {"a token is minted by another request than claim", func(r *row) { r.effect = func(r *Record, _ ask) { r.Attempt = "other" } }},
	} {
		t.Run(request, func(t *testing.T) {
			rows := table()
			for i := range rows {
				if rows[i].request == request {
					broken.change(&rows[i])
				}
			}
			seen := map[string]bool{}
			search(rows, func(from world, m move, to world) { seen[violation(from, m, to)] = true })
			if !seen[broken.violation] {
				t.Errorf("the search sees %v and not %q", seen, broken.violation)
			}
		})
	}
}
