//go:build unix

package agentproc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"aesop/driver/process"
)

// heard notes what a program says. The word done finishes its work, other words take it up again, and boom is an error.
type heard struct {
	lines []string
	done  bool
}

var errBoom = errors.New("boom")

func (h *heard) Line(line []byte) error {
	h.lines = append(h.lines, string(line))
	h.done = string(line) == `"done"`
	if string(line) == `"boom"` {
		return errBoom
	}
	return nil
}

func (h *heard) Done() bool { return h.done }

func listen(t *testing.T, script string, linger time.Duration) (Spoken, *heard) {
	t.Helper()
	h := &heard{}
	s, err := Listen(t.Context(), process.Command{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
		Mark: "listen-" + t.Name(), Exclusive: true, Timeout: time.Minute, Grace: time.Second}, strings.NewReader("input\n"), h, linger)
	if err != nil {
		t.Fatal(err)
	}
	return s, h
}

func TestListen(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		lines  string
		want   Spoken
	}{
		"lines":           {`printf '1\n\n 2\r\n3'`, "1 2 3", Spoken{}},
		"input":           {"cat", "input", Spoken{}},
		"done":            {`echo '"done"'`, `"done"`, Spoken{Done: true}},
		"torn":            {`printf '1\n{"a":'`, "1", Spoken{Torn: true}},
		"half a word":     {`printf '1\nhello'`, "1", Spoken{}}, // never was a line of ours
		"whole, no end":   {`printf '1\n{"a":2}'`, `1 {"a":2}`, Spoken{}},
		"hangs when done": {`echo '"done"'; sleep 3600`, `"done"`, Spoken{Done: true}},
		"error":           {`echo '"boom"'; echo '"more"'; sleep 3600`, `"boom"`, Spoken{Stopped: errBoom}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := listen(t, test.script, 200*time.Millisecond)
			if got := strings.Join(h.lines, " "); got != test.lines {
				t.Errorf("heard %q, want %q", got, test.lines)
			}
			if s.Torn != test.want.Torn || s.Done != test.want.Done || s.Stopped != test.want.Stopped || s.Skipped != 0 {
				t.Errorf("got %+v, want %+v", s, test.want)
			}
			if s.Reason == process.TimedOut {
				t.Error("it ran until its deadline")
			}
		})
	}
}

// TestListenWaitsForWorkThatGoesOn: the time to exit begins again with every end of the work.
func TestListenWaitsForWorkThatGoesOn(t *testing.T) {
	s, h := listen(t, `echo '"done"'; echo '"more"'; sleep 1; echo '"done"'; exit 3`, 300*time.Millisecond)
	if len(h.lines) != 3 || !s.Done || s.Reason != process.Exited || s.Code != 3 {
		t.Errorf("got %+v, %q", s, h.lines)
	}
}

// TestListenReadsOnAfterALongLine in memory that does not grow with it.
func TestListenReadsOnAfterALongLine(t *testing.T) {
	s, h := listen(t, `head -c 100000000 /dev/zero | tr '\0' x; echo; echo '"done"'`, time.Second)
	if len(h.lines) != 1 || !s.Done || s.Skipped != 1 {
		t.Errorf("got %+v, %d lines", s, len(h.lines))
	}
	e := &ear{listener: h, cancel: func() {}, linger: time.NewTimer(time.Hour), patience: time.Hour}
	defer e.linger.Stop()
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		_, _ = e.Write(part)
		if cap(e.line) > 4*LineMax {
			t.Fatalf("%d bytes are held", cap(e.line))
		}
	}
}

func TestListenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := &heard{}
	cancel()
	s, err := Listen(ctx, process.Command{Argv: []string{"sh", "-c", "echo 1"}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Mark: "cancelled"},
		nil, h, time.Second)
	if err != nil || s.Reason != process.Cancelled || len(h.lines) != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func FuzzEar(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\n{\"three\":3}"), 2)
	f.Add([]byte("{\"torn"), 1)
	f.Add(append(bytes.Repeat([]byte("x"), LineMax+1), "\n1\n"...), 100000)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step < 1 {
			return
		}
		h := &heard{}
		e := &ear{listener: h, cancel: func() {}, linger: time.NewTimer(time.Hour), patience: time.Hour}
		defer e.linger.Stop()
		for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			if n, err := e.Write(rest[:min(step, len(rest))]); n != min(step, len(rest)) || err != nil {
				t.Fatalf("wrote %d: %v", n, err)
			}
		}
		torn := e.end(true)
		// The same lines by another way.
		var want []string
		all := bytes.Split(data, []byte("\n"))
		last := bytes.TrimSpace(all[len(all)-1])
		for n, line := range all {
			line = bytes.TrimSpace(line)
			if len(all[n]) <= LineMax && len(line) > 0 && (n < len(all)-1 || json.Valid(line)) {
				want = append(want, string(line))
			}
			if string(line) == `"boom"` {
				break
			}
		}
		if strings.Join(h.lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("heard %q, want %q", h.lines, want)
		}
		if wantTorn := len(all[len(all)-1]) <= LineMax && len(last) > 0 && !json.Valid(last) && last[0] == '{'; torn != wantTorn {
			t.Errorf("torn is %v of %q", torn, last)
		}
	})
}
