package scan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"aesop/redact"
)

func newRun(t *testing.T) *run {
	t.Helper()
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Config: Config{Redactor: redactor}, key: []byte("k")}
	if err := r.enact(file{}, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// secretOf is a credential by its shape.
func secretOf(rng *rand.Rand) string {
	const digits = "ABCDEFGHJKLMNPQRSTUVWXYZ234567"
	b := []byte("AK" + "IA")
	for range 16 {
		b = append(b, digits[rng.IntN(len(digits))])
	}
	return string(b)
}

// TestLargeTextsAreJudgedInParts: with secrets on and around every border, each is found once, where it is.
func TestLargeTextsAreJudgedInParts(t *testing.T) {
	r, rng := newRun(t), rand.New(rand.NewPCG(1, 2))
	for name, filler := range map[string]string{"lines": strings.Repeat("é ordinary text\n", 1<<20), "one line": strings.Repeat("\x00\xffö ", 2<<20)} {
		t.Run(name, func(t *testing.T) {
			text := []byte(filler[:9<<20])
			first, step := window+around, window
			var want []int
			for _, at := range []int{0, first - 100, first - 7, first + 30, first + around - 10, first + step - 40, first + step - 7, len(text) - 20} {
				copy(text[at:], secretOf(rng))
				for _, edge := range []int{at - 1, at + 20} {
					if edge >= 0 && edge < len(text) {
						text[edge] = ' '
					}
				}
				want = append(want, at)
			}
			c, size, err := r.inspect(iotest.HalfReader(bytes.NewReader(text)))
			if err != nil || size != int64(len(text)) {
				t.Fatal(size, err)
			}
			sum := sha256.Sum256(text)
			if c.sum != hex.EncodeToString(sum[:]) {
				t.Error("the hash is another")
			}
			var got, places []string
			for _, s := range c.spots {
				got = append(got, fmt.Sprintf("%d:%d", s.line, s.column))
			}
			for _, at := range want {
				line := bytes.LastIndexByte(text[:at], '\n') + 1
				places = append(places, fmt.Sprintf("%d:%d", 1+bytes.Count(text[:at], []byte("\n")), 1+len([]rune(string(text[line:at])))))
			}
			if !slices.Equal(got, places) {
				t.Errorf("found at %v, want %v", got, places)
			}
			if cap(r.buffer) > window+2*around {
				t.Errorf("%d bytes are held", cap(r.buffer))
			}
		})
	}
}

// TestUTF16: of either byte order, with a mark and without, wherever it begins; what only has zeros in it is no text.
func TestUTF16(t *testing.T) {
	r := newRun(t)
	secret := secretOf(rand.New(rand.NewPCG(3, 4)))
	plain := "\r\nkey = " + secret
	low, high := func(b []byte, c uint16) []byte { return append(b, byte(c), byte(c>>8)) }, func(b []byte, c uint16) []byte { return append(b, byte(c>>8), byte(c)) }
	wide := func(order func([]byte, uint16) []byte, text string) string {
		var b []byte
		for _, c := range utf16.Encode([]rune(text)) {
			b = order(b, c)
		}
		return string(b)
	}
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"low":                {wide(low, "\ufeff"+plain+"\r\n"), 1},
		"high":               {wide(high, "\ufeff"+plain+"\r\n"), 1},
		"high, to the end":   {wide(high, plain), 1},
		"low, to the end":    {wide(low, plain), 1},
		"odd place":          {"x" + wide(low, plain), 1},
		"among others":       {wide(high, "\u043a\u043b\u044e\u0447"+plain+"\u043a\u043b\u044e\u0447"), 1},
		"beside a plain one": {plain + "\n" + wide(low, plain), 2},
		"placeholder":        {wide(low, "pass"+"word = \"changeme\"\r\n"), 0},
		"a value":            {wide(low, "pass"+"word = \"Tr0ub4dor-and-3\"\r\n"), 1},
		"strings of C":       {"pass" + "word\x00=\x00\"Tr0ub4dor-and-3\"\x00a\x00b\x00", 0},
		"nothing":            {"\x00", 0},
	} {
		c, err := r.inspectText(tt.text)
		if err != nil || len(c.spots) != tt.want {
			t.Errorf("%s: %+v, %v", name, c, err)
			continue
		}
		for _, s := range c.spots {
			at := strings.ReplaceAll(tt.text[s.Start:s.End], "\x00", "")
			if at != secret && name != "a value" {
				t.Errorf("%s: it is %q", name, at)
			}
		}
		if tt.want == 2 && c.spots[0].fingerprint != c.spots[1].fingerprint {
			t.Errorf("%s: equal secrets have different fingerprints", name)
		}
	}
}

func TestTextThatCannotBeRead(t *testing.T) {
	r := newRun(t)
	if _, _, err := r.inspect(iotest.ErrReader(io.ErrNoProgress)); err != io.ErrNoProgress {
		t.Errorf("error is %v", err)
	}
	if _, err := r.content(strings.NewReader("short"), 6); err == nil {
		t.Error("an object that ends early")
	}
}

func TestFingerprints(t *testing.T) {
	one, other := newRun(t), newRun(t)
	other.key = []byte("other")
	secret := []byte("secret")
	if again := one.fingerprint(secret); one.fingerprint(secret) != again || one.fingerprint([]byte("Secret")) == again {
		t.Error("equal secrets have different ones, or different secrets equal ones")
	}
	if one.fingerprint(secret) == other.fingerprint(secret) {
		t.Error("the key has no say")
	}
}

func TestPlaceholders(t *testing.T) {
	real := append(strings.Fields("Tr0ub4dor hunter2 test demo example9Q1z your-Zx81kdQ0 secret password admin <real-12345> ${PW:-hunter2} xxxq key "+
		"placeholder1 example.com/hunter2 $ecret aaaab my-secret-token"), "{{ 'hunter2' }}")
	for _, value := range real {
		if placeholder(value) {
			t.Errorf("%q is taken for a placeholder", value)
		}
	}
	for _, value := range []string{"xxxxxxxx", "XXXX", "xxxx-xxxx-xxxx", "changeme", "ChangeMe", "change-me", "your-key-here", "YOUR_API_KEY", "example", "example-token",
		"<your token>", "<token>", "<API_KEY>", "${TOKEN}", "$TOKEN", "{{ secrets.TOKEN }}", "${{ secrets.TOKEN }}", "%TOKEN%", "%(token)s", "$(TOKEN)",
		"********", "aaaaaaaa", "00000000", "...", "…", "\"changeme\"", "'<token>'", "", "----", "[redacted]", "xxx"} {
		if !placeholder(value) {
			t.Errorf("%q is no placeholder", value)
		}
	}
}

func TestLocalHosts(t *testing.T) {
	for host, local := range map[string]bool{
		"localhost": true, "localhost:5432": true, "LOCALHOST": true, "127.0.0.1": true, "127.8.8.8:1": true, "[::1]:5432": true, "[::1]": true, "db.local": true,
		"db.localdomain": true, "example.com": true, "db.example.org:1": true, "a.example": true, "a.localhost": true, "a.example.com.": true,
		"localhost,127.0.0.1:2": true, "localhost:1,db.internal": false, "db.internal": false, "127.0.0.1.evil.com": false, "localhost.evil.com": false,
		"example.evil.com": false, "notexample.com": false, "test.com": false, "10.0.0.1": false, "": false, "[2001:db8::1]": false, "local": true, "com": false,
	} {
		if localHost([]byte(host)) != local {
			t.Errorf("%q: local is %v", host, !local)
		}
	}
}

// TestHarmless: the secret part decides, and only of what its surroundings call a secret.
func TestHarmless(t *testing.T) {
	for _, tt := range []struct {
		before, secret, after string
		harmless              bool
	}{
		{"password = \"", "changeme", "\" // example", true},
		{"password = \"", "hunter2", "\" // example changeme xxx", false},
		{"postgres://", "user:hunter2", "@localhost:5432/x", true},
		{"postgres://", "user:hunter2", "@127.0.0.1/x", true},
		{"postgres://", "user:hunter2", "@db.internal/example", false},
		{"postgres://", "user:changeme", "@db.internal/x", true},
		{"postgres://", "changeme:hunter2", "@db.internal/x", false},
		{"postgres://", "user:${PASSWORD}", "@db.internal/x", true},
		{"postgres://", "user:hunter2", "@db.example.com/x", true},
		{"mongodb://", "user:hunter2", "@localhost:1,db.internal:2/x", false},
		{"mongodb://", "user:hunter2", "@[::1]:1/x", true},
		{"see ", "user:hunter2", "@example.com now", true},
		{"`postgres://", "user:hunter2", "@localhost` and", true},
		{"url: \"https://", "hunter2only", "@db.internal\"", false},
		{"https://", "hunter2only:", "@db.internal/", false},
		{"https://", "<token>:", "@db.internal/", true},
		{"mysql://", "root:", "@db.internal/", true},
		{"https://", "q7Tr0ub4dorq7Tr0ub4dor:xxx", "@db.internal/", false},
		{"https://", "builder:xxx", "@db.internal/", true},
		{"\xf0", "\xe9u:\x9bhunter2", "@\x17\x84", true},
		{"\xf0 postgres://", "user:hunter2é", "@db.internal", false},
	} {
		text := []byte(tt.before + tt.secret + tt.after)
		f := redact.Finding{Severity: redact.High, Start: len(tt.before), End: len(tt.before) + len(tt.secret)}
		if harmless(text, f) != tt.harmless {
			t.Errorf("%s: harmless is %v", text, !tt.harmless)
		}
		f.Severity = redact.Critical
		if harmless(text, f) {
			t.Errorf("%s: harmless although it has the shape of a credential", text)
		}
	}
}

// TestHarmlessUnderAName: what is too short, or words as tests and documentation have them, but for where a program gets its settings from.
func TestHarmlessUnderAName(t *testing.T) {
	for _, tt := range []struct {
		before, secret string
		harmless       bool
	}{
		{`password = "`, "pw", true},
		{`password = "`, "hunter2", false},
		{`password = "`, "correct horse", true},
		{`"token": "`, "not-a-secret", true},
		{`"token": "`, "not-a-secret-9", false},
		{`"token": "`, "Secretive-Word", false},
		{`"token": "`, "averylongwordofletters", false},
		{"A=1\nDB_PASSWORD=", "letmein", false},
		{"export DB_PASSWORD='", "correct horse", false},
		{"-e DB_PASSWORD=", "letmein", true},
	} {
		text := []byte(tt.before + tt.secret + "\"\n")
		f := redact.Finding{Rule: redact.NamedSecret, Severity: redact.High, Start: len(tt.before), End: len(tt.before) + len(tt.secret)}
		if harmless(text, f) != tt.harmless {
			t.Errorf("%s: harmless is %v", text, !tt.harmless)
		}
		if f.Rule = "another"; harmless(text, f) {
			t.Errorf("%s: harmless by another rule", text)
		}
	}
}

func TestCredentialNames(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "a/.env": true, ".env.production": true, ".env.example": false, ".env.sample": false, "env": false, "x.env.ts": false, "id_rsa": true,
		"a/ID_ED25519": true, "id_rsa.pub": false, ".netrc": true, ".git-credentials": true, "k.pem": true, "k.p12": true, "tokenizer.go": false,
		"home/.aws/credentials": true, "credentials": false, "credentials.go": false, "secrets.yaml": false, "password_test.go": false, "monkey": false,
	} {
		if credentialName(name, false) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if credentialName("k.pem", true) {
		t.Error("a public certificate")
	}
}

func TestFileOfRulesAndExemptions(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	entry := func(change, to string) string {
		text := `{"path": "a", "rule": "r", "sha256": "` + sum + `", "as": "doc", "reason": "x", "expires": "2027-01-31"}`
		return `{"schemaVersion": 1, "exemptions": [` + strings.Replace(text, change, to, 1) + `]}`
	}
	rule := func(text string) string { return `{"schemaVersion": 1, "rules": [` + text + `]}` }
	for text, says := range map[string]string{
		entry("", ""): "", `{"schemaVersion": 1}`: "", `{"schemaVersion": 1, "rules": null, "exemptions": [],} // end`: "",
		rule(`{"id": "our-thing", "severity": "critical", "pattern": "ours_[a-z]{20,}", "name": ""}`): "",
		rule(`{"id": "our-thing", "severity": "high", "pattern": "ours_[a-z]{20,}"}`):                 "",
		`{}`: "schemaVersion: the key is missing", `{"schemaVersion": 2}`: "is 2, and this program reads 1", `[]`: "must be an object",
		`{"schemaVersion": 1, "exemption": []}`: `did you mean "exemptions"?`, entry(`"rule"`, `"rules"`): `did you mean "rule"?`,
		entry(`, "reason": "x"`, ""): "reason: the key is missing", entry(`, "expires": "2027-01-31"`, ""): "expires: the key is missing",
		entry(`"x"`, `" "`): "the reason is empty", entry("2027-01-31", "2027-02-30"): "must be a day", entry(`"doc"`, `"docs"`): "must be redaction_source or doc",
		entry(`"a"`, `"../a"`): "the path must be exact", entry(`"a"`, `"/a"`): "the path must be exact", entry(`"a"`, `""`): "the path must be exact",
		entry(`"a"`, `"./a"`): "the path must be exact", entry(sum, sum[1:]): "64 digits", entry(sum, strings.ToUpper(sum)): "64 digits", entry(`"r"`, `""`): "the rule is empty",
		strings.Replace(entry("", ""), "}]", "},"+strings.TrimSuffix(strings.SplitAfterN(entry("", ""), "[", 2)[1], "]}")+"]", 1): "stand twice",
		rule(`{"id": "a", "severity": "bad", "pattern": "abc"}`):                                                                  "must be critical, high or low",
		rule(`{"id": "a", "severity": "low"}`):                                                                                    "pattern: the key is missing",
		rule(`{"id": "", "severity": "low", "pattern": "abc"}`):                                                                   "needs an id",
		rule(`{"id": "a", "severity": "low", "pattern": "b"}, {"id": "a", "severity": "low", "pattern": "c"}`):                    "there is a rule a already",
	} {
		_, err := parseFile("f", []byte(text))
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: error is %v, want %q", text, err, says)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(`{"schemaVersion": 1, "rules": [{"id": "a", "severity": "low", "pattern": "b"}], "exemptions": null}`))
	f.Add([]byte(`{"schemaVersion": 1, "exemptions": [{"path": "a", "rule": "r", "sha256": "", "as": "doc", "reason": "x", "expires": "2027-01-31"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := parseFile("f", text)
		for s := range parsed.exemptions {
			if defect := s.defect(); err == nil && defect != "" {
				t.Errorf("%+v: %s", s, defect)
			}
		}
	})
}
