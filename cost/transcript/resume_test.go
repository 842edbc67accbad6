package transcript_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/transcript"
	"aesop/cost/transcript/transcripttest"
)

// TestCutAnywhere: whatever of a file is there when it is read first, both times together give each call once, and whole.
func TestCutAnywhere(t *testing.T) {
	claude := answer("a", 5, `"end_turn"`) + answer("b", 1, "null") + answer("b", 2, "null") + answer("b", 9, `"tool_use"`) +
		answer("c", 3, "null") + answer("d", 4, "null") + answer("d", 6, "null")
	codex := sum(10, 1) + sum(10, 1) + sum(20, 3) + sum(5, 2) + sum(6, 4)
	const want = "claude/a/r=5 claude/b/r=9 claude/c/r=3 claude/d/r=6 codex/01a00000-0000-7000-8000-00000000000a/1=1 " +
		"codex/01a00000-0000-7000-8000-00000000000a/2=2 codex/01a00000-0000-7000-8000-00000000000a/3=2 codex/01a00000-0000-7000-8000-00000000000a/4=2"
	f := newFiles(t)
	for cut := len(claude) - 2*len(answer("d", 4, "null")) - 5; cut <= len(claude); cut++ {
		var state transcript.State
		f.write(f.claude, claude[:cut])
		f.write(f.codex, codex[:max(0, len(codex)-len(claude)+cut)])
		f.config.Now = time.Now
		first, _ := ingest(t, f.config, &state)
		f.write(f.claude, claude)
		f.write(f.codex, codex)
		second, summary := ingest(t, f.config, &state)
		if got := summary.Pending; got != 1 {
			t.Fatalf("cut at %d: %d wait", cut, got)
		}
		f.config.Now = later
		third, _ := ingest(t, f.config, &state)
		all := slices.Concat(first, second, third)
		slices.SortFunc(all, func(a, b cost.Call) int { return cmp.Compare(a.ID, b.ID) })
		if got := outputs(all); got != want {
			t.Fatalf("cut at %d:\ngot  %s\nwant %s", cut, got, want)
		}
	}
}

func TestOnlyWhatIsNewIsRead(t *testing.T) {
	f := newFiles(t)
	f.write(f.claude, answer("a", 5, `"end_turn"`))
	f.write(f.codex, sum(10, 1))
	var state transcript.State
	ingest(t, f.config, &state)
	if _, summary := ingest(t, f.config, &state); summary.Read != 0 || summary.Bytes != 0 || summary.Files != 2 {
		t.Errorf("got %+v", summary)
	}
	f.write(f.claude, answer("a", 5, `"end_turn"`)+answer("b", 5, `"end_turn"`))
	calls, summary := ingest(t, f.config, &state)
	if summary.Read != 1 || summary.Bytes != int64(len(answer("b", 5, `"end_turn"`))) || outputs(calls) != "claude/b/r=5" {
		t.Errorf("got %+v, %s", summary, outputs(calls))
	}
}

// TestMoved: Codex moves sessions to its archive.
func TestMoved(t *testing.T) {
	f := newFiles(t)
	f.write(f.codex, sum(10, 1))
	var state transcript.State
	ingest(t, f.config, &state)
	archived := filepath.Join(f.config.Codex[0], "archived_sessions", filepath.Base(f.codex))
	f.write(archived, sum(10, 1)+sum(20, 3))
	if calls, summary := ingest(t, f.config, &state); len(calls) != 1 || calls[0].Usage.Output != 2 || summary.Files != 1 {
		t.Errorf("got %+v, %s", summary, outputs(calls))
	}
}

func TestReplaced(t *testing.T) {
	between := strings.Repeat(`{"type":"user","message":{"role":"user","content":"more than a fingerprint"}}`+"\n", 50)
	last := answer("new", 1, `"end_turn"`)
	for name, second := range map[string]string{
		"cut":               last,
		"another beginning": strings.Replace(answer("a", 5, `"end_turn"`), `"a"`, `"x"`, 1) + between + answer("b", 7, `"end_turn"`) + last,
		"another end":       answer("a", 5, `"end_turn"`) + between + strings.Replace(answer("b", 7, `"end_turn"`), `"b"`, `"x"`, 1) + last,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFiles(t)
			f.write(f.claude, answer("a", 5, `"end_turn"`)+between+answer("b", 7, `"end_turn"`))
			f.write(f.codex, sum(10, 1)+sum(30, 4))
			var state transcript.State
			ingest(t, f.config, &state)
			f.write(f.claude, second)
			f.write(f.codex, sum(10, 1))
			calls, summary := ingest(t, f.config, &state)
			calls = slices.DeleteFunc(calls, func(c cost.Call) bool { return strings.HasPrefix(c.ID, "claude/x/") })
			if outputs(calls) != "claude/new/r=1" || summary.Problems[transcript.Replaced] != 2 {
				t.Errorf("got %s, %v", outputs(calls), summary.List)
			}
			f.write(f.codex, sum(10, 1)+sum(30, 4)+sum(31, 9))
			if calls, _ := ingest(t, f.config, &state); outputs(calls) != "codex/"+codexSession+"/3=5" {
				t.Errorf("then %s", outputs(calls))
			}
		})
	}
}

// TestUnfinishedMessagesWait until their agent goes on, or nobody writes to the file any more.
func TestUnfinishedMessagesWait(t *testing.T) {
	f := newFiles(t)
	f.config.Now = time.Now
	var state transcript.State
	main, side := answer("main", 1, "null"), agentAnswer(`,"agentId":"x"`, "side", 1, "null")
	unnamed := strings.Replace(answer("unnamed", 1, "null"), "false", "true", 1)
	text := main + side + unnamed
	f.write(f.claude, text)
	if calls, summary := ingest(t, f.config, &state); len(calls) != 0 || summary.Pending != 3 {
		t.Errorf("got %s, %+v", outputs(calls), summary)
	}
	text += answer("whole", 1, `"end_turn"`)
	f.write(f.claude, text)
	if calls, summary := ingest(t, f.config, &state); outputs(calls) != "claude/main/r=1 claude/whole/r=1" || summary.Pending != 2 {
		t.Errorf("got %s, %+v", outputs(calls), summary)
	}
	text += answer("another", 1, "null") + answer("next", 1, "null") + strings.Replace(answer("other", 1, `"end_turn"`), "false", "true", 1)
	f.write(f.claude, text)
	if calls, summary := ingest(t, f.config, &state); outputs(calls) != "claude/another/r=1 claude/other/r=1" || summary.Pending != 3 {
		t.Errorf("got %s, %+v", outputs(calls), summary)
	}
	f.config.Now = later
	if calls, summary := ingest(t, f.config, &state); outputs(calls) != "claude/next/r=1 claude/side/r=1 claude/unnamed/r=1" || summary.Read != 0 {
		t.Errorf("got %s, %+v", outputs(calls), summary)
	}
	// One that grows all the same is not lost.
	text += agentAnswer(`,"agentId":"x"`, "side", 7, `"end_turn"`)
	f.write(f.claude, text)
	calls, summary := ingest(t, f.config, &state)
	if outputs(calls) != "claude/side/r+1=6" || calls[0].Usage.Input != 0 || summary.Problems[transcript.Late] != 1 {
		t.Errorf("got %s, %v", outputs(calls), summary.List)
	}
	f.write(f.claude, text+agentAnswer(`,"agentId":"x"`, "side", 9, `"end_turn"`))
	if calls, _ := ingest(t, f.config, &state); outputs(calls) != "claude/side/r+2=2" {
		t.Errorf("got %s", outputs(calls))
	}
}

// TestPartialCopies: a fork can hold only the first lines of a message. Which file is read first does not matter.
func TestPartialCopies(t *testing.T) {
	f := newFiles(t)
	f.write(f.claude, answer("a", 1, "null")+answer("a", 9, `"end_turn"`))
	f.write(filepath.Join(filepath.Dir(f.claude), "00000000-0000-4000-8000-000000000000.jsonl"), answer("a", 1, "null")+answer("b", 2, `"end_turn"`))
	var state transcript.State
	if calls, summary := ingest(t, f.config, &state); outputs(calls) != "claude/a/r=9 claude/b/r=2" || len(summary.Problems) != 0 {
		t.Errorf("got %s, %v", outputs(calls), summary.List)
	}
}

// TestForksOfForks that copy their parents' history, and grow from one ingest to the next.
func TestForksOfForks(t *testing.T) {
	f := newFiles(t)
	session := func(n int) string { return strings.Replace(codexSession, "0a", fmt.Sprintf("%02x", 10+n), 1) }
	name := func(n int) string {
		return strings.Replace(f.codex, "00-00-"+codexSession, fmt.Sprintf("00-%02d-%s", n, session(n)), 1)
	}
	meta := func(n int) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-30T09:00:00Z","type":"session_meta","payload":{"id":%q,"forked_from_id":%q}}`+"\n", session(n), session(n-1))
	}
	// Two calls of each; the last file comes first in no order.
	f.write(f.codex, sum(10, 1)+sum(20, 2))
	f.write(name(2), meta(2)+sum(10, 1)+sum(20, 2)+sum(30, 3))
	f.write(name(1), meta(1)+sum(10, 1)+sum(20, 2)+sum(30, 3)+sum(40, 4))
	var state transcript.State
	first, _ := ingest(t, f.config, &state)
	f.write(name(2), meta(2)+sum(10, 1)+sum(20, 2)+sum(30, 3)+sum(44, 5))
	second, _ := ingest(t, f.config, &state)
	var got []string
	for _, c := range append(first, second...) {
		got = append(got, strings.TrimPrefix(c.ID, "codex/01a00000-0000-7000-8000-0000000000")+fmt.Sprint("=", c.Usage.Output))
	}
	if want := "0a/1=1 0a/2=1 0b/1=1 0b/2=1 0c/1=2"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

func TestErrorsGiveTheOldState(t *testing.T) {
	home := t.TempDir()
	if _, _, err := transcripttest.Write(home, 3, 1<<20); err != nil {
		t.Fatal(err)
	}
	c := transcript.Config{Claude: []string{filepath.Join(home, ".claude")}, Codex: []string{filepath.Join(home, ".codex")}, Now: later}
	var all transcript.State
	want, _ := ingest(t, c, &all)
	full := errors.New("full")
	times := 0
	if _, _, err := transcript.Ingest(t.Context(), c, transcript.State{}, func([]cost.Call) error { times++; return nil }); err != nil {
		t.Fatal(err)
	}
	for at := range times {
		n := 0
		state, _, err := transcript.Ingest(t.Context(), c, transcript.State{}, func([]cost.Call) error {
			if n++; n > at {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || n != at+1 {
			t.Errorf("got %v after %d times, want %d", err, n, at+1)
		}
		if got, _ := ingest(t, c, &state); !slices.Equal(ids(got), ids(want)) {
			t.Errorf("then %d calls, want %d", len(got), len(want))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := transcript.Ingest(ctx, c, transcript.State{}, func([]cost.Call) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func ids(calls []cost.Call) []string {
	var all []string
	for _, c := range calls {
		all = append(all, c.ID)
	}
	return all
}

func TestStateRefusesDamage(t *testing.T) {
	for _, text := range []string{`{`, `{}`, `{"schemaVersion":2}`, `{"schemaVersion":1,"told":"AAAA"}`, `{"schemaVersion":1,"told":"AAAAAAAAAAABAgM="}`,
		`{"schemaVersion":1,"files":{"x":{"offset":-1}}}`, `{"schemaVersion":1,"files":{"x":{"offset":5,"head":{"bytes":9}}}}`,
		`{"schemaVersion":1,"files":{"x":{"offset":5000000000,"head":{"bytes":4000000000}}}}`} {
		var state transcript.State
		if err := json.Unmarshal([]byte(text), &state); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
