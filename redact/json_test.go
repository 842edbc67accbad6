package redact_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"aesop/redact"
	"aesop/redact/redacttest"
)

// TestJSON: strings are judged one by one, so that what a key or a neighbour is called says nothing, but for flags of commands.
func TestJSON(t *testing.T) {
	r := redactor(t, redact.Logs, "walrus & \"carpenter\"")
	rng := rand.New(rand.NewPCG(1, 2))
	token, opaque := redacttest.Fill(rng, "ghp_{alnum:36}"), redacttest.Fill(rng, "{alnum:24}")
	const known = "[REDACTED:known-value]"
	shown := r.String(token)
	for _, row := range []struct{ in, want string }{
		{`{"rotate_api_token": "` + opaque + `", "n": 1}`, `{"rotate_api_token": "` + opaque + `", "n": 1}`},
		{`["rotate_api_token","` + opaque + `"]`, `["rotate_api_token","` + opaque + `"]`},
		{`{"a": "api_token=` + opaque + `"}`, `{"a": "` + r.String("api_token="+opaque) + `"}`},
		{`{"a": "{\"api_token\": \"` + opaque + `\"}"}`, `{"a": "{\"api_token\": \"[REDACTED:named-secret]\"}"}`},
		{"{\n  \"a\" : [ \"x\", \"" + token + "\" ],\n  \"" + token + "\": null\n}\n", "{\n  \"a\" : [ \"x\", \"" + shown + "\" ],\n  \"" + shown + "\": null\n}\n"},
		{`["walrus \u0026 \"carpenter\"", "walrus & \u0022carpenter\u0022"]`, `["` + known + `", "` + known + `"]`},
		{`{"argv": ["login", "--password", "` + opaque + `"]}`, `{"argv": ["login", "--password", "` + `[REDACTED:named-secret]` + `"]}`},
		{`{"argv": ["login", "--password=` + opaque + `", "--user", "robot", "-p"]}`, `{"argv": ["login", "--password=[REDACTED:named-secret]", "--user", "robot", "-p"]}`},
		{`{"a": "--password", "` + opaque + `": 1}`, `{"a": "--password", "` + opaque + `": 1}`},
		{`{"argv": ["login", "` + opaque + `", ["--password"], "` + opaque + `"]}`, `{"argv": ["login", "` + opaque + `", ["--password"], "` + opaque + `"]}`},
		{`{"argv": ["login", "` + opaque + `", ["--password"]]}`, `{"argv": ["login", "` + opaque + `", ["--password"]]}`},
		{`[]`, `[]`}, {`["-"]`, `["-"]`}, {`"\\"`, `"\\"`}, {`12`, `12`}, {``, ``},
		{`{"a": "` + token, `{"a": "` + shown},
	} {
		got := string(r.JSON([]byte(row.in)))
		if got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.in, got, row.want)
		}
		if json.Valid([]byte(row.in)) != json.Valid([]byte(got)) {
			t.Errorf("%s: no JSON any more", row.in)
		}
		if again := string(r.JSON([]byte(got))); again != got {
			t.Errorf("%s: once more it is %s", got, again)
		}
	}
}

// FuzzJSON: JSON stays JSON, and the second time nothing changes.
func FuzzJSON(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shape := range []string{`{"a": "ghp_{alnum:36}"}`, `["--token", "{alnum:30}", "x\n"]`, `[[["\"", "-p"], "\u00e9"]]`, `{"password": "{alnum:12}", "b": ["-"]}`} {
		f.Add([]byte(redacttest.Fill(rng, shape)))
	}
	r := redactor(f, redact.Logs, "walrus")
	f.Fuzz(func(t *testing.T, document []byte) {
		if !json.Valid(document) {
			return
		}
		once := r.JSON(document)
		if !json.Valid(once) {
			t.Fatalf("%q became %q", document, once)
		}
		if twice := r.JSON(once); string(twice) != string(once) {
			t.Errorf("%q became %q, then %q", document, once, twice)
		}
	})
}
