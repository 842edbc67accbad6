package redact_test

import (
	"strings"
	"testing"

	"aesop/redact"
)

// TestWhatAnEarlierMatchHidesFromALook: what a look reads before a place is there also behind a match.
func TestWhatAnEarlierMatchHidesFromALook(t *testing.T) {
	const value = "correct-h0rse"
	for _, text := range []string{
		`curl -H "Authorization: Bearer ` + `abcdefgh1jklmnop" -u bob:` + value + ` https://x.test`,
		`curl -u bob` + `:first-0ne --user bob:` + value,
		"kind: " + "Secret\nstringData:\n  a: b\ndata:\n  dsn: " + value + "\n",
		"machine x.test login bob@x.test password " + value,
	} {
		r := redactor(t, redact.Transcripts)
		got := r.String(text)
		if strings.Contains(got, value) {
			t.Errorf("%q becomes %q", text, got)
		}
		properties(t, r, []byte(text), 1)
	}
}

// TestTextsThatOnceBrokeAProperty are of long random search.
func TestTextsThatOnceBrokeAProperty(t *testing.T) {
	redactors := []*redact.Redactor{redactor(t, redact.Logs), redactor(t, redact.PublicDataset)}
	for _, text := range []string{
		`"msg: \"password\": 123` + `45678"`,
		`{"a":"{\"b\":\"{\\\"password\\\": 123` + `45678}\"}"}`,
		"Authorization: [REDACTED:---\n",
		`{"curl x --user \\":12345678,"n":1}`,
		"cookie: [eyJ?sig=ghijkl",
		"\\äuser:secretpw@host.example",
		`["https://x --user https:\\/\\/ ","  https://x --user https:\\/\\/ "]`,
		"Cook" + "ie: a=bx x \"-----\\n\\\\u003cset(\"API_TO" + "KEN\", \"cmVmdC:\\\\Users\\\\bob\\\\\")",
		`["stringData:\n  [REDACTEDkind: Secret\n\t","stringData:\n  [REDACTEDkind: Secret\n\t"]`,
	} {
		for _, r := range redactors {
			for seed := range uint64(40) {
				properties(t, r, []byte(text), seed)
			}
		}
	}
}

// TestNumbersInNestedJSONGo: their markers have the quotes of the text that they are in.
func TestNumbersInNestedJSONGo(t *testing.T) {
	r := redactor(t, redact.Logs)
	for text, want := range map[string]string{
		`{"password": 123` + `45678}`:           `{"password": "[REDACTED:named-secret]"}`,
		`{"a":"{\"password\": 123` + `45678}"}`: `{"a":"{\"password\": \"[REDACTED:named-secret]\"}"}`,
		`"{\"a\":\"{\\\"password\\\":1234}`:     `"{\"a\":\"{\\\"password\\\":\\\"[REDACTED:named-secret]\\\"}`,
	} {
		if got := r.String(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// TestAWriterHandsOnWholeLines: of one that is no secret and does not begin one, nothing waits for the next, as who reads a log expects.
func TestAWriterHandsOnWholeLines(t *testing.T) {
	r := redactor(t, redact.PublicDataset, planted...)
	for _, line := range []string{"hello", "PASS", "passed", "the monkey", "an author", "token", "password:", "password=", "password = ", "Authorization:",
		"Authorization: Bearer", "bearer", "bearer ", "kind: Secret", `env["A_KEY"]`, `"password"`, "https://x.test", "a@b.test", "metadata:", "curl -u", "[REDACTED"} {
		var out strings.Builder
		w := r.NewWriter(&out)
		text := strings.Repeat("a line before\n", 40) + line + "\n"
		write(t, w, text)
		if got := out.String(); !strings.HasSuffix(got, "\n") || strings.Count(got, "\n") != 41 {
			t.Errorf("%q waits: %q", line, text[min(len(got), len(text)):])
		}
	}
}

// TestAPatternWithSpacesBeforeItsWord is found also when a writer gets it byte by byte.
func TestAPatternWithSpacesBeforeItsWord(t *testing.T) {
	r, err := redact.New(redact.Config{Rules: []redact.Rule{{ID: "spaced", Pattern: `[a-z ]{12}QXZ[0-9]{4,}`}}})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(30) {
		properties(t, r, []byte("x y z aa bb cc dd QXZ12345 token="+"hunter22 x y z aa bb cc dd QXZ1"), seed)
	}
}
