package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"aesop/redact"
)

// TestExplainSaysWhereInTheText although each pass reads what the one before it wrote.
func TestExplainSaysWhereInTheText(t *testing.T) {
	const known = "opaque-value"
	r := redactor(t, redact.Logs, known)
	token := "gh" + "p_" + strings.Repeat("aB3", 12)
	text := "é " + known + " and " + token + " and password=" + strings.Repeat("q7", 200) + "\n" + known + " https:" + "//u:" + token + "@host.test/x"
	var got []string
	for _, f := range r.Explain([]byte(text)) {
		part := text[f.Start:f.End]
		if len(part) > 40 {
			part = fmt.Sprint(len(part), " bytes of ", part[:4])
		}
		got = append(got, fmt.Sprintf("%s %s %s", f.Rule, f.Severity, part))
	}
	want := []string{"known-value critical " + known, "github-token critical " + token, "named-secret high 400 bytes of q7q7", "known-value critical " + known, "github-token critical " + token}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestExplainOfManyFindings: were each compared with all others, it would not end soon.
func TestExplainOfManyFindings(t *testing.T) {
	const many = 400_000
	if n := len(redactor(t, redact.Logs).Explain([]byte(strings.Repeat("password=\"", many)))); n < many/2 {
		t.Errorf("%d findings", n)
	}
}

func TestFindingAsJSONHasNoValue(t *testing.T) {
	r := redactor(t, redact.Logs, "opaque-value")
	data, err := json.Marshal(r.Explain([]byte("x opaque-value")))
	if want := `[{"rule":"known-value","severity":"critical","start":2,"end":14,"checked":false}]`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}

// TestChecksumRaisesTheConfidence of a token that a vendor issued; one whose checksum is wrong is taken out all the same.
func TestChecksumRaisesTheConfidence(t *testing.T) {
	r := redactor(t, redact.Logs)
	body := strings.Repeat("xY4", 10)
	sum, digits := crc32.ChecksumIEEE([]byte(body)), ""
	for range 6 {
		digits, sum = string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[sum%62])+digits, sum/62
	}
	for _, prefix := range []string{"gh" + "p_", "gh" + "o_", "npm" + "_"} {
		for text, checked := range map[string]bool{prefix + body + digits: true, prefix + body + "000000": false, prefix + body + digits + "x": false} {
			found := r.Explain([]byte(text))
			if len(found) != 1 || found[0].Checked != checked || found[0].End != len(text) {
				t.Errorf("%s: %+v", text, found)
			}
		}
	}
}

// TestRulesOfTheCaller are tried after the built-in ones, and with With the known values are the same.
func TestRulesOfTheCaller(t *testing.T) {
	own := redact.Rule{ID: "our-key", Severity: redact.Critical, Pattern: `\bours-[a-z]{8,}`}
	named := redact.Rule{ID: "our-vendor", Severity: redact.High, Name: "acme", Pattern: `[0-9]{6}`}
	r, err := redact.New(redact.Config{Rules: []redact.Rule{own}})
	if err != nil {
		t.Fatal(err)
	}
	both, err := r.With(named)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Register("opaque-value"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"see ours-abcdefghij.": "see [REDACTED:our-key].",
		"yours-abcdefghij":     "yours-abcdefghij",
		"ours-abc":             "ours-abc",
		"acme_id: 123456":      "acme_id: [REDACTED:our-vendor]",
		"acme_id: 1234567":     "acme_id: 1234567",
		"other_id: 123456":     "other_id: 123456",
		"opaque-value":         "[REDACTED:known-value]",
	} {
		if got := both.String(text); got != want {
			t.Errorf("%s becomes %s, not %s", text, got, want)
		}
	}
	if got := r.String("acme_id: 123456"); got != "acme_id: 123456" {
		t.Errorf("With changed the first: %s", got)
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	for _, bad := range []struct {
		rule redact.Rule
		says string
	}{
		{redact.Rule{ID: "Not Good", Pattern: "abcd"}, `"Not Good"`},
		{redact.Rule{ID: "a", Pattern: "ab("}, "missing closing"},
		{redact.Rule{ID: "a", Pattern: "[a-z]{20}"}, "no literal of three bytes"},
		{redact.Rule{ID: "a", Pattern: "abc[a-z]+z"}, "'z'"},
		{redact.Rule{ID: "a", Pattern: "abc(d)"}, "capturing"},
		{redact.Rule{ID: "a", Pattern: "abc$"}, "one look forward"},
		{redact.Rule{ID: "a", Pattern: "abcé"}, "not ASCII"},
		{redact.Rule{ID: "a", Pattern: "abc(?:de){2,}"}, "more than a class"},
		{redact.Rule{ID: "a", Name: "Acme", Pattern: "[0-9]{6}"}, `"Acme"`},
		{redact.Rule{ID: "a"}, "pattern"},
		{redact.Rule{ID: "github-token", Pattern: "abcd"}, "there is one"},
	} {
		if _, err := redact.New(redact.Config{Rules: []redact.Rule{bad.rule}}); err == nil || !strings.Contains(err.Error(), bad.says) || !strings.Contains(err.Error(), bad.rule.ID) {
			t.Errorf("%+v: %v", bad.rule, err)
		}
	}
}

// TestWriterHandsOnWholeLines at once: what is looked at live does not lag.
func TestWriterHandsOnWholeLines(t *testing.T) {
	r := redactor(t, redact.PublicDataset, "two words", "multi line\nvalue of it")
	var out bytes.Buffer
	w := r.NewWriter(&out)
	for _, line := range []string{"--- agent, round 1\n", "ä first\n", "https://host.test/path\n", "password: none\n", `{"type":"text","text":"hello"}` + "\n", "see bearer of\n"} {
		write(t, w, line)
		if out.String() != line {
			t.Errorf("of %q it gave %q", line, out.String())
		}
		out.Reset()
	}
	write(t, w, "multi line\n")
	if out.Len() != 0 {
		t.Errorf("it gave %q, which may be a secret's beginning", out.String())
	}
	write(t, w, "is not it\n")
	if out.String() != "multi line\nis not it\n" {
		t.Errorf("it gave %q", out.String())
	}
}

// TestLineWithoutEnd is handed on too, and what is held stays small.
func TestLineWithoutEnd(t *testing.T) {
	r := redactor(t, redact.PublicDataset)
	for name, part := range map[string]string{"letters": "abcdefgh", "URL": "://a/b", "BEGIN": "-----BEGIN " + "PRIVATE KEY-----", "quotes": `token="`, "userinfo": "https://u:p/", "at": "a:b@"} {
		count := &counter{}
		w := r.NewWriter(count)
		wrote := 0
		for range 40 {
			text := strings.Repeat(part, 5000)
			write(t, w, text)
			wrote += len(text)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if count.largest > 256<<10 {
			t.Errorf("%s: it held %d bytes", name, count.largest)
		}
	}
}

// counter is a writer that remembers the largest piece.
type counter struct{ largest int }

func (c *counter) Write(p []byte) (int, error) {
	c.largest = max(c.largest, len(p))
	return len(p), nil
}

func TestWriterOfWhatFails(t *testing.T) {
	r := redactor(t, redact.Logs)
	w := r.NewWriter(full{})
	if _, err := w.Write([]byte("a line\n")); err != errFull {
		t.Errorf("error %v", err)
	}
	if err := w.Close(); err != errFull {
		t.Errorf("close: %v", err)
	}
	done := r.NewWriter(&bytes.Buffer{})
	if err := done.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := done.Write([]byte("x")); n != 0 || err == nil {
		t.Errorf("a closed writer took %d bytes: %v", n, err)
	}
	if err := done.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

var errFull = fmt.Errorf("no space")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestEnvironmentSecrets(t *testing.T) {
	got := redact.EnvironmentSecrets([]string{"DEPLOY_TOKEN=opaque-value", "PATH=/bin:/usr/bin", "API_KEY=short", "SSH_KEY=/home/ada/.ssh/key", "TOKENS=many-of-them", "BROKEN"})
	if len(got) != 1 || got[0] != "opaque-value" {
		t.Errorf("%q", got)
	}
}
