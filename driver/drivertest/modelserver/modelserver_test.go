package modelserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/cost"
	"aesop/driver/drivertest/modelserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func server(t *testing.T) *modelserver.Server {
	s := modelserver.New()
	t.Cleanup(s.Close)
	return s
}

// ask sends a request for an answer, as a session.
func ask(t *testing.T, ctx context.Context, s *modelserver.Server, path, body, session string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, "POST", s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Session-Id", session)
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// events are the events of a stream by name, joined, and what was read of the last one's data.
func events(t *testing.T, body io.Reader) (names []string, data []map[string]any) {
	t.Helper()
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var value map[string]any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			data = append(data, value)
		}
	}
	return names, data
}

func compact(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

const (
	messages  = `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"please greet"}]}]}`
	responses = `{"model":"m","stream":true,"input":[{"role":"user","content":[{"type":"input_text","text":"please greet"}]}]}`
)

func step() modelserver.Step {
	return modelserver.Step{Text: "I will.", Calls: []modelserver.Call{{Name: "Bash", Input: map[string]any{"command": "true"}}},
		Usage: cost.Usage{Input: 10, CacheRead: 200, CacheWrite5m: 30, CacheWrite1h: 4, Output: 7, Reasoning: 5, Metered: true}}
}

func TestAnthropic(t *testing.T) {
	s := server(t)
	talk := s.Talk("greet", step())
	names, data := events(t, ask(t, t.Context(), s, "/v1/messages?beta=true", messages, "").Body)
	want := "message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(names, " "); got != want {
		t.Fatalf("got %s", got)
	}
	for n, part := range map[int]string{0: `"output_tokens":1`, 2: `"text":"I will."`, 4: `"name":"Bash"`, 5: `"partial_json":"{\"command\":\"true\"}"`,
		7: `"stop_reason":"tool_use"`} {
		if got := compact(data[n]); !strings.Contains(got, part) {
			t.Errorf("event %d has no %s: %s", n, part, got)
		}
	}
	if got := compact(data[7]["usage"]); got != `{"cache_creation":{"ephemeral_1h_input_tokens":4,"ephemeral_5m_input_tokens":30},"cache_creation_input_tokens":34,`+
		`"cache_read_input_tokens":200,"input_tokens":10,"output_tokens":7,"output_tokens_details":{"thinking_tokens":5},"service_tier":"standard"}` {
		t.Errorf("the usage is %s", got)
	}
	wantServed := step().Usage
	wantServed.Model = "m"
	if got := talk.Served(); !slices.Equal(got, []cost.Usage{wantServed}) {
		t.Errorf("served %+v", got)
	}
	if got, err := cost.Anthropic("m", []byte(compact(data[7]["usage"]))); err != nil || got != wantServed {
		t.Errorf("the usage is read as %+v, %v", got, err)
	}
	// The same without a stream.
	var whole map[string]any
	if err := json.NewDecoder(ask(t, t.Context(), s, "/v1/messages", strings.Replace(messages, "true", "false", 1), "").Body).Decode(&whole); err != nil {
		t.Fatal(err)
	}
	if got := compact(whole["content"]); got != `[{"text":"I will.","type":"text"},{"id":"toolu_2_0","input":{"command":"true"},"name":"Bash","type":"tool_use"}]` {
		t.Errorf("got %s", got)
	}
}

func TestOpenAI(t *testing.T) {
	s := server(t)
	s.Talk("greet", step())
	names, data := events(t, ask(t, t.Context(), s, "/v1/responses", responses, "").Body)
	want := "response.created response.output_item.added response.output_text.delta response.output_item.done response.output_item.added response.output_item.done response.completed"
	if got := strings.Join(names, " "); got != want {
		t.Fatalf("got %s", got)
	}
	if got := compact(data[5]); !strings.Contains(got, `"name":"Bash"`) || !strings.Contains(got, `"arguments":"{\"command\":\"true\"}"`) {
		t.Errorf("got %s", got)
	}
	last := data[6]["response"].(map[string]any)
	if got := compact(last["usage"]); got != `{"input_tokens":244,"input_tokens_details":{"cache_write_tokens":34,"cached_tokens":200},"output_tokens":7,`+
		`"output_tokens_details":{"reasoning_tokens":5},"total_tokens":251}` {
		t.Errorf("the usage is %s", got)
	}
}

// TestUsageIsReadAsItWasServed: tests compare what programs report with Served.
func TestUsageIsReadAsItWasServed(t *testing.T) {
	s := server(t)
	served := cost.Usage{Model: "m", Input: 10, CacheRead: 200, CacheWrite5m: 30, Output: 7, Reasoning: 5, Metered: true}
	s.Talk("greet", modelserver.Step{Usage: served})
	_, data := events(t, ask(t, t.Context(), s, "/v1/responses", responses, "").Body)
	last := data[len(data)-1]["response"].(map[string]any)
	if got, err := cost.OpenAIResponses("m", []byte(compact(last["usage"]))); err != nil || got != served {
		t.Errorf("the usage is read as %+v, %v", got, err)
	}
}

func TestStops(t *testing.T) {
	for _, test := range []struct {
		stop modelserver.Stop
		path string
		body string
		part string
	}{
		{modelserver.Refusal, "/v1/messages", messages, `"stop_reason":"refusal"`},
		{modelserver.Limit, "/v1/messages", messages, `"stop_reason":"max_tokens"`},
		{"", "/v1/messages", messages, `"stop_reason":"end_turn"`},
		{modelserver.Refusal, "/v1/responses", responses, `"reason":"content_filter"`},
		{modelserver.Limit, "/v1/responses", responses, `"reason":"max_output_tokens"`},
		{"", "/v1/responses", responses, `"status":"completed"`},
	} {
		s := server(t)
		s.Talk("greet", modelserver.Step{Text: "words", Stop: test.stop})
		body, err := io.ReadAll(ask(t, t.Context(), s, test.path, test.body, "").Body)
		if err != nil || !bytes.Contains(body, []byte(test.part)) {
			t.Errorf("%s %s: %v, no %s in\n%s", test.path, test.stop, err, test.part, body)
		}
	}
}

func TestErrors(t *testing.T) {
	for path, body := range map[string]string{"/v1/messages": messages, "/v1/responses": responses} {
		s := server(t)
		talk := s.Talk("greet", modelserver.Step{Status: 429, Message: "slowly", RetryAfter: 1500 * time.Millisecond}, modelserver.Step{Text: "now"})
		response := ask(t, t.Context(), s, path, body, "")
		text, _ := io.ReadAll(response.Body)
		if response.StatusCode != 429 || response.Header.Get("Retry-After") != "2" || !bytes.Contains(text, []byte("slowly")) {
			t.Errorf("%s: %s, again after %s: %s", path, response.Status, response.Header.Get("Retry-After"), text)
		}
		if response := ask(t, t.Context(), s, path, body, ""); response.StatusCode != 200 {
			t.Errorf("%s: then %s", path, response.Status)
		}
		if n := len(talk.Requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	}
}

// TestSteps: each session takes its own steps, the last repeats, and the first script that matches counts.
func TestSteps(t *testing.T) {
	s := server(t)
	talk := s.Talk("greet", modelserver.Step{Status: 401}, modelserver.Step{Status: 402}, modelserver.Step{Status: 403})
	s.Talk("", modelserver.Step{Status: 404})
	for _, request := range []struct {
		session string
		want    int
	}{{"a", 401}, {"b", 401}, {"a", 402}, {"a", 403}, {"a", 403}, {"b", 402}, {"", 401}} {
		if got := ask(t, t.Context(), s, "/v1/messages", messages, request.session).StatusCode; got != request.want {
			t.Errorf("session %s: got %d, want %d", request.session, got, request.want)
		}
	}
	if got := ask(t, t.Context(), s, "/v1/messages", strings.ReplaceAll(messages, "greet", "part"), "a").StatusCode; got != 404 {
		t.Errorf("another conversation: %d", got)
	}
	if got := talk.Requests()[0]; got.Model != "m" || got.Path != "/v1/messages" || !slices.Contains(got.Texts, "please greet") || got.Header.Get("Session-Id") != "a" {
		t.Errorf("got %+v", got)
	}
}

func TestStrays(t *testing.T) {
	s := server(t)
	s.Talk("greet", step())
	if got := ask(t, t.Context(), s, "/v1/messages", strings.ReplaceAll(messages, "greet", "part"), "").StatusCode; got != 400 {
		t.Errorf("got %d", got)
	}
	if got := ask(t, t.Context(), s, "/v1/messages", "{", "").StatusCode; got != 400 {
		t.Errorf("damaged: got %d", got)
	}
	if got := s.Strays(); len(got) != 1 || !slices.Contains(got[0].Texts, "please part") {
		t.Errorf("strays %+v", got)
	}
}

// TestWhatDoesNotEnd: neither is counted as served, and both end with the client or the server.
func TestWhatDoesNotEnd(t *testing.T) {
	for path, body := range map[string]string{"/v1/messages": messages, "/v1/responses": responses} {
		for _, hang := range []modelserver.Hang{modelserver.BeforeHeaders, modelserver.InStream} {
			s := modelserver.New()
			talk := s.Talk("greet", modelserver.Step{Text: "half", Hang: hang, Usage: step().Usage})
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			request, _ := http.NewRequestWithContext(ctx, "POST", s.URL()+path, strings.NewReader(body))
			transport := &http.Transport{DisableKeepAlives: true}
			response, err := transport.RoundTrip(request)
			if (err == nil) != (hang == modelserver.InStream) {
				t.Errorf("%s %s: %v", path, hang, err)
			}
			if err == nil {
				text, err := io.ReadAll(response.Body)
				if err == nil || !bytes.Contains(text, []byte("half")) {
					t.Errorf("%s %s: %v after %s", path, hang, err, text)
				}
				_ = response.Body.Close()
			}
			cancel()
			s.Close()
			if n := len(talk.Served()); n != 0 {
				t.Errorf("%s %s: %d served", path, hang, n)
			}
		}
		s := server(t)
		talk := s.Talk("greet", modelserver.Step{Text: "half", Cut: true, Usage: step().Usage})
		if text, err := io.ReadAll(ask(t, t.Context(), s, path, body, "").Body); err == nil || !bytes.Contains(text, []byte("half")) || len(talk.Served()) != 0 {
			t.Errorf("%s cut: %v after %s", path, err, text)
		}
	}
}

// TestCloseEndsWhatHangs without the client's doing.
func TestCloseEndsWhatHangs(t *testing.T) {
	s := modelserver.New()
	s.Talk("greet", modelserver.Step{Text: "half", Hang: modelserver.InStream})
	body := ask(t, t.Context(), s, "/v1/messages", messages, "").Body
	s.Close()
	_, _ = io.ReadAll(body) // comes back, with an error or not
}
