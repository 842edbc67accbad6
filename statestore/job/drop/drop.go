// Package drop is how an agent that cannot open the store says how its attempt ended: a file in the folder of the attempt
// (AESOP_ATTEMPT_DIR), which the engine imports with worker authority.
//
// The agent, or a program for it, writes:
//
//	_, err := drop.Write(attemptDir, drop.Drop{Attempt: attempt, Status: job.Completed, Fields: json.RawMessage(`{"tests": 12}`)})
//
// A later one adds its fields to those before and replaces the status. The engine reads what is there when the agent has ended, and asks for
// it as if the holder of the attempt's token did:
//
//	d, err := drop.Read(attemptDir, attempt)
//	switch {
//	case errors.Is(err, drop.ErrNone): // nothing was said
//	case err != nil: // it does not count: *Error, or nobody could look
//	}
//
// The file is an agent's, so a reader expects anything: links, fifos, huge files, files that change while they are read. It blocks on none, and
// a name that is not a regular file is never followed. What the file says is a hint: it ends an attempt, and ships nothing.
package drop

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"aesop/statestore/job"
)

// Name is that of the file in the folder of an attempt.
const Name = "publish.json"

// SchemaVersion is the only version of the format that there is.
const SchemaVersion = 1

// Bounds, in bytes: of the file, and of each text in it. Those of the fields are a job's.
const (
	MaxSize = 256 << 10
	MaxText = 4096
)

// ErrNone says that there is no drop.
var ErrNone = errors.New("nothing was published")

// Error is why a drop that is there, or that was to be written, does not count.
type Error struct {
	File    string // absolute; "" where it was not written
	Field   string // such as status; "": the whole
	Message string
}

func (e *Error) Error() string {
	text := e.Message
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.File != "" {
		text = e.File + ": " + text
	}
	return text
}

// Drop is what an agent publishes. It is the file as it is on the disk.
type Drop struct {
	SchemaVersion int             `json:"schemaVersion"`
	Attempt       string          `json:"attempt"`
	Status        job.Status      `json:"status"` // completed, failed, cancelled, or "": not at an end yet
	Reason        string          `json:"reason"` // "": none is given
	Fields        json.RawMessage `json:"fields"` // an object, for job.Progress
}

// Request is the end that the drop asks for with a token, or nil where it has none.
func (d Drop) Request(id, token string, report *job.Report) job.Request {
	by := job.Worker{Token: token}
	switch d.Status {
	case job.Completed:
		return job.Complete{ID: id, By: by, Reason: d.Reason, Report: report}
	case job.Failed:
		return job.Fail{ID: id, By: by, Reason: d.Reason, Report: report}
	case job.Cancelled:
		return job.Cancel{ID: id, By: by, Reason: d.Reason}
	}
	return nil
}

// Check is nil where a drop may be imported, and an *Error otherwise. Write asks it too.
func (d Drop) Check() error {
	if wrong := d.check(); wrong != nil {
		return wrong
	}
	return nil
}

func (d Drop) check() *Error {
	switch {
	case d.SchemaVersion != SchemaVersion:
		return &Error{Field: "schemaVersion", Message: fmt.Sprintf("is %d; known is %d", d.SchemaVersion, SchemaVersion)}
	case d.Attempt == "":
		return &Error{Field: "attempt", Message: "is empty"}
	case d.Status != "" && d.Request("", "", nil) == nil:
		return &Error{Field: "status", Message: fmt.Sprintf("is %q, must be completed, failed, cancelled or empty", d.Status)}
	}
	for _, text := range []struct{ field, value string }{{"attempt", d.Attempt}, {"reason", d.Reason}} {
		if wrong := defect(text.value); wrong != "" {
			return &Error{Field: text.field, Message: wrong}
		}
	}
	if refusal := job.CheckFields(nil, d.Fields); refusal != nil {
		return &Error{Field: "fields", Message: fmt.Sprintf("%s: %s", refusal.Reason, refusal.Text)}
	}
	return nil
}

// defect says what is wrong with a text of a drop, or "".
func defect(text string) string {
	switch {
	case len(text) > MaxText:
		return fmt.Sprintf("has more than %d bytes", MaxText)
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return "has a control character"
	}
	return ""
}
