package transcript_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"aesop/cost"
	"aesop/cost/transcript"
	"aesop/cost/transcript/transcripttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update-calls", false, "write the golden file")

// later is a clock by which all files have been left alone for long.
func later() time.Time { return time.Now().Add(time.Hour) }

// ingest runs Ingest, hands the state on as its document, and returns the calls in the order of their ids.
func ingest(t *testing.T, c transcript.Config, state *transcript.State) ([]cost.Call, transcript.Summary) {
	t.Helper()
	var calls []cost.Call
	next, summary, err := transcript.Ingest(t.Context(), c, *state, func(some []cost.Call) error {
		for _, call := range some {
			if err := call.Check(); err != nil {
				t.Error(err)
			}
		}
		calls = append(calls, some...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(next)
	if err == nil {
		*state = transcript.State{}
		err = json.Unmarshal(data, state)
	}
	if err != nil {
		t.Fatal(err)
	}
	if summary.Calls != len(calls) {
		t.Errorf("%d calls are said, %d were given", summary.Calls, len(calls))
	}
	slices.SortFunc(calls, func(a, b cost.Call) int { return cmp.Compare(a.ID, b.ID) })
	return calls, summary
}

func fixtures() transcript.Config {
	return transcript.Config{Claude: []string{"testdata/claude", "testdata/none"}, Codex: []string{"testdata/codex"}, Now: later}
}

func TestGolden(t *testing.T) {
	var state transcript.State
	calls, summary := ingest(t, fixtures(), &state)
	var got bytes.Buffer
	for _, c := range calls {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n", data)
	}
	for _, p := range summary.List {
		fmt.Fprintln(&got, filepath.ToSlash(p.String()))
	}
	const golden = "testdata/calls.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
	if again, summary := ingest(t, fixtures(), &state); len(again) != 0 || summary.Bytes != 0 || summary.Read != 0 {
		t.Errorf("the second time %d calls and %+v", len(again), summary)
	}
}

// totals adds up calls by model.
func totals(calls []cost.Call) transcripttest.Totals {
	sum := transcripttest.Totals{}
	for _, c := range calls {
		u := c.Usage
		if old, ok := sum[u.Model]; ok {
			u = old.Add(u)
		}
		sum[u.Model] = u
	}
	return sum
}

func TestFindsWhatWasWritten(t *testing.T) {
	home := t.TempDir()
	claude, codex, err := transcripttest.Write(home, 7, 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	c := transcript.Find(func(name string) string { return map[string]string{"HOME": home}[name] })
	var told []transcript.Progress
	c.Progress = func(p transcript.Progress) { told = append(told, p) }
	c.Now = later
	var state transcript.State
	calls, summary := ingest(t, c, &state)
	for model, u := range codex {
		claude[model] = u
	}
	if diff := gocmp.Diff(claude, totals(calls)); diff != "" || len(summary.Problems) != 0 {
		t.Errorf("%s%v", diff, summary.List)
	}
	ids := map[string]bool{}
	agents := map[string]bool{}
	for _, c := range calls {
		if ids[c.ID] || c.Session == "" || c.Source != "transcript" {
			t.Errorf("got %+v", c)
		}
		ids[c.ID], agents[c.Agent] = true, true
	}
	if !agents["general-purpose"] {
		t.Error("no call of a sub-agent")
	}
	last := told[len(told)-1]
	if last.Files != summary.Files || last.AllFiles != summary.Files || last.Bytes != summary.Bytes || last.AllBytes != summary.Bytes {
		t.Errorf("told %+v, %+v", last, summary)
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		environment   map[string]string
		claude, codex []string
	}{
		{map[string]string{"HOME": "/h"}, []string{"/h/.config/claude", "/h/.claude"}, []string{"/h/.codex"}},
		{map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "/a, /b", "CODEX_HOME": "/c"}, []string{"/a", "/b"}, []string{"/c"}},
		{nil, nil, nil},
	} {
		c := transcript.Find(func(name string) string { return test.environment[name] })
		for _, list := range [][]string{c.Claude, c.Codex} {
			for i := range list {
				list[i] = filepath.ToSlash(list[i])
			}
		}
		if !slices.Equal(c.Claude, test.claude) || !slices.Equal(c.Codex, test.codex) {
			t.Errorf("%v: got %q, %q", test.environment, c.Claude, c.Codex)
		}
	}
}

// files are the session files of both programs in a new folder.
type files struct {
	t      *testing.T
	config transcript.Config
	claude string
	codex  string
}

const (
	claudeSession = "10000000-0000-4000-8000-000000000001"
	codexSession  = "01a00000-0000-7000-8000-00000000000a"
)

func newFiles(t *testing.T) *files {
	dir := t.TempDir()
	f := &files{t: t, config: transcript.Config{Claude: []string{filepath.Join(dir, "claude")}, Codex: []string{filepath.Join(dir, "codex")}, Now: later}}
	f.claude = filepath.Join(dir, "claude", "projects", "-work", claudeSession+".jsonl")
	f.codex = filepath.Join(dir, "codex", "sessions", "2026", "11", "30", "rollout-2026-11-30T10-00-00-"+codexSession+".jsonl")
	return f
}

func (f *files) write(name, text string) {
	f.t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// answer is a line of Claude Code.
func answer(id string, output int, stop string) string {
	return agentAnswer("", id, output, stop)
}

func agentAnswer(more, id string, output int, stop string) string {
	return fmt.Sprintf(`{"isSidechain":false%s,"message":{"content":[{"type":"text","text":"ü \"x\""}],"id":%q,"model":"m","role":"assistant","stop_reason":%s,`+
		`"usage":{"input_tokens":10,"output_tokens":%d}},"requestId":"r","type":"assistant","timestamp":"2026-11-30T10:00:00Z","sessionId":"s"}`+"\n", more, id, stop, output)
}

// sum is a line of Codex.
func sum(input, output int) string {
	return fmt.Sprintf(`{"timestamp":"2026-11-30T10:00:00Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,`+
		`"cached_input_tokens":1,"output_tokens":%d}}}}`+"\n", input, output)
}

func outputs(calls []cost.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, fmt.Sprintf("%s=%d", c.ID, c.Usage.Output))
	}
	return strings.Join(all, " ")
}

func TestLongLines(t *testing.T) {
	f := newFiles(t)
	long := strings.Repeat("x", 50<<20)
	text := answer("a", 1, `"end_turn"`) + `{"isSidechain":false,"type":"user","message":{"role":"user","content":"` + long + `"}}` + "\n" +
		`{"message":{"id":"b","role":"assistant","content":"` + long + `"}}` + "\n" + answer("c", 2, `"end_turn"`) +
		`{"message":{"id":"d","content":"` + long[:1<<20] + `","model":"m","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":3}},"type":"assistant","timestamp":"2026-11-30T10:00:00Z"}` + "\n"
	f.write(f.claude, text)
	var state transcript.State
	calls, summary := ingest(t, f.config, &state)
	if outputs(calls) != "claude/a/r=1 claude/c/r=2 claude/d=3" || summary.Problems[transcript.TooLong] != 1 || summary.List[0].Line != 3 {
		t.Errorf("got %s, %v", outputs(calls), summary.List)
	}
	if _, summary := ingest(t, f.config, &state); summary.Read != 0 {
		t.Errorf("then %+v", summary)
	}
	f.write(f.claude, text+answer("e", 1, `"end_turn"`))
	if calls, summary := ingest(t, f.config, &state); outputs(calls) != "claude/e/r=1" || summary.Bytes != int64(len(answer("e", 1, `"end_turn"`))) {
		t.Errorf("got %s, %+v", outputs(calls), summary)
	}
	f.write(f.claude, `{"a" "`+long[:1<<20]+"\n"+answer("a", 1, `"end_turn"`))
	state = transcript.State{}
	if calls, summary := ingest(t, f.config, &state); len(calls) != 1 || summary.Problems[transcript.Corrupt] != 1 {
		t.Errorf("damaged: got %s, %v", outputs(calls), summary.List)
	}
	f.write(f.claude, answer("a", 1, `"end_turn"`)+`{"type":"user","message":{"content":"`+long) // torn
	state = transcript.State{}
	if calls, summary := ingest(t, f.config, &state); len(calls) != 1 || summary.Problems[transcript.Torn] != 1 {
		t.Errorf("got %s, %v", outputs(calls), summary.List)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	f := newFiles(t)
	f.write(f.claude, answer("a", 1, `"end_turn"`))
	outside := t.TempDir()
	f.write(filepath.Join(outside, "x.jsonl"), answer("secret", 1, `"end_turn"`))
	project := filepath.Dir(f.claude)
	for name, target := range map[string]string{"file.jsonl": filepath.Join(outside, "x.jsonl"), "folder": outside, "inside.jsonl": f.claude} {
		if err := os.Symlink(target, filepath.Join(project, name)); err != nil {
			t.Skip("not applicable: links cannot be made here: " + err.Error())
		}
	}
	var state transcript.State
	if calls, summary := ingest(t, f.config, &state); outputs(calls) != "claude/a/r=1" || summary.Problems[transcript.Link] != 3 {
		t.Errorf("got %s, %v", outputs(calls), summary.List)
	}
	// The folder itself may be one.
	linked := filepath.Join(outside, "home")
	if err := os.Symlink(f.config.Claude[0], linked); err != nil {
		t.Fatal(err)
	}
	state = transcript.State{}
	if calls, _ := ingest(t, transcript.Config{Claude: []string{linked}, Now: later}, &state); outputs(calls) != "claude/a/r=1" {
		t.Errorf("got %s", outputs(calls))
	}
}

func TestUnreadable(t *testing.T) {
	f := newFiles(t)
	f.write(f.claude, answer("a", 1, `"end_turn"`))
	f.write(filepath.Join(f.config.Codex[0], "sessions"), "a file")
	var state transcript.State
	if calls, summary := ingest(t, f.config, &state); len(calls) != 1 || summary.Problems[transcript.Unreadable] != 1 {
		t.Errorf("got %s, %v", outputs(calls), summary.List)
	}
}
