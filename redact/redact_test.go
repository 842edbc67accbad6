package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"aesop/redact"
	"aesop/redact/redacttest"
)

// TestURLsAndWhatLooksLikeThem has a row for each shape in which a URL holds credentials, and for each text that only looks so. § is ://, so
// that no file has the shape of a credential.
func TestURLsAndWhatLooksLikeThem(t *testing.T) {
	const mark = redact.Marker
	r := redactor(t, redact.Logs)
	for _, row := range []struct{ text, want string }{
		{"postgres§admin:p@ssw0rd@db.internal:5432/mydb", "postgres://" + mark + "@db.internal:5432/mydb"},
		{"scheme§user:pw@host:80/path?q=1", "scheme://" + mark + "@host:80/path?q=1"},
		{"scheme§user:pw@host", "scheme://" + mark + "@host"},
		{"https§t0ken@host.test/x", "https://" + mark + "@host.test/x"},
		{"redis§:pw@host:6379/0", "redis://" + mark + "@host:6379/0"},
		{"redis§user:@host:6379/0", "redis://" + mark + "@host:6379/0"},
		{"amqp§u:a:b@host", "amqp://" + mark + "@host"},
		{"amqp§u:a%40b@host", "amqp://" + mark + "@host"},
		{"amqp§u:a/b@host/vhost", "amqp://" + mark + "@host/vhost"},
		{"https§u:a?b@host/x", "https://" + mark + "@host/x"},
		{"https§u:a#b@host/x", "https://" + mark + "@host/x"},
		{"https§u:p@ss/w@rd@host.test/x", "https://" + mark + "@host.test/x"},
		{"custom+x.y-z§u:p@h", "custom+x.y-z://" + mark + "@h"},
		{"mongodb§dbuser:Password@[2001:db8::1]:27017/db", "mongodb://" + mark + "@[2001:db8::1]:27017/db"},
		{"http§u:p@[fe80::1%25eth0]:80/x", "http://" + mark + "@[fe80::1%25eth0]:80/x"},
		{"http§u:p@bücher.example:80/x", "http://" + mark + "@bücher.example:80/x"},
		{"mongodb§u:p@h1:1,h2:2,h3/db?replicaSet=x", "mongodb://" + mark + "@h1:1,h2:2,h3/db?replicaSet=x"},
		{"from https§a:b@x.test/1 to https§c:d@y.test/2.", "from https://" + mark + "@x.test/1 to https://" + mark + "@y.test/2."},
		{"https§a:b@x.test/1,https§c:d@y.test/2", "https://" + mark + "@x.test/1,https://" + mark + "@y.test/2"},
		{"https§x.test/a then me@y.test", "https§x.test/a then me@y.test"},
		{`{"url":"https§a:b@x.test/1","to":"c@y.test"}`, `{"url":"https://` + mark + `@x.test/1","to":"c@y.test"}`},
		{`{"url":"https:\/\/a:b@x.test\/1"}`, `{"url":"https:\/\/` + mark + `@x.test\/1"}`},
		{"`https§a:b@x.test/1` (https§c:d@y.test)", "`https://" + mark + "@x.test/1` (https://" + mark + "@y.test)"},
		{"https§u:p@x.test/a?mail=b@c.test", "https://" + mark + "@x.test/a?mail=b@c.test"},
		{"deploy:hunter22@host.example", mark + "@host.example"},

		{"https§x.test/@scope/pkg@1.2.3", ""},
		{"http§localhost:5173/@vite/client", ""},
		{"http§[::1]:8080/@fs/", ""},
		{"docker§registry.test:5000/app@sha256:" + strings.Repeat("0a", 32), ""},
		{"git+https§x.test/a/b.git@main", ""},
		{"3:4@scale", ""},
		{"10:30@noon", ""},
		{"1.5:1@2x", ""},
		{"git@github.com:org/repo.git", ""},
		{"ssh§git@x.test/a.git", ""},
		{"mailto:a@b.test", ""},
		{"npm:react@18.2.0 and logo@2x.png", ""},
		{"Grüße, 世界: naïve café — ½ Ω", ""},
	} {
		text, want := strings.ReplaceAll(row.text, "§", "://"), strings.ReplaceAll(row.want, "§", "://")
		if want == "" {
			want = text
		}
		if got := r.String(text); got != want {
			t.Errorf("%s\n becomes %s\n    want %s", text, got, want)
		}
	}
}

// TestNamesInPaths of home folders go whole, and nothing else of the path.
func TestNamesInPaths(t *testing.T) {
	r := redactor(t, redact.PublicDataset)
	const mark = "[REDACTED:home-folder]"
	for text, want := range map[string]string{
		`C:\Users\Bob Smith\y`:     `C:\Users\` + mark + `\y`,
		`C:\\Users\\Bob Smith\\y`:  `C:\\Users\\` + mark + `\\y`,
		"/Users/Bob Smith/x":       "/Users/" + mark + "/x",
		"in /home/ada and more":    "in /home/" + mark + " and more",
		"/home/ada/a b/c":          "/home/" + mark + "/a b/c",
		"at /home or in /homework": "at /home or in /homework",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestDefaultOfAReferenceGoes, and the reference alone stays.
func TestDefaultOfAReferenceGoes(t *testing.T) {
	r := redactor(t, redact.Logs)
	for text, want := range map[string]string{
		"password: ${PW:-" + "q7Tr0ub4dor}": "password: [REDACTED:named-secret]}",
		"password: ${PW}":                   "password: ${PW}",
		"password: ${PW:-}":                 "password: ${PW:-}",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestDigestsAndOrdinaryBytesStay: no rule takes a long word for a key only because it is long.
func TestDigestsAndOrdinaryBytesStay(t *testing.T) {
	r, logs := redactor(t, redact.PublicDataset), redactor(t, redact.Logs)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		file := make([]byte, 300+rng.IntN(600))
		for i := range file {
			file[i] = byte(rng.IntN(256))
		}
		for _, text := range []string{
			redacttest.Fill(rng, "commit {hex:40}"), redacttest.Fill(rng, "sha256:{hex:64}"), redacttest.Fill(rng, "{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}"),
			redacttest.Fill(rng, "h1:{base64:43}="), redacttest.Fill(rng, `"integrity": "sha512-{base64:86}=="`), base64.StdEncoding.EncodeToString(file),
		} {
			if got := r.String(text); got != text {
				t.Errorf("%q becomes %q", text, got)
			}
		}
		if got := logs.Bytes(file); !bytes.Equal(got, file) {
			t.Errorf("%q becomes %q", file, got)
		}
	}
}

// TestEachRuleMatchesItsShapes: every rule says by example what it is for, and what it is not for.
func TestEachRuleMatchesItsShapes(t *testing.T) {
	r := redactor(t, redact.PublicDataset)
	rng := rand.New(rand.NewPCG(4, 4))
	fill := func(shape string) string {
		return redacttest.Fill(rng, strings.NewReplacer("{private}", "RSA PRIVATE"+" KEY", "{secret}", "Secret").Replace(shape))
	}
	seen := map[string]bool{}
	for _, rule := range redact.Rules() {
		if seen[rule.ID] {
			t.Errorf("there are two rules %s", rule.ID)
		}
		seen[rule.ID] = true
		if rule.ID != "known-value" && (len(rule.Match) == 0 || len(rule.Avoid) == 0) {
			t.Errorf("rule %s has no shapes", rule.ID)
		}
		for _, shape := range rule.Match {
			text := fill(shape)
			if got := r.Explain([]byte(text)); len(got) == 0 {
				t.Errorf("rule %s does not match %s", rule.ID, shape)
			} else if got[0].Rule != rule.ID || got[0].Severity != rule.Severity {
				t.Errorf("%s of rule %s is %s, %s", shape, rule.ID, got[0].Rule, got[0].Severity)
			}
		}
		for _, shape := range rule.Avoid {
			for _, f := range r.Explain([]byte(fill(shape))) {
				if f.Rule == rule.ID {
					t.Errorf("rule %s matches %s", rule.ID, shape)
				}
			}
		}
	}
}

func TestKnownValuesInEveryForm(t *testing.T) {
	const value = `q7"&<é/+\'$ z!` + "\n\tend"
	r := redactor(t, redact.Logs, value)
	quoted, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(quoted))
	plain := new(bytes.Buffer)
	enc := json.NewEncoder(plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"plain":          value,
		"JSON":           string(quoted),
		"JSON, not HTML": plain.String(),
		"JSON in JSON":   string(twice),
		"query":          url.QueryEscape(value),
		"lower query":    strings.ToLower(url.QueryEscape(value)),
		"path":           url.PathEscape(value),
		"userinfo":       url.UserPassword("x", value).String(),
		"hex":            hex.EncodeToString([]byte(value)),
		"HTML":           html.EscapeString(value),
		"HTML of Python": strings.ReplaceAll(html.EscapeString(value), "&#39;", "&#x27;"),
		"XML":            strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(value),
		"Python":         `'q7"&<é/+\\\'$ z!\n\tend'`,
		"JavaScript URL": strings.NewReplacer("%27", "'", "%21", "!", "+", "%20").Replace(url.QueryEscape(value)),
		"bytes":          fmt.Sprint([]byte(value)),
		"numbers":        strings.ReplaceAll(fmt.Sprint([]byte(value)), " ", ","),
		"Windows":        strings.ReplaceAll(value, "\n", "\r\n"),
		"deep in JSON":   deep(string(twice)),
		"single quotes":  `'` + strings.ReplaceAll(value, `'`, `'\''`) + `'`,
		"double quotes":  `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value) + `"`,
	} {
		if got := r.String("a " + form + " b"); !strings.Contains(got, "[REDACTED:known-value]") || strings.Contains(got, "end") {
			t.Errorf("%s: %s becomes %s", name, form, got)
		}
	}
	for before := range 4 {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("u", before) + value + ":x"))
			if got := r.String(text); !strings.Contains(got, "[REDACTED:known-value]") {
				t.Errorf("base64 after %d bytes: %s becomes %s", before, text, got)
			}
		}
	}
}

// TestBearerWhoseFirstFigureIsLate is of one token in sixteen.
func TestBearerWhoseFirstFigureIsLate(t *testing.T) {
	if got := redactor(t, redact.Logs).String("sent Bearer " + "abcdefghijklmnopqrstuvw1 on"); got != "sent Bearer [REDACTED:bearer-token] on" {
		t.Error(got)
	}
}

func deep(v string) string {
	for range 2 {
		quoted, _ := json.Marshal(v)
		v = string(quoted)
	}
	return v
}

func TestKnownValueInBrokenBase64(t *testing.T) {
	value := strings.Repeat("0a-value-that-is-long ", 9)
	r := redactor(t, redact.Logs, value)
	for _, column := range []int{64, 76} {
		text := base64.StdEncoding.EncodeToString([]byte(value))
		var lines []string
		for ; len(text) > column; text = text[column:] {
			lines = append(lines, text[:column])
		}
		for _, line := range strings.Split(r.String(strings.Join(lines, "\n")), "\n") {
			if len(line) > 40 {
				t.Errorf("in lines of %d: %s", column, line)
			}
		}
	}
}

// TestKnownValueThatIsAFormOfAnother has forms of its own.
func TestKnownValueThatIsAFormOfAnother(t *testing.T) {
	const value = "opaque-value"
	inHex := hex.EncodeToString([]byte(value))
	r := redactor(t, redact.Logs, value, inHex)
	if got := r.String("x " + base64.StdEncoding.EncodeToString([]byte(inHex))); !strings.Contains(got, "[REDACTED:known-value]") {
		t.Error(got)
	}
}

func TestKnownValueOfLines(t *testing.T) {
	r := redactor(t, redact.Logs, "first line of the key\nsecond line of the key\n")
	for _, text := range []string{"> first line of the key\n> second line of the key\n", "first line of the key\nsecond line of the key", "the second line of the key"} {
		if got := r.String(text); strings.Contains(got, "line") || strings.HasPrefix(text, "> ") && got != "> [REDACTED:known-value]\n> [REDACTED:known-value]\n" {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestWhatCannotBeRegistered(t *testing.T) {
	r := redactor(t, redact.Logs)
	if err := r.Register(""); err != nil {
		t.Errorf("nothing is no value: %v", err)
	}
	for n, bad := range []string{"abc", "REDACTED", "named-secret", "x [REDACTED", "REDACTED] x"} {
		if err := r.Register(fmt.Sprint("good-value-", n), bad); !errors.Is(err, redact.ErrValue) || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
		if got := r.String(fmt.Sprint("x good-value-", n)); got != "x [REDACTED:known-value]" {
			t.Errorf("a good value beside it was not registered: %s", got)
		}
	}
}

// TestRegisterWhileAWriterIsOpen: what becomes known later is found from then on.
func TestRegisterWhileAWriterIsOpen(t *testing.T) {
	r := redactor(t, redact.Logs)
	var out bytes.Buffer
	w := r.NewWriter(&out)
	write(t, w, "later-value\n")
	if err := r.Register("later-value"); err != nil {
		t.Fatal(err)
	}
	write(t, w, "later-value\n")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "later-value\n[REDACTED:known-value]\n" {
		t.Errorf("%q", got)
	}
}

func write(t *testing.T, w interface{ Write([]byte) (int, error) }, text string) {
	t.Helper()
	if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}
