package redact_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"aesop/redact"
)

// planted are values that the property tests register. They stand in no marker.
var planted = []string{`Tr0ub4dor "&" 3`, "line one of it\nline two of it", "päss-wörd/+=", `back\slash'quote`}

func redactor(t testing.TB, p redact.Profile, values ...string) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Config{Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Register(values...); err != nil {
		t.Fatal(err)
	}
	return r
}

// pieces are what random texts are put together from: things that rules look for, whole and broken, and what they must leave alone.
func pieces() []string {
	token := "ghp_" + strings.Repeat("aB3", 12)
	all := []string{
		token, token[:20], "AKIA" + "IOSFODNN7ABCDEFG", "AKIA", "sk-", "://", "@", ":", "=", "\"", "\\", "'", "`", "\n", " ", ",", ";", "[", "]", "{", "}", "<", ">",
		"https://", "postgres:" + "//admin:p@ss/w:rd@db.internal:5432/x", "user:secretpw@host.example", "a@b.co", "password", "token", "PASSWORD=", "api_key: ",
		`"secret":"`, `\"token\":\"`, "Authorization: Bearer ", "Cookie: a=b", "bearer ", "-----BEGIN " + "RSA PRIVATE KEY-----", "-----END " + "RSA PRIVATE KEY-----", "MIIEow",
		"[REDACTED]", "[REDACTED:named-secret]", "[REDACTED:", "hunter22", "x", "\xff", "é", "\\n", "\\u003c", "%3D", "\x1b[31m", "/home/bob/", "heroku=", "value\":", "\",\"", "machine ", "login ", "--token ", "'''",
		"12345678-1234-1234-1234-123456789012", "3:4@scale", "git@host:a/b.git", "null", "true", "1234567", "{\"a\":", "}", ":\\/\\/",
	}
	for _, v := range planted {
		quoted, _ := json.Marshal(v)
		all = append(all, v, v[:len(v)/2], string(quoted))
	}
	return all
}

func assemble(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b []byte
	all := pieces()
	for range n {
		b = append(b, all[rng.IntN(len(all))]...)
	}
	return b
}

// chunked is a text redacted in chunks of random sizes.
func chunked(t testing.TB, r *redact.Redactor, text []byte, seed uint64) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	var out bytes.Buffer
	w := r.NewWriter(&out)
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 1+rng.IntN(1+rng.IntN(40)))
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func properties(t *testing.T, r *redact.Redactor, text []byte, seed uint64) {
	t.Helper()
	before := bytes.Clone(text)
	once := r.Bytes(text)
	if !bytes.Equal(before, text) {
		t.Fatalf("the caller's text was changed: %q", before)
	}
	if twice := r.Bytes(once); !bytes.Equal(once, twice) {
		t.Fatalf("not idempotent: %q\n once %q\ntwice %q", text, once, twice)
	}
	if got := chunked(t, r, text, seed); !bytes.Equal(got, once) {
		t.Fatalf("in chunks: %q\nwhole %q\n got  %q", text, once, got)
	}
	if got, err := io.ReadAll(r.NewReader(iotest.OneByteReader(bytes.NewReader(text)))); err != nil || !bytes.Equal(got, once) {
		t.Fatalf("read byte by byte: %q: %q, %v", text, got, err)
	}
	if json.Valid(text) && !json.Valid(once) {
		t.Fatalf("no longer JSON: %q\n is %q", text, once)
	}
	if utf8.Valid(text) && !utf8.Valid(once) {
		t.Fatalf("no longer UTF-8: %q\n is %q", text, once)
	}
	for _, v := range planted {
		if bytes.Contains(once, []byte(v)) {
			t.Fatalf("%q survives in %q of %q", v, once, text)
		}
	}
	explained(t, r, text, once)
}

// explained fails where Explain says anything but what is taken out.
func explained(t *testing.T, r *redact.Redactor, text, clean []byte) {
	t.Helper()
	found := r.Explain(text)
	if (len(found) == 0) != bytes.Equal(text, clean) {
		t.Fatalf("%q becomes %q, explained as %v", text, clean, found)
	}
	for _, f := range found {
		if f.Start < 0 || f.End > len(text) || f.Start >= f.End {
			t.Fatalf("%q: finding %+v", text, f)
		}
	}
}

func TestProperties(t *testing.T) {
	for _, profile := range []redact.Profile{redact.Logs, redact.PublicDataset} {
		r := redactor(t, profile, planted...)
		for seed := range uint64(4000) {
			text := assemble(seed, 1+int(seed%14))
			properties(t, r, text, seed)
			quoted, err := json.Marshal(map[string]string{"token": string(text), string(text): "x"})
			if err != nil {
				t.Fatal(err)
			}
			properties(t, r, quoted, seed)
		}
	}
}

func FuzzProperties(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(assemble(seed, 1+int(seed%14)), seed)
	}
	r := redactor(f, redact.PublicDataset, planted...)
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) { properties(t, r, text, seed) })
}
