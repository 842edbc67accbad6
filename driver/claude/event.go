package claude

import (
	"encoding/json"
	"fmt"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/agentproc"
)

// event is a line of the stream. What differs by type is left raw, so that a field that changed its shape costs no more than
// itself.
type event struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`

	Message json.RawMessage `json:"message"` // of assistant; of permission_denied a text
	Event   json.RawMessage `json:"event"`   // of stream_event
	Tasks   json.RawMessage `json:"tasks"`   // of background_tasks_changed
	Limit   json.RawMessage `json:"rate_limit_info"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Usage   json.RawMessage `json:"usage"`
	Content []block         `json:"content"`
}

type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// talk is what one run of claude said.
type talk struct {
	task    driver.Task
	resumed bool // it continues a session
	emit    func(driver.Event)
	now     func() time.Time

	began      bool
	session    string
	words      string // the last text of the model
	trouble    string
	retryAfter time.Duration
	lost       bool // a call was made whose end nobody saw
	background int  // tasks at work in the background

	calls   calls
	current string  // id of the message that is streamed
	result  *result // the last one
	done    bool
	sum     map[string]cost.Usage // of the results, by model
	counted bool                  // every result said its part of sum
}

func (t *talk) Began() bool     { return t.began }
func (t *talk) Done() bool      { return t.done && t.background == 0 }
func (t *talk) Trouble() string { return t.trouble }

// Line reads a line. One that is no event is passed over: hooks and wrappers print what they like.
func (t *talk) Line(line []byte) error {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return nil
	}
	if agentproc.IsSessionID(e.SessionID) {
		t.session = e.SessionID
	}
	switch e.Type {
	case "system":
		t.system(e, line)
	case "rate_limit_event":
		t.limit(e)
	case "stream_event":
		t.began, t.done = true, false
		return t.stream(e)
	case "assistant":
		t.began, t.done = true, false
		return t.assistant(e)
	case "user":
		t.done = false
	case "result":
		t.end(line)
	}
	return nil
}

func (t *talk) system(e event, line []byte) {
	switch e.Subtype {
	case "init":
		t.began, t.done = true, false
	case "api_retry":
		t.retry(line)
	case "permission_denied":
		var text string
		_ = json.Unmarshal(e.Message, &text)
		t.complain("denied: " + text)
	case "background_tasks_changed":
		var tasks []json.RawMessage
		if json.Unmarshal(e.Tasks, &tasks) == nil {
			t.background = len(tasks)
		}
	}
}

func (t *talk) retry(line []byte) {
	var r struct {
		Attempt     int    `json:"attempt"`
		MaxRetries  int    `json:"max_retries"`
		RetryDelay  int64  `json:"retry_delay_ms"`
		ErrorStatus *int   `json:"error_status"`
		Error       string `json:"error"`
	}
	if json.Unmarshal(line, &r) != nil {
		return
	}
	wait := time.Duration(r.RetryDelay) * time.Millisecond
	status := "no answer"
	if r.ErrorStatus == nil {
		t.lost = true
	} else {
		status = fmt.Sprint(*r.ErrorStatus)
		t.retryAfter = wait // it waits as long as the service says
	}
	t.complain(fmt.Sprintf("%s (%s), try %d of %d again in %s", r.Error, status, r.Attempt, r.MaxRetries, wait))
}

// limit notes when a limit that was reached is lifted.
func (t *talk) limit(e event) {
	var info struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"`
	}
	if json.Unmarshal(e.Limit, &info) == nil && info.Status == "rejected" && info.ResetsAt > 0 {
		at := time.Unix(info.ResetsAt, 0)
		t.retryAfter = max(0, at.Sub(t.now()))
		t.complain("a limit is reached until " + at.UTC().Format(time.RFC3339))
	}
}

func (t *talk) complain(text string) {
	t.trouble = text
	t.emit(driver.Event{Kind: "progress", Text: agentproc.Shorten(text)})
}

// synthetic is the model of messages that claude makes up itself, about errors.
const synthetic = "<synthetic>"

func (t *talk) assistant(e event) error {
	var m message
	if json.Unmarshal(e.Message, &m) != nil || m.Model == synthetic {
		return nil
	}
	for _, b := range m.Content {
		switch {
		case b.Type == "text" && b.Text != "":
			t.words = b.Text
			t.emit(driver.Event{Kind: "text", Text: b.Text})
		case b.Type == "tool_use":
			t.emit(driver.Event{Kind: "tool", Text: agentproc.Shorten(b.Name + " " + subject(b.Input))})
		}
	}
	if t.calls.see(m.ID, m.Model, m.Usage) {
		return t.used()
	}
	return nil
}

// subject is what a tool works on.
func subject(input json.RawMessage) string {
	var known struct {
		Command string `json:"command"`
		File    string `json:"file_path"`
	}
	switch _ = json.Unmarshal(input, &known); {
	case known.Command != "":
		return known.Command
	case known.File != "":
		return known.File
	}
	return string(input)
}

// stream follows the messages of the main agent as they come; those of sub-agents are seen only whole.
func (t *talk) stream(e event) error {
	var s struct {
		Type    string          `json:"type"`
		Message message         `json:"message"` // of message_start
		Usage   json.RawMessage `json:"usage"`   // of message_delta
	}
	if json.Unmarshal(e.Event, &s) != nil {
		return nil
	}
	switch s.Type {
	case "message_start":
		t.current = s.Message.ID
		t.calls.see(t.current, s.Message.Model, s.Message.Usage)
		t.calls.open(t.current)
	case "message_delta":
		if t.calls.see(t.current, "", s.Usage) {
			return t.used()
		}
	case "message_stop":
		t.calls.close(t.current)
	}
	return nil
}

// used tells the usage so far, and ends a dispatch that passed its budget.
func (t *talk) used() error {
	sum := cost.Sum(t.calls.all()...)
	t.emit(driver.Event{Kind: "usage", Usage: sum})
	return t.task.Budget.Check(sum)
}
