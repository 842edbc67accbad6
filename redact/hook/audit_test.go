package hook_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/redact/hook"
)

// journal is a log with entries.
type journal struct {
	*testing.T
	dir string
	*hook.Log
}

func newJournal(t *testing.T, entries int) journal {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	j := journal{t, dir, hook.OpenLog(dir)}
	for range entries {
		j.append("fine")
	}
	return j
}

func (j journal) append(reason string) {
	j.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	if err := j.Append(j.Context(), hook.Entry{At: at, Repo: "/r", Event: hook.PushAllowed, Reason: reason, User: "u"}); err != nil {
		j.Fatal(err)
	}
}

func (j journal) anchor() string { return filepath.Join(j.dir, "security-audit.anchor") }

func (j journal) read(path string) string {
	j.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		j.Fatal(err)
	}
	return string(data)
}

func (j journal) write(path, text string) {
	j.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		j.Fatal(err)
	}
}

// codes are the problems that a check finds.
func (j journal) codes() (codes []hook.Code) {
	j.Helper()
	report, err := j.Check(j.Context())
	if err != nil {
		j.Fatal(err)
	}
	for _, p := range report.Problems {
		codes = append(codes, p.Code)
	}
	if (report.Outcome == "good") != (len(codes) == 0) {
		j.Errorf("%+v", report)
	}
	return codes
}

func TestAuditLogIsChained(t *testing.T) {
	j := newJournal(t, 2)
	want := `{"seq":1,"prevHash":"GENESIS","at":"2026-01-02T02:04:05Z","repo":"/r","event":"push_allowed","reason":"fine","user":"u"}` + "\n"
	first, second, _ := strings.Cut(j.read(j.Path()), "\n")
	if first+"\n" != want || !strings.HasPrefix(second, `{"seq":2,"prevHash":"`) || strings.Contains(second, "GENESIS") {
		t.Error(j.read(j.Path()))
	}
	report, err := j.Check(t.Context())
	if err != nil || report.Outcome != "good" || report.Entries != 2 || report.Head.Seq != 2 || j.read(j.anchor()) != `{"seq":2,"hash":"`+report.Head.Hash+"\"}\n" {
		t.Errorf("%+v, %v, %s", report, err, j.read(j.anchor()))
	}
	for _, path := range []string{j.Path(), j.anchor()} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if none, err := hook.OpenLog(filepath.Join(t.TempDir(), "none")).Check(t.Context()); err != nil || none.Outcome != "good" || none.Entries != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	j.append(strings.Repeat("long ", 10000) + "\n\x00\xff")
	if codes := j.codes(); codes != nil || strings.Count(j.read(j.Path()), "\n") != 3 {
		t.Error(codes)
	}
}

// TestAuditLogSeesTampering: what is taken away, changed or added without the log is seen, and nothing is added to it.
func TestAuditLogSeesTampering(t *testing.T) {
	lines := func(text string) []string { return strings.SplitAfter(text, "\n") }
	for name, tt := range map[string]struct {
		spoil func(j journal, log string)
		codes []hook.Code
	}{
		"last entry gone":  {func(j journal, log string) { j.write(j.Path(), strings.Join(lines(log)[:3], "")) }, []hook.Code{hook.LogTruncated}},
		"two entries gone": {func(j journal, log string) { j.write(j.Path(), strings.Join(lines(log)[:2], "")) }, []hook.Code{hook.LogTruncated}},
		"cut to nothing":   {func(j journal, log string) { j.write(j.Path(), "") }, []hook.Code{hook.LogTruncated}},
		"log removed":      {func(j journal, log string) { _ = os.Remove(j.Path()) }, []hook.Code{hook.LogMissing}},
		"anchor removed":   {func(j journal, log string) { _ = os.Remove(j.anchor()) }, []hook.Code{hook.AnchorMissing}},
		"anchor damaged":   {func(j journal, log string) { j.write(j.anchor(), "{") }, []hook.Code{hook.AnchorDamaged}},
		"anchor of others": {func(j journal, log string) { j.write(j.anchor(), `{"seq":4,"hash":"x"}`) }, []hook.Code{hook.AnchorMismatch}},
		"anchor set back":  {func(j journal, log string) { j.write(j.anchor(), `{"seq":2,"hash":"x"}`) }, []hook.Code{hook.AnchorMismatch}},
		"first entry gone": {func(j journal, log string) { j.write(j.Path(), strings.Join(lines(log)[1:], "")) }, []hook.Code{hook.SeqMismatch, hook.HashMismatch}},
		"entry gone":       {func(j journal, log string) { j.write(j.Path(), lines(log)[0]+strings.Join(lines(log)[2:], "")) }, []hook.Code{hook.SeqMismatch, hook.HashMismatch}},
		"entry changed":    {func(j journal, log string) { j.write(j.Path(), strings.Replace(log, "fine", "Fine", 1)) }, []hook.Code{hook.HashMismatch}},
		"last entry changed": {func(j journal, log string) {
			j.write(j.Path(), log[:len(log)-10]+strings.Replace(log[len(log)-10:], `"u"`, `"v"`, 1))
		}, []hook.Code{hook.AnchorMismatch}},
		"line in between": {func(j journal, log string) {
			j.write(j.Path(), lines(log)[0]+"hello\n"+strings.Join(lines(log)[1:], ""))
		}, []hook.Code{hook.LineDamaged, hook.SeqMismatch, hook.HashMismatch}},
		"line at the end": {func(j journal, log string) { j.write(j.Path(), log+"hello\n") }, []hook.Code{hook.LineDamaged, hook.AnchorMismatch}},
		"empty line":      {func(j journal, log string) { j.write(j.Path(), log+"\n") }, []hook.Code{hook.LineDamaged, hook.AnchorMismatch}},
		"entry made up": {func(j journal, log string) {
			j.write(j.Path(), log+`{"seq":5,"prevHash":"x","at":"2026-01-01T00:00:00Z","repo":"","event":"","reason":"","user":""}`+"\n")
		}, []hook.Code{hook.HashMismatch, hook.AnchorMismatch}},
		"swapped": {func(j journal, log string) {
			l := lines(log)
			j.write(j.Path(), l[1]+l[0]+l[2]+l[3])
		}, []hook.Code{hook.SeqMismatch, hook.HashMismatch, hook.SeqMismatch, hook.HashMismatch, hook.SeqMismatch, hook.HashMismatch}},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t, 4)
			tt.spoil(j, j.read(j.Path()))
			if codes := j.codes(); !slices.Equal(codes, tt.codes) {
				t.Errorf("problems are %v, want %v", codes, tt.codes)
			}
			before, _ := os.ReadFile(j.Path())
			err := j.Append(t.Context(), hook.Entry{})
			after, _ := os.ReadFile(j.Path())
			inside := slices.Contains([]string{"first entry gone", "entry gone", "entry changed", "line in between", "swapped"}, name)
			if !inside && (!errors.Is(err, hook.ErrDamaged) || !bytes.Equal(before, after)) || inside && err != nil {
				t.Errorf("append: %v, added %q", err, after[len(before):])
			}
			if codes := j.codes(); codes == nil || !inside && !slices.Equal(codes, tt.codes) {
				t.Errorf("the next append hid it: %v", codes)
			}
		})
	}
}

// TestAuditLogAfterACrash at any byte of an append, before and after the anchor.
func TestAuditLogAfterACrash(t *testing.T) {
	j := newJournal(t, 2)
	log, anchor := j.read(j.Path()), j.read(j.anchor())
	j.append("cut off")
	whole := j.read(j.Path())
	for cut := len(log); cut <= len(whole); cut++ {
		j.write(j.Path(), whole[:cut])
		j.write(j.anchor(), anchor)
		var problems []hook.Code
		var added []string
		switch {
		case cut == len(whole):
			problems, added = []hook.Code{hook.AnchorBehind}, []string{"audit_repaired anchor_behind", "push_allowed next"}
		case cut > len(log):
			problems, added = []hook.Code{hook.TornLine}, []string{"audit_repaired torn_line", "push_allowed next"}
		default:
			added = []string{"push_allowed next"}
		}
		if codes := j.codes(); !slices.Equal(codes, problems) {
			t.Fatalf("cut at %d: problems are %v", cut, codes)
		}
		if j.read(j.Path()) != whole[:cut] {
			t.Fatalf("cut at %d: a check changed the log", cut)
		}
		j.append("next")
		if codes := j.codes(); codes != nil {
			t.Fatalf("cut at %d: then %v", cut, codes)
		}
		p := place{T: t, state: j.dir}
		if all := p.entries(); !slices.Equal(all[len(all)-len(added):], added) || !strings.HasPrefix(j.read(j.Path()), log) {
			t.Fatalf("cut at %d: entries are %v", cut, all)
		}
	}
	first := newJournal(t, 1) // in which the anchor is from before its first entry, or even the entry is not there yet
	log = first.read(first.Path())
	for _, tt := range []struct {
		log   string
		codes []hook.Code
	}{{log, []hook.Code{hook.AnchorBehind}}, {log[:9], []hook.Code{hook.TornLine}}, {"", nil}} {
		first.write(first.anchor(), `{"seq":0,"hash":"GENESIS"}`)
		first.write(first.Path(), tt.log)
		if tt.log == "" {
			if err := os.Remove(first.Path()); err != nil {
				t.Fatal(err)
			}
		}
		if codes := first.codes(); !slices.Equal(codes, tt.codes) {
			t.Errorf("%q: %v", tt.log, codes)
		}
		first.append("second")
		if codes := first.codes(); codes != nil {
			t.Errorf("%q: then %v", tt.log, codes)
		}
	}
}

// TestAuditLogAfterACrashInItsLongestLine: what an append can write, the next can put in order.
func TestAuditLogAfterACrashInItsLongestLine(t *testing.T) {
	j := newJournal(t, 1)
	anchor, control := j.read(j.anchor()), strings.Repeat("\x01", 5000)
	if err := j.Append(t.Context(), hook.Entry{Repo: control, Event: control, Reason: control, User: control}); err != nil {
		t.Fatal(err)
	}
	j.write(j.Path(), strings.TrimSuffix(j.read(j.Path()), "\n"))
	j.write(j.anchor(), anchor)
	j.append("next")
	if codes := j.codes(); codes != nil {
		t.Error(codes)
	}
}

// TestAuditLogCutToItsFirstEntry: without an anchor it is not what a crash left.
func TestAuditLogCutToItsFirstEntry(t *testing.T) {
	j := newJournal(t, 1)
	if err := os.Remove(j.anchor()); err != nil {
		t.Fatal(err)
	}
	if codes := j.codes(); !slices.Equal(codes, []hook.Code{hook.AnchorMissing}) {
		t.Error(codes)
	}
	if err := j.Append(t.Context(), hook.Entry{}); !errors.Is(err, hook.ErrDamaged) {
		t.Error(err)
	}
}

// TestProcessesLoseNoEntry of any of 16 that write at once.
func TestProcessesLoseNoEntry(t *testing.T) {
	const processes = 16
	j := newJournal(t, 0)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var children []*exec.Cmd
	for range processes {
		cmd := exec.CommandContext(t.Context(), own)
		cmd.Env, cmd.Stderr = append(os.Environ(), appendIn+"="+j.dir, "GORACE=atexit_sleep_ms=0"), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	report, err := j.Check(t.Context())
	if err != nil || report.Outcome != "good" || report.Entries != processes*appends {
		t.Errorf("%+v, %v", report, err)
	}
	log := j.read(j.Path())
	for _, cmd := range children {
		for n := range appends {
			if c := strings.Count(log, `"reason":"`+string(rune('0'+n))+`","user":"`+pid(cmd)+`"`); c != 1 {
				t.Errorf("entry %d of %s is there %d times", n, pid(cmd), c)
			}
		}
	}
}

func TestAuditLogThatCannotBeWritten(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	j := newJournal(t, 1)
	if err := j.Append(ended, hook.Entry{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := hook.OpenLog("").Append(t.Context(), hook.Entry{}); err == nil {
		t.Error("written to no folder")
	}
	if err := os.Remove(j.Path()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "elsewhere")
	j.write(outside, "")
	if err := os.Symlink(outside, j.Path()); err != nil {
		t.Skip(err)
	}
	if err := j.Append(t.Context(), hook.Entry{}); err == nil || j.read(outside) != "" {
		t.Errorf("written through a link: %v", err)
	}
}
