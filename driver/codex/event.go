package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/agentproc"
)

// event is a line of the output.
type event struct {
	Type     string          `json:"type"`
	ThreadID string          `json:"thread_id"`
	Item     item            `json:"item"`
	Usage    json.RawMessage `json:"usage"`
	Message  string          `json:"message"` // of error
	Error    struct {
		Message string `json:"message"`
	} `json:"error"` // of turn.failed
}

type item struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command string `json:"command"`
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

// talk is what one run of codex said.
type talk struct {
	task   driver.Task
	before cost.Usage // counted by earlier runs of the thread
	emit   func(driver.Event)

	thread  string
	words   string // the last message of the agent
	trouble string
	lost    bool // a call was made whose end nobody saw
	done    bool
	failed  *driver.Error
	total   cost.Usage // of the thread; unmetered until a turn is completed
}

func (t *talk) Began() bool     { return t.thread != "" }
func (t *talk) Done() bool      { return t.done }
func (t *talk) Trouble() string { return t.trouble }

// Line reads a line. One that is no event is passed over.
func (t *talk) Line(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil && !strings.HasPrefix(e.Type, "turn.") {
		return nil
	}
	switch e.Type {
	case "thread.started":
		if agentproc.IsSessionID(e.ThreadID) {
			t.thread = e.ThreadID
		}
	case "turn.started":
		t.done, t.failed = false, nil
	case "item.started":
		t.tool(e.Item)
	case "item.completed":
		t.completed(e.Item)
	case "error": // often only the notice that it tries again
		t.complain(e.Message)
	case "turn.completed":
		t.done = true
		if total, err := cost.Codex(t.task.Model, e.Usage); err == nil && total.Metered {
			t.total = total
		} else {
			t.lost = true
		}
	case "turn.failed":
		t.done, t.failed = true, failure(e.Error.Message)
	}
	return nil
}

func (t *talk) complain(text string) {
	t.trouble = text
	t.lost = t.lost || strings.Contains(text, "stream disconnected")
	t.emit(driver.Event{Kind: "progress", Text: agentproc.Shorten(text)})
}

func (t *talk) tool(i item) {
	text := ""
	switch i.Type {
	case "command_execution":
		text = i.Command
	case "mcp_tool_call":
		text = i.Server + " " + i.Tool
	case "web_search":
		text = "web search " + i.Query
	default:
		return
	}
	t.emit(driver.Event{Kind: "tool", Text: agentproc.Shorten(text)})
}

func (t *talk) completed(i item) {
	switch i.Type {
	case "agent_message":
		t.words = i.Text
		t.emit(driver.Event{Kind: "text", Text: i.Text})
	case "file_change":
		for _, c := range i.Changes {
			t.emit(driver.Event{Kind: "tool", Text: agentproc.Shorten("change " + c.Path)})
		}
	case "error": // a warning
		t.emit(driver.Event{Kind: "progress", Text: agentproc.Shorten(i.Message)})
	}
}

// Said is the result by the events so far.
func (t *talk) Said() (driver.Result, error) {
	out := driver.Result{Summary: t.words}
	known := session{Thread: t.thread, Used: t.before}
	if t.total.Metered {
		known.Used = t.total
		counted := cost.Cumulative{Total: t.before}
		out.Calls, out.Metered = []cost.Usage{counted.Next(t.total).Usage}, !t.lost
	}
	out.Session, out.SessionID = known.String(), known.Thread
	switch {
	case t.failed != nil:
		return out, t.failed
	case !t.done:
		return out, &driver.Error{Class: driver.Crashed, Message: "no turn was completed"}
	case t.task.Schema == nil:
		return out, nil
	}
	if !json.Valid([]byte(t.words)) {
		return out, &driver.Error{Class: driver.InvalidOutput, Message: fmt.Sprintf("the answer is no JSON: %s", agentproc.Shorten(t.words))}
	}
	out.Answer = json.RawMessage(t.words)
	return out, nil
}
