package field_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"aesop/redact"
	"aesop/redact/internal/field"
)

var token = "AKIA" + strings.Repeat("Q7", 8)

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestText(t *testing.T) {
	r := redactor(t)
	for _, tt := range []struct{ key, value, want string }{
		{"a", "x y\n", "x y\n"}, {"", "x", "x"}, {"password", "", ""}, {"password", "x", redact.Marker}, {"a=b", "c", "c"}, {"x@y", "z", "z"},
	} {
		if got := field.Text(r, tt.key, tt.value); got != tt.want {
			t.Errorf("%s = %q becomes %q", tt.key, tt.value, got)
		}
	}
	for _, key := range []string{"", "a", token, "a=" + token, "AKIA"} {
		if got := field.Text(r, key, "x "+token+" y"); strings.Contains(got, token) || !strings.HasPrefix(got, "x ") || !strings.HasSuffix(got, " y") {
			t.Errorf("under %s is %q", key, got)
		}
	}
}

// kind is in the marker of what has a rule.
var kind = regexp.MustCompile(`\[REDACTED:[a-z0-9-]+\]`)

func TestRewrite(t *testing.T) {
	r := redactor(t)
	for text, want := range map[string]string{
		`{"a": [1, -2.50e7, "x", true, false, null, {}, []]}`: "",
		`"\u003c\/"`: "",
		`{"password": "x", "token": 12345, "max_tokens": 7}`:                         `{"password":"[REDACTED]","token":"[REDACTED]","max_tokens":7}`,
		`{"password": null, "secret": true, "token": "", "auth": {}, "cookies": []}`: "",
		`{"auth": {"x": "y"}, "cookies": ["x"], "a": {"passwd": "x"}}`:               `{"auth":"[REDACTED]","cookies":"[REDACTED]","a":{"passwd":"[REDACTED]"}}`,
		`{"a": ["\n<` + token + `"]}`:                                                `{"a":["\n<[REDACTED:x]"]}`,
	} {
		if want == "" {
			want = text
		}
		got, found, err := field.Rewrite(r, "", []byte(text))
		if err != nil || found != (want != text) || string(kind.ReplaceAll(got, []byte("[REDACTED:x]"))) != want {
			t.Errorf("%s becomes %s (%v), %v", text, got, found, err)
		}
	}
	for _, text := range []string{"", "{", `{"a"`, `{"a":}`, "1 2", "[1", `{"password":`, "x"} {
		if got, _, err := field.Rewrite(r, "", []byte(text)); err == nil {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// FuzzRewrite: what is JSON stays JSON, on one line if it was, and shows no secret; what is not is an error.
func FuzzRewrite(f *testing.F) {
	for _, text := range []string{`{"a":[1,"x",{"password":"y"}]}`, `"` + token + `"`, `{"` + token + `":"\u0041KIA"}`, "1e400", `{"a":1,"a":2}`, `[[[]]]`, "\"\xff\"", "{"} {
		f.Add(text)
	}
	r := redactor(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, found, err := field.Rewrite(r, "", []byte(text))
		if (err == nil) != json.Valid([]byte(text)) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		if !json.Valid(got) || found && bytes.ContainsAny(got, "\n\r") {
			t.Errorf("%q becomes %q", text, got)
		}
		if r.String(string(got)) != string(got) {
			t.Errorf("%q becomes %q, which is not clean", text, got)
		}
	})
}
