package sink_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

// request is what a test server got.
type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// answer is what it answers; the zero one is 200.
type answer struct {
	status int
	header map[string]string
	body   string
	hang   bool // of the body, after what there is of it; with no status, of the whole answer
}

type server struct {
	*httptest.Server
	mu  sync.Mutex
	got []request
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

func (s *server) last() request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[len(s.got)-1]
}

func webhookServer(t *testing.T, say func(*request) answer) (*server, *sink.Webhook) {
	t.Helper()
	s := &server{}
	quit := make(chan struct{})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := request{r.Method, r.URL.Path, r.Header, body}
		s.mu.Lock()
		s.got = append(s.got, got)
		s.mu.Unlock()
		a := say(&got)
		if a.hang && a.status == 0 {
			<-quit
			return
		}
		for name, value := range a.header {
			w.Header().Set(name, value)
		}
		if a.status == 0 {
			a.status = 200
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
		if a.hang {
			_ = http.NewResponseController(w).Flush()
			<-quit
		}
	}))
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		close(quit)
		client.CloseIdleConnections()
		s.Close()
	})
	hook, err := sink.NewWebhook(sink.WebhookConfig{URL: strings.Replace(s.URL, "http://", "http://user:"+"hunter2@", 1) + "/path-secret", Client: client,
		Secret: []byte("key"), Header: map[string]string{"X-Own": "yes", "Content-Type": "text/plain"}})
	must(t, err)
	return s, hook
}

func TestWebhookPostsASignedDocument(t *testing.T) {
	server, hook := webhookServer(t, func(*request) answer { return answer{status: 204} })
	sent := identified("job/w1/greet", 3)
	must(t, hook.Send(t.Context(), sent))
	got := server.last()
	user, password, _ := (&http.Request{Header: got.header}).BasicAuth()
	if got.method != "POST" || got.path != "/path-secret" || got.header.Get("Content-Type") != "application/json" || got.header.Get("X-Own") != "yes" ||
		got.header.Get("Idempotency-Key") != sent.ID || got.header.Get("Aesop-Intent-Id") != sent.ID || user != "user" || password != "hunter2" {
		t.Errorf("got %+v", got)
	}
	if !hmac.Equal([]byte(got.header.Get("Aesop-Signature")), []byte(sink.Sign([]byte("key"), got.body))) ||
		sink.Sign([]byte("key"), []byte("body")) != "sha256=515aae133b435d4000956731f68ae5cf5eb85d4f0dc6a546d2bfcd3595ec1ae1" {
		t.Errorf("the signature is %s, and one that is known %s", got.header.Get("Aesop-Signature"), sink.Sign([]byte("key"), []byte("body")))
	}
	i, err := outbox.ParseDocument(got.body)
	if err != nil || i.ID != sent.ID || i.Seq != 3 || string(i.Data) != `{"seq":3}` || !bytes.Contains(got.body, []byte(`"schemaVersion":1`)) {
		t.Errorf("the body is %s, %v", got.body, err)
	}
}

func TestWebhookAnswers(t *testing.T) {
	const (
		delivered = iota
		failed
		unreachable
		later
	)
	id := identified("s", 1).ID
	for name, c := range map[string]struct {
		answer answer
		want   int
	}{
		"200":                    {answer{body: "ok"}, delivered},
		"202":                    {answer{status: 202}, delivered},
		"a body without end":     {answer{status: 200, body: "ok", hang: true}, delivered},
		"400":                    {answer{status: 400, body: "what?"}, failed},
		"500":                    {answer{status: 500}, failed},
		"500 and a slow body":    {answer{status: 500, body: "x", hang: true}, failed},
		"409":                    {answer{status: 409}, failed},
		"409 of another":         {answer{status: 409, header: map[string]string{"Aesop-Intent-Id": "x"}}, failed},
		"409, it has it":         {answer{status: 409, header: map[string]string{"Aesop-Intent-Id": id}}, delivered},
		"429":                    {answer{status: 429, header: map[string]string{"Retry-After": "7"}}, later},
		"429 for ever":           {answer{status: 429, header: map[string]string{"Retry-After": "99999999"}}, later},
		"503":                    {answer{status: 503}, unreachable},
		"503 with nonsense":      {answer{status: 503, header: map[string]string{"Retry-After": "soon"}}, unreachable},
		"503 with a time":        {answer{status: 503, header: map[string]string{"Retry-After": "Fri, 01 May 2026 10:00:07 GMT", "Date": "Fri, 01 May 2026 10:00:00 GMT"}}, later},
		"500 with a Retry-After": {answer{status: 500, header: map[string]string{"Retry-After": "7"}}, failed},
		"302 to here":            {answer{status: 302, header: map[string]string{"Location": "/elsewhere"}}, failed},
		"307 to another host":    {answer{status: 307, header: map[string]string{"Location": "http://localhost:1/elsewhere"}}, failed},
		"307 round and round":    {answer{status: 307, header: map[string]string{"Location": "/path-secret"}}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			_, hook := webhookServer(t, func(*request) answer { return c.answer })
			err := hook.Send(t.Context(), identified("s", 1))
			asked := (*outbox.LaterError)(nil)
			got := delivered
			switch {
			case errors.As(err, &asked):
				got = later
			case errors.Is(err, outbox.ErrUnreachable):
				got = unreachable
			case err != nil:
				got = failed
			}
			if got != c.want || got == later && (asked.After != 7*time.Second && name != "429 for ever" || !errors.Is(err, outbox.ErrUnreachable)) {
				t.Errorf("error is %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("it tells secrets: %v", err)
			}
			if name == "400" && !strings.Contains(err.Error(), "what?") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestWebhookFollowsARedirectOnItsHost(t *testing.T) {
	server, hook := webhookServer(t, func(r *request) answer {
		if r.path == "/moved" {
			return answer{}
		}
		return answer{status: 308, header: map[string]string{"Location": "/moved"}}
	})
	must(t, hook.Send(t.Context(), identified("s", 1)))
	if got := server.last(); got.method != "POST" || got.path != "/moved" || len(got.body) == 0 || got.header.Get("Authorization") == "" {
		t.Errorf("got %+v", got)
	}
}

func TestWebhookEndsWithItsContext(t *testing.T) {
	server, hook := webhookServer(t, func(*request) answer { return answer{hang: true} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := hook.Send(ctx, identified("s", 1)); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, outbox.ErrUnreachable) {
		t.Errorf("error is %v", err)
	}
	if server.count() != 1 {
		t.Errorf("%d requests came", server.count())
	}
}

func TestWebhookNamesNoSecretOfItsURL(t *testing.T) {
	down := httptest.NewServer(nil)
	down.Close()
	hook, err := sink.NewWebhook(sink.WebhookConfig{URL: strings.Replace(down.URL, "//", "//user:"+"hunter2@", 1) + "/path-secret?token=query-secret"})
	must(t, err)
	err = hook.Send(t.Context(), identified("s", 1))
	if !errors.Is(err, outbox.ErrUnreachable) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
	for _, bad := range []string{"", "ftp://h/path-secret", "http://", "http://user:" + "hunter2@h:x/", "path-secret"} {
		if _, err := sink.NewWebhook(sink.WebhookConfig{URL: bad}); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error is %v", bad, err)
		}
	}
}

// TestWebhookKeepsLittleOfAnAnswer: also of the words beside its status, of which a receiver can send as many as it likes.
func TestWebhookKeepsLittleOfAnAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 500 %s\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody", strings.Repeat("x", 1<<20))
	}()
	hook, err := sink.NewWebhook(sink.WebhookConfig{URL: "http://" + listener.Addr().String(), Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	must(t, err)
	err = hook.Send(t.Context(), identified("s", 1))
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "500 xxx") || !strings.Contains(err.Error(), "body") {
		t.Errorf("error is %.500v", err)
	}
}
