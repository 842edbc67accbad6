//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"aesop/examples/internal/cli"
	"aesop/statestore/outbox"
)

// receiver is a server of a webhook.
type receiver struct {
	*httptest.Server
	arrived chan string // ids, before they are answered

	mu   sync.Mutex
	deaf bool // it takes nothing, and answers nothing
	got  []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{arrived: make(chan string, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		text, err := io.ReadAll(request.Body)
		i, wrong := outbox.ParseDocument(text)
		if err != nil || wrong != nil {
			t.Errorf("posted %s: %v, %v", text, err, wrong)
		}
		r.arrived <- i.ID
		r.mu.Lock()
		deaf := r.deaf
		if !deaf {
			r.got = append(r.got, i.Kind)
		}
		r.mu.Unlock()
		if deaf {
			<-request.Context().Done()
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) set(deaf bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = deaf
}

// TestACrashBetweenCommitAndSendSendsOnce: the sender is killed before the receiver has anything; what was owed is there once in the end.
func TestACrashBetweenCommitAndSendSendsOnce(t *testing.T) {
	dir, hook := t.TempDir(), newReceiver(t)
	ends(t, cli.OK, dir, "recover", "--webhook", hook.URL)
	ends(t, cli.OK, dir, "submit", "a")
	token := claim(t, dir, "manual/a")
	ends(t, cli.OK, dir, "publish", "--token", token, "--status", "completed")

	hook.set(true)
	sender := command(t.Context(), dir, "recover", "--webhook", hook.URL)
	if err := sender.Start(); err != nil {
		t.Fatal(err)
	}
	first := <-hook.arrived
	if err := sender.Process.Kill(); err != nil { // as kill -9 does
		t.Fatal(err)
	}
	if err := sender.Wait(); err == nil {
		t.Fatal("it ended by itself")
	}
	var owed recoverDocument
	document(t, &owed, cli.NotGood, dir, "recover", "--dry-run")
	if len(owed.Owed) != 3 || owed.Owed[0].Intent != first {
		t.Errorf("owed are %+v", owed.Owed)
	}

	hook.set(false)
	ends(t, cli.OK, dir, "recover", "--webhook", hook.URL)
	if again := <-hook.arrived; again != first {
		t.Errorf("sent again as %s, and before as %s", again, first)
	}
	ends(t, cli.OK, dir, "recover", "--webhook", hook.URL)
	if got := strings.Join(hook.got, " "); got != "job.create job.claim job.complete" {
		t.Errorf("the receiver has %s", got)
	}
	ends(t, cli.OK, dir, "publish", "--token", token, "--status", "completed") // an acknowledgement is no news
	ends(t, cli.OK, dir, "recover", "--dry-run")
}

// TestAPausedHoldersLatePublishIsRefusedAndRecorded: it stops between the decision to publish and the commit, and its job goes on meanwhile.
func TestAPausedHoldersLatePublishIsRefusedAndRecorded(t *testing.T) {
	dir := t.TempDir()
	ends(t, cli.OK, dir, "submit", "a")
	token := claim(t, dir, "manual/a")
	fifo := filepath.Join(dir, "fields")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	paused := command(t.Context(), dir, "publish", "--token", token, "--status", "completed", "--progress-file", fifo)
	paused.Stderr = &errs
	if err := paused.Start(); err != nil {
		t.Fatal(err)
	}
	resume, err := os.OpenFile(fifo, os.O_WRONLY, 0) // once it reads
	if err != nil {
		t.Fatal(err)
	}
	ends(t, cli.OK, dir, "status", "manual/a", "--set", "pending", "--transition", "2")
	next := claim(t, dir, "manual/a")
	if _, err := resume.WriteString(`{"late": true}`); err != nil {
		t.Fatal(err)
	}
	if err := resume.Close(); err != nil {
		t.Fatal(err)
	}
	if err := paused.Wait(); err == nil || paused.ProcessState.ExitCode() != cli.Refused || !strings.Contains(errs.String(), "not that of the request") {
		t.Errorf("it ended with %v: %s", err, &errs)
	}
	got := ends(t, cli.OK, dir, "show", "manual/a").stdout
	if !strings.Contains(got, "complete by worker refused, stale_attempt") || !strings.HasPrefix(got, "manual/a: running") || strings.Contains(got, "late\"") {
		t.Error(got)
	}
	ends(t, cli.OK, dir, "publish", "--token", next, "--status", "failed")
}

// TestAnAgentsFolderThatCannotBeWritten is an error, and what was dropped before stays.
func TestAnAgentsFolderThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("not applicable: root can write everywhere")
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "attempt")
	t.Setenv("AESOP_ATTEMPT_DIR", folder)
	t.Setenv("AESOP_ATTEMPT_ID", "00112233aabbccdd")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	ends(t, cli.OK, dir, "publish", "--status", "failed")
	before, err := os.ReadFile(filepath.Join(folder, "publish.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	if got := ends(t, cli.Usage, dir, "publish", "--status", "completed"); !strings.Contains(got.stderr, "nothing is published") {
		t.Error(got.stderr)
	}
	if after, _ := os.ReadFile(filepath.Join(folder, "publish.json")); string(after) != string(before) {
		t.Errorf("it says %s", after)
	}
}
