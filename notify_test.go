package aesop_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"aesop"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
	"aesop/wave"
)

func TestEveryWayToTellIsRead(t *testing.T) {
	s, _, err := aesop.LoadSettings(sources(`{"notify": [
		{"name": "a", "file": "news.jsonl", "kinds": ["job.", "wave.ended"]}, {"name": "b", "mirror": "/mirror"},
		{"name": "c", "webhook": "$HOOK", "secretEnv": "KEY"}, {"name": "d", "mqtt": "127.0.0.1:1883", "topic": "t/", "user": "u", "secretEnv": "KEY"}]}`, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Notify) != 4 || s.Notify[0].File != filepath.FromSlash("/conf/news.jsonl") || s.Notify[1].Mirror != "/mirror" ||
		s.Notify[2].Webhook != "$HOOK" || s.Notify[3].MQTT != "127.0.0.1:1883" || s.Notify[3].Topic != "t/" || s.Notify[3].User != "u" {
		t.Errorf("%+v", s.Notify)
	}
}

func TestWhoCannotBeTold(t *testing.T) {
	for text, says := range map[string]string{
		`[{"name": "a"}]`: "must have exactly one of file, mirror, webhook and mqtt",
		`[{"name": "a", "file": "f", "webhook": "http://h"}]`: "must have exactly one of",
		`[{"file": "f"}]`:                                          `sink ""`,
		`[{"name": "A", "file": "f"}]`:                             `sink "A"`,
		`[{"name": "a", "file": "f", "kinds": ["job*"]}]`:          `"job*" is not a kind`,
		`[{"name": "a", "file": "f"}, {"name": "a", "file": "g"}]`: "is there twice",
		`[{"name": "a", "file": "f", "secretEnv": "X"}]`:           "secretEnv is for webhook and mqtt",
		`[{"name": "a", "webhook": "http://h", "topic": "x"}]`:     "topic and user are for mqtt",
		`[{"name": "a", "file": "f", "kind": ["job."]}]`:           `did you mean "kinds"?`,
		`[{"name": "a", "file": ["f"]}]`:                           "must be a string",
		`[{"name": "a", "file": "f", "kinds": ["job.completed"]}]`: `no news of the kind "job.completed"; there are wave.ended, wave.stopped, job.create`,
		`[{"name": "a", "file": "f", "kinds": ["job"]}]`:           `no news of the kind "job"`,
		`[{"name": "a", "mqtt": "localhost"}]`:                     "must be host:port",
	} {
		_, _, err := aesop.LoadSettings(sources(`{"notify": `+text+`}`, nil, nil))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error is %v", text, err)
		}
	}
}

// kindsOf are the kinds of news in a file.
func kindsOf(t *testing.T, lines io.Reader) []string {
	t.Helper()
	var kinds []string
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		var news struct {
			Kind string
			Data json.RawMessage
		}
		if err := json.Unmarshal(scanner.Bytes(), &news); err != nil {
			t.Fatalf("%s: %v", scanner.Text(), err)
		}
		kinds = append(kinds, news.Kind)
	}
	return kinds
}

// TestAWaveTellsHowItEnded to a file by the usual kinds, to a webhook by its own, and in a mirror; once.
func TestAWaveTellsHowItEnded(t *testing.T) {
	repo, home := repository(t)
	hook := make(chan []byte, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil || q.Header.Get("Aesop-Signature") != sink.Sign([]byte("key"), body) {
			t.Errorf("the signature is %q (%v)", q.Header.Get("Aesop-Signature"), err)
		}
		hook <- body
	}))
	defer server.Close()
	t.Setenv("TEST_HOOK", server.URL)
	t.Setenv("TEST_KEY", "key")
	file, mirror := filepath.Join(home, "news.jsonl"), filepath.Join(home, "mirror")
	notify := []aesop.Notify{{Name: "file", File: file}, {Name: "mirror", Mirror: mirror},
		{Name: "hook", Webhook: "$TEST_HOOK", SecretEnv: "TEST_KEY", Kinds: []string{"wave."}}}
	report, _ := runOne(t, aesop.Config{Settings: aesop.Settings{Notify: notify}, Repo: repo, Agent: &greeter{}})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if kinds := kindsOf(t, bytes.NewReader(data)); !slices.Equal(kinds, []string{"job.complete", "wave.ended"}) {
		t.Errorf("the file has %v", kinds)
	}
	if len(hook) != 1 {
		t.Fatalf("the webhook was called %d times", len(hook))
	}
	var posted struct {
		Kind string
		Data wave.News
	}
	if err := json.Unmarshal(<-hook, &posted); err != nil {
		t.Fatal(err)
	}
	if posted.Kind != wave.NewsEnded || posted.Data.Wave != report.Wave || posted.Data.Outcome != "good" || len(posted.Data.Items) != 1 || posted.Data.Items[0].Commit == nil {
		t.Errorf("posted is %+v", posted)
	}
	shown, err := os.ReadFile(sink.NewMirror(mirror).Path("job/" + report.Wave + "/" + report.Items[0].ID))
	if err != nil || !strings.Contains(string(shown), `"completed"`) {
		t.Errorf("the mirror says %s (%v)", shown, err)
	}
}

// TestWhatCouldNotBeToldIsOwed until the receiver is there again.
func TestWhatCouldNotBeToldIsOwed(t *testing.T) {
	repo, home := repository(t)
	folder := filepath.Join(home, "none")
	file := filepath.Join(folder, "news.jsonl")
	write(t, folder, "") // where the folder should be
	_, engine := runOne(t, aesop.Config{Settings: aesop.Settings{Notify: []aesop.Notify{{Name: "file", File: file, Kinds: []string{"wave."}}}}, Repo: repo, Agent: &greeter{}})
	owed := 0
	err := engine.Store.View(t.Context(), func(s statestore.Reader) error {
		for o, err := range outbox.Pending(s, "file") {
			if err != nil {
				return err
			}
			if owed++; o.LastError == "" {
				t.Errorf("why it was not sent is not known: %+v", o)
			}
		}
		return nil
	})
	if err != nil || owed != 1 {
		t.Fatalf("%d are owed (%v)", owed, err)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(t.Context()); err != nil { // finds nothing to do
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if kinds := kindsOf(t, bytes.NewReader(data)); !slices.Equal(kinds, []string{"wave.ended"}) {
		t.Errorf("the file has %v", kinds)
	}
}

func TestAVariableThatIsNotSetIsNoReceiver(t *testing.T) {
	for _, row := range []aesop.Notify{{Name: "a", Webhook: "$AESOP_TEST_NONE"}, {Name: "a", Webhook: "http://127.0.0.1", SecretEnv: "AESOP_TEST_NONE"}, {Name: "a", Webhook: "ftp://127.0.0.1"}} {
		repo, _ := repository(t)
		if _, err := aesop.Open(t.Context(), aesop.Config{Settings: aesop.Settings{Notify: []aesop.Notify{row}}, Repo: repo, Agent: &greeter{}}); err == nil || !strings.Contains(err.Error(), "notify a") {
			t.Errorf("%+v: error is %v", row, err)
		}
	}
}

// TestASecretOfAReceiverIsNowhere though what it answers has it: neither in what is stored, nor in the log. The path of a URL, the key that
// signs and the password may each be secret; a variable that has one is named for its place and not for that.
func TestASecretOfAReceiverIsNowhere(t *testing.T) {
	repo, _ := repository(t)
	const path, key, password, query = "/services/T0123456/B0123456/quiet-walnut", "amber-wheelbarrow", "copper-teapot", "silver-thimble"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, login, _ := q.BasicAuth()
		http.Error(w, "Cannot POST "+q.URL.Path+" with "+login+" and "+key+" to "+q.FormValue("room"), http.StatusNotFound)
	}))
	defer server.Close()
	t.Setenv("PAGER", strings.Replace(server.URL, "://", "://robot:"+password+"@", 1)+path+"?room="+query)
	t.Setenv("SIGNER", key)
	core, log := zapobserver.New(zap.DebugLevel)
	notify := []aesop.Notify{{Name: "pager", Webhook: "$PAGER", SecretEnv: "SIGNER", Kinds: []string{"wave."}}}
	_, engine := runOne(t, aesop.Config{Settings: aesop.Settings{Notify: notify}, Repo: repo, Agent: &greeter{}, Logger: zap.New(core)})
	var all strings.Builder
	for _, entry := range log.All() {
		fmt.Fprintln(&all, entry.Message, entry.ContextMap())
	}
	err := engine.Store.View(t.Context(), func(s statestore.Reader) error {
		for record, err := range s.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			fmt.Fprintln(&all, record.Key, string(record.Value))
		}
		return nil
	})
	if err != nil || !strings.Contains(all.String(), "Cannot POST") {
		t.Fatalf("nothing was told of the failure (%v)", err)
	}
	for _, secret := range []string{path, "quiet-walnut", key, password, query} {
		if at := strings.Index(all.String(), secret); at >= 0 {
			t.Errorf("%s is in %.200q", secret, all.String()[max(at-80, 0):])
		}
	}
}
