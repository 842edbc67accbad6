package modelserver

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"aesop/cost"
)

// Step is the answer to one request. The zero Step is an empty answer.
type Step struct {
	Text  string
	Calls []Call // of tools, after the text
	// Usage is what the answer says it used. Both dialects say 0 for an unmetered one, for the programs insist on a number.
	Usage cost.Usage
	Stop  Stop

	Status     int           // an error of HTTP instead of an answer
	Message    string        // of the error; "": one is made up
	RetryAfter time.Duration // in a header beside the error; rounded up to seconds

	Hang Hang // it does not end by itself
	Cut  bool // the connection ends after the text
}

// Call is a call of a tool: of claude Write, Edit, Bash, StructuredOutput and others, of codex exec_command.
type Call struct {
	Name  string
	Input any // marshalled as JSON
}

// Stop is why a model stopped, other than by being done.
type Stop string

// The reasons to stop.
const (
	Refusal Stop = "refusal" // the model declines
	Limit   Stop = "limit"   // the output reached its limit
)

// Hang is a way of not ending.
type Hang string

// The ways of not ending. What hangs ends with its client or the server.
const (
	BeforeHeaders Hang = "before headers"
	InStream      Hang = "in the stream" // after the text
)

// answer is a step on its way to a client.
type answer struct {
	Step
	w      http.ResponseWriter
	number int
	model  string
	stream bool
	gone   func() // waits for the client's end
	served func() // notes the usage; called before the client can know of it, so that a test that waits for the client sees it
}

// run sends the answer.
func (a *answer) run(d dialect) {
	switch {
	case a.Hang == BeforeHeaders:
		a.gone()
		return
	case a.Status != 0:
		if a.RetryAfter > 0 {
			a.w.Header().Set("Retry-After", fmt.Sprint(math.Ceil(a.RetryAfter.Seconds())))
		}
		message := a.Message
		if message == "" {
			message = "played error"
		}
		reply(a.w, a.Status, d.failure(a.Status, message))
		return
	}
	if a.stream {
		a.w.Header().Set("Content-Type", "text/event-stream")
	}
	d.answer(a)
}

// interrupted ends the answer in the middle where the step says so.
func (a *answer) interrupted() bool {
	if a.Hang == InStream {
		a.gone()
	}
	if a.Cut {
		panic(http.ErrAbortHandler) // the way to cut a connection; the server is quiet about it
	}
	return a.Hang == InStream
}

// event sends one event of a stream.
func (a *answer) event(name string, data map[string]any) {
	data["type"] = name
	text, _ := json.Marshal(data)
	_, _ = fmt.Fprintf(a.w, "event: %s\ndata: %s\n\n", name, text)
	if flusher, ok := a.w.(http.Flusher); ok {
		flusher.Flush()
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
