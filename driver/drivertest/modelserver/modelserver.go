// Package modelserver plays models to real agent programs, on the loopback interface: Anthropic's /v1/messages as claude uses
// it, and OpenAI's /v1/responses as codex uses it. What the models say is scripted, so that tests of drivers and of whole waves
// run the real programs and cost nothing:
//
//	server := modelserver.New()
//	defer server.Close()
//	talk := server.Talk("add-greeting", // for every conversation whose prompt holds this
//		modelserver.Step{Calls: []modelserver.Call{{Name: "Bash", Input: map[string]any{"command": "echo hello >greeting.txt"}}}},
//		modelserver.Step{Text: "Done.", Usage: cost.Usage{Input: 900, Output: 40, Metered: true}})
//	// … run claude with the variables of server.Claude(), or codex with server.Codex() as its config.toml …
//	talk.Served() // what the program's report has to agree with
package modelserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"aesop/cost"
)

// Key is the key that programs are told to use. The server takes any.
const Key = "played-model"

// Server is a running server. It is safe for concurrent use.
type Server struct {
	http   *httptest.Server
	closed chan struct{} // ends what hangs

	mu      sync.Mutex
	talks   []*Talk
	strays  []Request
	answers int // numbers the answers, for ids
}

// New starts a server. It panics, as httptest does, where the machine has no loopback port left.
func New() *Server {
	s := &Server{closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.handle(anthropic{}))
	mux.HandleFunc("POST /v1/responses", s.handle(openai{}))
	s.http = httptest.NewServer(mux)
	return s
}

// Close ends all answers, also those that hang, and the server.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the server's root, without /v1.
func (s *Server) URL() string { return s.http.URL }

// Claude are the variables that point claude at the server, as KEY=value.
func (s *Server) Claude() []string {
	return []string{"ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_API_KEY=" + Key}
}

// Codex is a config.toml that points codex at the server, with the key from OPENAI_API_KEY, and no retry that takes long.
func (s *Server) Codex() string {
	return fmt.Sprintf(`model = "played"
model_provider = "played"

[model_providers.played]
name = "played"
base_url = "%s/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`, s.URL())
}

// Talk scripts the conversations whose text holds match; of several talks that match, the first counts. Each request of a
// conversation takes the next step, and the last step repeats. A conversation is a session of the program, so one that is resumed
// goes on where it was, and several at once do not mix.
func (s *Server) Talk(match string, steps ...Step) *Talk {
	t := &Talk{match: match, steps: steps, at: map[string]int{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.talks = append(s.talks, t)
	return t
}

// Strays are the requests that no script was for. They were refused.
func (s *Server) Strays() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strays)
}

// Talk is what was said in the conversations of one script. It is safe for concurrent use.
type Talk struct {
	match string
	steps []Step

	mu       sync.Mutex
	at       map[string]int // the next step of each session
	requests []Request
	served   []cost.Usage
}

// Requests are the requests so far.
func (t *Talk) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

// Served is the usage of every answer that was sent to its end, in order.
func (t *Talk) Served() []cost.Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.served)
}

// next records a request and returns its step.
func (t *Talk) next(r Request) Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = append(t.requests, r)
	if len(t.steps) == 0 {
		return Step{}
	}
	session := cmp.Or(r.Header.Get("X-Claude-Code-Session-Id"), r.Header.Get("Session-Id"))
	n := t.at[session]
	t.at[session] = min(n+1, len(t.steps)-1)
	return t.steps[n]
}

func (t *Talk) serve(u cost.Usage, model string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u.Model = model
	t.served = append(t.served, u)
}

// Request is one request for a model's answer.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
	Model  string
	Texts  []string // every text of the conversation so far, in order
}

// dialect is the wire format of a vendor.
type dialect interface {
	conversation() string // name of the field that holds the conversation
	failure(status int, message string) any
	answer(a *answer)
}

func (s *Server) handle(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var fields map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(body, &fields)
		}
		if err != nil {
			reply(w, http.StatusBadRequest, d.failure(http.StatusBadRequest, err.Error()))
			return
		}
		request := Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Texts: texts(fields[d.conversation()])}
		_ = json.Unmarshal(fields["model"], &request.Model)
		talk, number := s.find(request)
		if talk == nil {
			reply(w, http.StatusBadRequest, d.failure(http.StatusBadRequest, "no script is for this conversation"))
			return
		}
		step := talk.next(request)
		a := &answer{Step: step, w: w, number: number, model: request.Model, stream: string(fields["stream"]) == "true",
			gone: func() { s.hang(r) }, served: func() { talk.serve(step.Usage, request.Model) }}
		a.run(d)
	}
}

// find numbers the answer to r and finds its script.
func (s *Server) find(r Request) (*Talk, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	for _, t := range s.talks {
		if slices.ContainsFunc(r.Texts, func(text string) bool { return strings.Contains(text, t.match) }) {
			return t, s.answers
		}
	}
	s.strays = append(s.strays, r)
	return nil, s.answers
}

// hang waits until the client is gone or the server closed.
func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// texts collects all strings in a JSON value but the names of members.
func texts(value json.RawMessage) []string {
	var decoded any
	if json.Unmarshal(value, &decoded) != nil {
		return nil
	}
	var all []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, element := range v {
				walk(element)
			}
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(v)) {
				walk(v[member])
			}
		}
	}
	walk(decoded)
	return all
}
