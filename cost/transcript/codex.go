package transcript

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"aesop/cost"
)

// codexLine is what a line of Codex says: who the session is, which model is used from here on, or what was used so far.
type codexLine struct {
	kind, at []byte

	id, parent, spawner, made, agent []byte // of session_meta
	model, tier                      []byte
	settings                         bool // says model or tier
	thread                           []byte
	total, last                      codexTotals
	hasTotal, hasLast                bool
	bad                              string
}

// codexTotals are counts as the program sums them: the input holds what a cache had or got, the output what was thought.
type codexTotals struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`
}

func (t codexTotals) minus(o codexTotals) codexTotals {
	return codexTotals{t.Input - o.Input, t.CacheRead - o.CacheRead, t.CacheWrite - o.CacheWrite, t.Output - o.Output, t.Reasoning - o.Reasoning}
}

func (t codexTotals) negative() bool {
	return t.Input < 0 || t.CacheRead < 0 || t.CacheWrite < 0 || t.Output < 0 || t.Reasoning < 0
}

// usage makes the classes disjoint.
func (t codexTotals) usage(model string) (cost.Usage, error) {
	u := cost.Usage{Model: model, Input: t.Input - t.CacheRead - t.CacheWrite, CacheRead: t.CacheRead, CacheWrite5m: t.CacheWrite, Output: t.Output,
		Reasoning: t.Reasoning, Metered: true}
	return u, u.Check()
}

func (t codexTotals) key() key {
	var data []byte
	for _, n := range []int64{t.Input, t.CacheRead, t.CacheWrite, t.Output, t.Reasoning} {
		data = binary.AppendVarint(data, n)
	}
	return keyOf(string(data), "")
}

func (c *codexLine) parse(line []byte) error {
	*c = codexLine{}
	s := scanner{text: line}
	early := -1 // where a payload is that came before its type
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "timestamp":
			c.at, err = s.string()
		case "type":
			c.kind, err = s.string()
			switch string(c.kind) {
			case "session_meta", "turn_context", "event_msg", "token_usage_record":
			default:
				return errSkip
			}
		case "payload":
			if c.kind != nil {
				return c.payload(&s)
			}
			s.space()
			early = s.at
			return s.skip(0)
		default:
			return s.skip(0)
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && early >= 0 {
		s.at = early
		err = c.payload(&s)
	}
	if err == nil && c.kind == nil {
		err = errSkip
	}
	return err
}

func (c *codexLine) payload(s *scanner) error {
	member := c.event
	switch string(c.kind) {
	case "session_meta":
		member = c.meta
	case "turn_context":
		return c.setting(s)
	case "token_usage_record":
		member = c.record
	}
	_, err := s.inner(func(name []byte) error { return member(s, name) })
	return err
}

func (c *codexLine) meta(s *scanner, name []byte) (err error) {
	switch string(name) {
	case "id":
		c.id, err = s.string()
	case "forked_from_id":
		c.parent, err = s.string()
	case "timestamp":
		c.made, err = s.string()
	case "source":
		return c.source(s, 0)
	default:
		return s.skip(0)
	}
	return err
}

// source reads what a session was begun for, and by which: {"subagent": KIND} or {"subagent": {"thread_spawn": {"agent_role": KIND,
// "parent_thread_id": ID}}}.
func (c *codexLine) source(s *scanner, depth int) error {
	_, err := s.inner(func(name []byte) error {
		next, err := s.peek()
		switch {
		case err != nil:
			return err
		case next == '{' && depth < 4:
			if len(c.agent) == 0 {
				c.agent = []byte("subagent")
			}
			return c.source(s, depth+1)
		case next == '"' && string(name) == "parent_thread_id":
			c.spawner, err = s.string()
			return err
		case next == '"' && (string(name) == "subagent" || string(name) == "agent_role" || string(name) == "other"):
			c.agent, err = s.string()
			return err
		}
		return s.skip(0)
	})
	return err
}

// record reads a token_usage_record, which newer versions write as soon as an answer is there.
func (c *codexLine) record(s *scanner, name []byte) (err error) {
	switch string(name) {
	case "thread_id":
		c.thread, err = s.string()
	case "thread_token_usage":
		c.hasTotal, err = c.totals(s, &c.total)
	case "usage":
		c.hasLast, err = c.totals(s, &c.last)
	default:
		return s.skip(0)
	}
	return err
}

func (c *codexLine) event(s *scanner, name []byte) (err error) {
	switch string(name) {
	case "type":
		var kind []byte
		if kind, err = s.string(); err == nil && string(kind) != "token_count" && string(kind) != "thread_settings_applied" {
			return errSkip
		}
	case "thread_settings":
		return c.setting(s)
	case "info":
		_, err = s.inner(func(name []byte) (err error) {
			switch string(name) {
			case "total_token_usage":
				c.hasTotal, err = c.totals(s, &c.total)
			case "last_token_usage":
				c.hasLast, err = c.totals(s, &c.last)
			default:
				return s.skip(0)
			}
			return err
		})
	default:
		return s.skip(0)
	}
	return err
}

// setting reads which model and tier are used from here on.
func (c *codexLine) setting(s *scanner) (err error) {
	c.settings, err = s.inner(func(name []byte) (err error) {
		switch string(name) {
		case "model":
			c.model, err = s.string()
		case "service_tier":
			c.tier, err = s.string()
		default:
			return s.skip(0)
		}
		return err
	})
	return err
}

func (c *codexLine) totals(s *scanner, into *codexTotals) (bool, error) {
	*into = codexTotals{}
	return s.inner(func(name []byte) error {
		switch string(name) {
		case "input_tokens":
			return s.count("input_tokens", &into.Input, &c.bad)
		case "cached_input_tokens":
			return s.count("cached_input_tokens", &into.CacheRead, &c.bad)
		case "cache_write_input_tokens":
			return s.count("cache_write_input_tokens", &into.CacheWrite, &c.bad)
		case "output_tokens":
			return s.count("output_tokens", &into.Output, &c.bad)
		case "reasoning_output_tokens":
			return s.count("reasoning_output_tokens", &into.Reasoning, &c.bad)
		}
		return s.skip(0)
	})
}

// codexState is what is known of a session where its file was left.
type codexState struct {
	Session string      `json:"session"`
	Met     bool        `json:"met,omitempty"`    // its session_meta was read
	Parent  string      `json:"parent,omitempty"` // it is a fork of, or may be
	Forked  bool        `json:"forked,omitempty"` // it is one for certain
	Made    time.Time   `json:"made,omitzero"`    // and, while it is copied, when it was last written to
	Replay  bool        `json:"replay,omitempty"` // what is told may be the parent's still
	Model   string      `json:"model,omitempty"`
	Service string      `json:"service,omitempty"`
	Agent   string      `json:"agent,omitempty"`
	Known   bool        `json:"known,omitempty"` // Total is
	Total   codexTotals `json:"total,omitzero"`
	Calls   int         `json:"calls"` // that the file had up to here
	Told    int         `json:"told"`  // that were given to the caller: more than Calls while a file is read again
	Marks   []byte      `json:"marks,omitempty"`
}

// errLater says that a fork waits for its parent.
var errLater = errors.New("the parent is read first")

// codexFile reads what is new in a session's file.
type codexFile struct {
	*reading
	wait   bool                        // for parents
	parent func(session string) []byte // gives the marks of a session
	marks  map[key]bool                // of the parent, once they are asked for
	calls  []cost.Call
}

func (f *codexFile) begin(path string) {
	if f.now.Codex == nil {
		f.now.Codex = &codexState{Session: sessionOf(path)}
	}
}

func (f *codexFile) head(text []byte) verdict {
	var c codexLine
	return judge(c.parse(text))
}

func (f *codexFile) contents() ([]*message, []cost.Call) { return nil, f.calls }

func (f *codexFile) take(text []byte, number int64) error {
	var c codexLine
	if err := c.parse(text); err != nil {
		if !errors.Is(err, errSkip) && len(bytes.TrimSpace(text)) > 0 {
			f.problem(Corrupt, number, err.Error())
		}
		return nil
	}
	s := f.now.Codex
	switch {
	case string(c.kind) == "session_meta":
		return f.meet(c)
	case c.settings:
		if len(c.model) > 0 {
			s.Model = string(c.model)
		}
		if string(c.kind) != "turn_context" || len(c.tier) > 0 { // a turn's context need not repeat it
			s.Service = codexService(string(c.tier))
		}
	case c.bad != "":
		f.problem(Invalid, number, c.bad+" is not a count")
	case c.hasTotal:
		f.count(c, number)
	}
	return nil
}

// codexService is cost.Call's name of a tier. Flexible processing is priced as batches are.
func codexService(tier string) string {
	switch tier {
	case "priority", "fast":
		return "fast"
	case "flex", "batch":
		return "batch"
	}
	return ""
}

// meet reads who the session is: its first session_meta says, those after it are the parents', whose history is copied. Older versions
// name the parent nowhere else. A sub-agent may begin with a part of its parent's history, or with none.
func (f *codexFile) meet(c codexLine) error {
	s := f.now.Codex
	if s.Met && (s.Forked || s.Calls > 0 || len(c.id) == 0 || string(c.id) == s.Session) {
		return nil
	}
	if f.wait && (s.Met || len(c.parent) > 0 || len(c.spawner) > 0) {
		return errLater
	}
	if s.Met {
		s.Parent, s.Forked, s.Replay = cmp.Or(s.Parent, string(c.id)), true, true
		return nil
	}
	s.Met = true
	if len(c.id) > 0 {
		s.Session = string(c.id)
	}
	s.Parent, s.Forked, s.Agent = cmp.Or(string(c.parent), string(c.spawner)), len(c.parent) > 0, string(c.agent)
	s.Replay = s.Parent != ""
	s.Made, _ = time.Parse(time.RFC3339Nano, string(c.made))
	if at, err := time.Parse(time.RFC3339Nano, string(c.at)); err == nil && at.After(s.Made) {
		s.Made = at // a session may be written down only when it is first used
	}
	return nil
}

// count takes a sum of all calls of the session so far: what it is more than the sum before is a call's.
func (f *codexFile) count(c codexLine, number int64) {
	s := f.now.Codex
	if s.Known && c.total == s.Total {
		return // told again
	}
	at, ok := f.time(c.at, number)
	if !ok {
		return
	}
	if s.Replay && f.replayed(c, at) {
		f.advance(c.total)
		return
	}
	before := s.Total
	if s.Replay { // a fork's own sums begin where its parent's were
		s.Replay = false
		if c.hasLast && !c.total.minus(c.last).negative() {
			before = c.total.minus(c.last)
		} else if s.Forked && !s.Known {
			f.problem(Invalid, number, "a fork whose beginning is not known")
			f.advance(c.total)
			return
		}
	}
	used := c.total.minus(before)
	if used.negative() {
		f.problem(Reset, number, "")
		used = c.total
	}
	usage, err := used.usage(s.Model)
	if err != nil {
		f.problem(Invalid, number, err.Error())
		return // and the next sum has it
	}
	f.advance(c.total)
	if used == (codexTotals{}) {
		return
	}
	s.Calls++
	if s.Calls <= s.Told {
		return // the file is read again
	}
	call := cost.Call{ID: fmt.Sprintf("codex/%s/%d", s.Session, s.Calls), At: at, Backend: "codex", Agent: s.Agent, Session: s.Session,
		Source: "transcript", Service: s.Service, Usage: usage}
	if err := call.Check(); err != nil {
		f.problem(Invalid, number, err.Error())
		return
	}
	s.Told = s.Calls
	f.calls = append(f.calls, call)
}

func (f *codexFile) advance(total codexTotals) {
	s := f.now.Codex
	s.Known, s.Total = true, total
	s.Marks = appendKey(s.Marks, total.key())
}

// replayed says whether a sum at the beginning of a fork is its parent's, of which some versions copy all or the end: by the thread that it
// names, by the parent's own sums, or, where its file is gone, because no answer comes within a second of the fork and of each copied sum.
func (f *codexFile) replayed(c codexLine, at time.Time) bool {
	s := f.now.Codex
	if len(c.thread) > 0 {
		return string(c.thread) != s.Session
	}
	if f.marks == nil {
		f.marks = map[key]bool{}
		for mark := range slices.Chunk(f.parent(s.Parent), 8) {
			f.marks[key(binary.BigEndian.Uint64(mark))] = true
		}
	}
	if len(f.marks) > 0 { // what is all of a sub-agent's sum so far is its own
		return f.marks[c.total.key()] && (s.Forked || c.hasLast && c.last != c.total)
	}
	copied := s.Forked && at.Before(s.Made.Add(time.Second))
	if copied && at.After(s.Made) {
		s.Made = at
	}
	return copied
}

var sessionInName = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// sessionOf is a session's id as the name of its file has it.
func sessionOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if id := sessionInName.FindString(name); id != "" {
		return id
	}
	return name
}
