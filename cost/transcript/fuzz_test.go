package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
)

// seeds adds the lines of the fixtures.
func seeds(f *testing.F, pattern string) {
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			f.Add(line)
		}
	}
}

// members reads an object as encoding/json does, with names as they are written; ok is false for anything else.
func members(data []byte) (m map[string]json.RawMessage, ok bool) {
	return m, json.Unmarshal(data, &m) == nil && m != nil
}

// words is the string that a member is; null and none are "".
func words(t *testing.T, m map[string]json.RawMessage, name string) (text string, ok bool) {
	t.Helper()
	if m[name] == nil {
		return "", true
	}
	return text, json.Unmarshal(m[name], &text) == nil
}

// figure is the count that a member is.
func figure(m map[string]json.RawMessage, name string) int64 {
	var n int64
	_ = json.Unmarshal(m[name], &n)
	return n
}

// FuzzClaudeLine: what the scanner says of a line is what encoding/json says.
func FuzzClaudeLine(f *testing.F) {
	seeds(f, "claude/projects/*/*.jsonl")
	f.Add([]byte(`{"message":{"usage":{"input_tokens":1},"usage":null,"id":"a"},"message":{"usage":{"output_tokens":3}},"type":"assistant","type":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var c claudeLine
		err := c.parse(line)
		if bytes.ContainsAny(line, "\n") || bytes.Contains(line, []byte(`\u`)) {
			return // no line; a name that is written in escapes is not known
		}
		all, ok := members(line)
		if !ok {
			return // strings that nobody asks for are not held to the grammar
		}
		m, _ := members(all["message"])
		u, metered := members(m["usage"])
		kind, plain := words(t, all, "type")
		role, plain1 := words(t, m, "role")
		model, plain2 := words(t, m, "model")
		if !plain || !plain1 || !plain2 || err != nil && err != errSkip {
			if err == nil {
				t.Errorf("took what is no text: %+v", c)
			}
			return
		}
		var failed bool
		_ = json.Unmarshal(all["isApiErrorMessage"], &failed)
		want := kind == "assistant" && metered && (m["role"] == nil || role == "assistant") && !failed && model != "<synthetic>"
		if (err == nil) != want {
			t.Fatalf("got %v, want it: %v", err, want)
		}
		if err != nil || c.bad != "" || u["iterations"] != nil {
			return
		}
		id, _ := words(t, m, "id")
		session, _ := words(t, all, "sessionId")
		split, _ := members(u["cache_creation"])
		details, _ := members(u["output_tokens_details"])
		got := []any{string(c.id), string(c.model), string(c.session), c.counts[input], c.counts[cacheRead], c.counts[output], c.counts[write1h], c.counts[reasoning]}
		wanted := []any{id, model, session, figure(u, "input_tokens"), figure(u, "cache_read_input_tokens"), figure(u, "output_tokens"),
			figure(split, "ephemeral_1h_input_tokens"), figure(details, "thinking_tokens")}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzCodexLine(f *testing.F) {
	seeds(f, "codex/sessions/*/*/*/*.jsonl")
	f.Add([]byte(`{"payload":{"info":{"total_token_usage":{"input_tokens":3}},"type":"token_count"},"timestamp":"x","type":"event_msg"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var c codexLine
		err := c.parse(line)
		all, ok := members(line)
		if err != nil || !ok || !c.hasTotal || c.bad != "" || bytes.Contains(line, []byte(`\u`)) || bytes.Contains(line, []byte("\n")) {
			return
		}
		payload, _ := members(all["payload"])
		total, _ := members(payload["thread_token_usage"])
		if string(c.kind) == "event_msg" {
			info, _ := members(payload["info"])
			total, _ = members(info["total_token_usage"])
		}
		want := codexTotals{figure(total, "input_tokens"), figure(total, "cached_input_tokens"), figure(total, "cache_write_input_tokens"),
			figure(total, "output_tokens"), figure(total, "reasoning_output_tokens")}
		if diff := cmp.Diff(want, c.total); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzScanner: it takes every JSON object, and nothing whose structure is none.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":[1,-0.5e+3,true,null,{"b":"\\\""}]}`, `{"a":01}`, `{"a":1.}`, `{"a":tru}`, `{"a" "b"}`, `{"a":1,}`, `{"a":[1 2]}`, `{"a":"`, `{"a":1}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, "\n") || strings.Count(string(text), "[")+strings.Count(string(text), "{") > maxDepth {
			return
		}
		s := scanner{text: text}
		err := s.object(func([]byte) error { return s.skip(0) })
		if err == nil {
			err = s.end()
		}
		_, object := members(text)
		strings := bytes.Contains(text, []byte(`\`)) || bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
		if object && err != nil || !object && err == nil && !strings {
			t.Errorf("got %v for %q", err, text)
		}
	})
}

// FuzzIngest: no file makes a call that cannot be one, and none is given twice, wherever the file was cut.
func FuzzIngest(f *testing.F) {
	for _, name := range []string{"claude/projects/-src-shop/10000000-0000-4000-8000-000000000001.jsonl",
		"codex/sessions/2026/11/30/rollout-2026-11-30T10-01-00-01a00000-0000-7000-8000-00000000000a.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, 3000)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		home := t.TempDir()
		config := Config{Claude: []string{home}, Codex: []string{home}, Now: func() time.Time { return time.Now().Add(time.Hour) }}
		given := map[string]bool{}
		var state State
		for _, part := range [][]byte{text[:min(max(cut, 0), len(text))], text} {
			for _, folder := range []string{"projects", "sessions"} {
				if err := os.MkdirAll(filepath.Join(home, folder), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, folder, "x.jsonl"), part, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			next, _, err := Ingest(t.Context(), config, state, func(calls []cost.Call) error {
				for _, c := range calls {
					if err := c.Check(); err != nil || given[c.ID] {
						t.Errorf("got %+v, %v, again: %v", c, err, given[c.ID])
					}
					given[c.ID] = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(next)
			if err == nil {
				state = State{}
				err = json.Unmarshal(data, &state)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzState: what it takes, it writes again, and what does not fit is refused.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"files":{"a":{"size":3,"offset":2,"lines":1}},"pending":[],"told":"AAAAAAAAAAEBAQIDBAUG"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var state, again State
		if json.Unmarshal(data, &state) != nil {
			return
		}
		text, err := json.Marshal(state)
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if second, _ := json.Marshal(again); !bytes.Equal(text, second) {
			t.Errorf("%s became %s", text, second)
		}
	})
}
