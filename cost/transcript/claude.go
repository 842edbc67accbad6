package transcript

import (
	"bytes"
	"cmp"
	"errors"

	"aesop/cost"
)

// errSkip ends the look at a line that holds no counts.
var errSkip = errors.New("holds no counts")

// claudeLine is what a line of Claude Code says of an answer: one for each part of its content, all with the message's id and with
// what was counted when the line was written. The counts of the last are the message's; a line without a stop reason is not the last.
type claudeLine struct {
	kind, session, agent, agentID, request, reference, row, at []byte
	side, failed                                               bool

	id, model []byte
	stopped   bool
	metered   bool // it has counts
	part      bool // which are not all
	summed    bool // and are of several requests
	counts    counts
	service   string
	iteration string // its kind, where the counts are of one
	bad       string // what is wrong with the counts
}

// parse reads a line; errSkip says that it is of no interest, errShort that it is not there as a whole.
func (c *claudeLine) parse(line []byte) error {
	*c = claudeLine{}
	s := scanner{text: line}
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "type":
			if c.kind, err = s.string(); err == nil && string(c.kind) != "assistant" {
				return errSkip
			}
		case "message":
			return c.message(&s)
		case "isSidechain":
			c.side, err = s.bool()
		case "isApiErrorMessage":
			c.failed, err = s.bool()
		case "agentId":
			c.agentID, err = s.string()
		case "attributionAgent":
			c.agent, err = s.string()
		case "sessionId":
			c.session, err = s.string()
		case "requestId":
			c.request, err = s.string()
		case "requestRef":
			c.reference, err = s.string()
		case "uuid":
			c.row, err = s.string()
		case "timestamp":
			c.at, err = s.string()
		default:
			return s.skip(0)
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && (c.kind == nil || !c.metered || c.failed || string(c.model) == "<synthetic>") {
		err = errSkip
	}
	return err
}

func (c *claudeLine) message(s *scanner) error {
	c.id, c.model, c.stopped, c.metered = nil, nil, false, false
	_, err := s.inner(func(name []byte) (err error) {
		switch string(name) {
		case "id":
			c.id, err = s.string()
		case "model":
			c.model, err = s.string()
		case "role":
			var role []byte
			if role, err = s.string(); err == nil && string(role) != "assistant" {
				return errSkip
			}
		case "stop_reason":
			var reason []byte
			reason, err = s.string()
			c.stopped = len(reason) > 0
		case "usage":
			return c.usage(s, true)
		default:
			return s.skip(0)
		}
		return err
	})
	return err
}

// usage reads the counts of an answer, or without iterations those of one of them. Those of kinds that no other count has are added.
func (c *claudeLine) usage(s *scanner, iterations bool) error {
	c.counts, c.service, c.bad, c.part, c.summed, c.iteration = counts{}, "", "", false, false, ""
	var written, oneHour, fiveMinutes int64
	var total, split, hasInput, hasOutput, us bool
	var more counts
	metered, err := s.inner(func(name []byte) error {
		switch string(name) {
		case "input_tokens":
			hasInput = s.said()
			return s.count("input_tokens", &c.counts[input], &c.bad)
		case "cache_read_input_tokens":
			return s.count("cache_read_input_tokens", &c.counts[cacheRead], &c.bad)
		case "output_tokens":
			hasOutput = s.said()
			return s.count("output_tokens", &c.counts[output], &c.bad)
		case "cache_creation_input_tokens":
			total = true
			return s.count("cache_creation_input_tokens", &written, &c.bad)
		case "cache_creation", "output_tokens_details":
			_, err := s.inner(func(name []byte) error {
				switch string(name) {
				case "ephemeral_1h_input_tokens":
					split = true
					return s.count("ephemeral_1h_input_tokens", &oneHour, &c.bad)
				case "ephemeral_5m_input_tokens":
					split = true
					return s.count("ephemeral_5m_input_tokens", &fiveMinutes, &c.bad)
				case "thinking_tokens":
					return s.count("thinking_tokens", &c.counts[reasoning], &c.bad)
				}
				return s.skip(0)
			})
			return err
		case "speed", "service_tier":
			tier, err := s.string()
			if text := string(tier); text == "fast" || text == "batch" {
				c.service = text
			}
			return err
		case "inference_geo":
			where, err := s.string()
			us = string(where) == "us"
			return err
		case "type":
			kind, err := s.string()
			c.iteration = string(kind)
			return err
		case "iterations":
			if iterations && s.said() {
				return c.iterations(s, &more)
			}
		}
		return s.skip(0)
	})
	c.metered, c.part = metered, c.part || !hasInput || !hasOutput
	if us {
		c.service = "us"
	}
	if !total && split {
		written = fiveMinutes + oneHour
	}
	c.counts[write1h], c.counts[write5m] = oneHour, written-oneHour
	if c.counts[write5m] < 0 && c.bad == "" {
		c.bad = "ephemeral_1h_input_tokens"
	}
	for i, n := range more {
		c.counts[i] = min(c.counts[i]+n, 1<<50) // which Check refuses
	}
	return err
}

// iterations reads the requests that an answer took. The answer's counts have those of its messages, but not what compacting used; the
// rest is other models'.
func (c *claudeLine) iterations(s *scanner, more *counts) error {
	n := 0
	return s.array(func() error {
		var one claudeLine
		err := one.usage(s, false)
		n++
		c.summed, c.bad = n > 1, cmp.Or(c.bad, one.bad)
		switch one.iteration {
		case "message":
		case "compaction":
			c.part = c.part || one.part
			for i := range more {
				more[i] = min(more[i]+one.counts[i], 1<<50)
			}
		default:
			c.part = true
		}
		return err
	})
}

// judge is what the error of a parser says of the beginning of a line.
func judge(err error) verdict {
	switch {
	case errors.Is(err, errSkip):
		return skipped
	case errors.Is(err, errSyntax):
		return damaged
	case errors.Is(err, errShort):
		return unsure
	}
	return matters
}

// claudeFile reads what is new in a session's file into the messages of the file.
type claudeFile struct {
	*reading
	names    names
	messages map[key]*message
	order    []*message
}

func (f *claudeFile) begin(string) {}

func (f *claudeFile) head(text []byte) verdict {
	var c claudeLine
	return judge(c.parse(text))
}

func (f *claudeFile) contents() ([]*message, []cost.Call) { return f.order, nil }

func (f *claudeFile) take(text []byte, number int64) error {
	var c claudeLine
	if err := c.parse(text); err != nil {
		if !errors.Is(err, errSkip) && len(bytes.TrimSpace(text)) > 0 {
			f.problem(Corrupt, number, err.Error())
		}
		return nil
	}
	if c.bad != "" {
		f.problem(Invalid, number, c.bad+" is not a count")
		return nil
	}
	at, ok := f.time(c.at, number)
	if !ok {
		return nil
	}
	m := message{
		ID: string(c.id), Request: string(c.request), At: at, Session: f.names.of(c.session), Agent: f.names.of(c.agent), Model: f.names.of(c.model),
		Service: c.service, Counts: c.counts, Part: c.part, Summed: c.summed, file: f.name, line: number,
	}
	if m.Request == "" {
		m.Request = string(c.reference)
	}
	if m.ID == "" {
		m.ID, m.Request = string(c.row), ""
	}
	if c.side && m.Agent == "" {
		m.Agent = "subagent"
	}
	if m.ID == "" {
		f.problem(Invalid, number, "the message has no id")
		return nil
	}
	if err := m.call().Check(); err != nil {
		f.problem(Invalid, number, err.Error())
		return nil
	}
	k := m.key()
	if old, known := f.messages[k]; known {
		old.grow(m)
	} else {
		f.messages[k] = &m
		f.order = append(f.order, &m)
	}
	f.settle(k, c)
	return nil
}

// settle keeps which messages of the file may still grow: the last of each agent, until it has a stop reason. Which agent wrote the rows of
// sub-agents is not always said; of those, every one may.
func (f *claudeFile) settle(k key, c claudeLine) {
	agent := string(c.agentID)
	if c.side && agent == "" {
		agent = "side " + k.String()
	}
	if c.stopped {
		delete(f.now.Open, agent)
		return
	}
	if f.now.Open == nil {
		f.now.Open = map[string]key{}
	}
	f.now.Open[agent] = k
}

// names keeps one copy of strings that come again and again.
type names map[string]string

func (n names) of(text []byte) string {
	if s, ok := n[string(text)]; ok {
		return s
	}
	s := string(text)
	n[s] = s
	return s
}
