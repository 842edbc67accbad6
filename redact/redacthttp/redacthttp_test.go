package redacthttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"aesop/redact"
	"aesop/redact/redacthttp"
)

// at is kept from the words around it, so that no text here is a URL with a password.
const at = "@"

var token = "AKIA" + strings.Repeat("Q7", 8)

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHeader(t *testing.T) {
	r := redactor(t)
	h := http.Header{}
	for _, name := range strings.Fields("Authorization Proxy-Authorization Cookie Set-Cookie X-Api-Key x-goog-api-key X-Vault-Token Client-Secret") {
		h[name] = []string{"Basic zebra", "zebra"} // names as a map may have them, canonical or not
	}
	h.Set("User-Agent", "curl "+token)
	h.Set("Location", "https://zebra"+at+"host/x?access_token=zebra&a=b")
	h["referer"] = []string{"https://host/?key=zebra"}
	h.Set("X-"+token, "1")
	h.Set("Content-Type", "text/plain")
	h["Empty"] = nil
	before := h.Clone()
	safe := redacthttp.Header(h, r)
	text := fmt.Sprint(safe)
	if strings.Contains(text, "zebra") || strings.Contains(text, token) {
		t.Error(text)
	}
	if got := safe["Cookie"]; len(got) != 2 || got[0] != redact.Marker || got[1] != redact.Marker {
		t.Errorf("cookies are %q", got)
	}
	if safe.Get("Content-Type") != "text/plain" || safe.Get("Location") != "https://[REDACTED]@host/x?access_token=[REDACTED]&a=b" || !strings.HasPrefix(safe.Get("User-Agent"), "curl ") {
		t.Error(text)
	}
	if fmt.Sprint(h) != fmt.Sprint(before) {
		t.Error("the header itself changed")
	}
}

func TestURL(t *testing.T) {
	r := redactor(t)
	for raw, want := range map[string]string{
		"https://host/path?a=b&c=d#part":                          "https://host/path?a=b&c=d#part",
		"https://ada:zebra" + at + "host:8443/x":                  "https://[REDACTED]@host:8443/x",
		"https://zebra" + at + "host":                             "https://[REDACTED]@host",
		"https://:zebra" + at + "host":                            "https://[REDACTED]@host",
		"postgres://ada:z%40zebra" + at + "[2001:db8::1]:5432/db": "postgres://[REDACTED]@[2001:db8::1]:5432/db",
		"//ada:zebra" + at + "host/x":                             "//[REDACTED]@host/x",
		"https://host/?q=a+b%20c&api_key=zebra;x=1&&y&z=":         "https://host/?q=a+b%20c&api_key=[REDACTED];x=1&&y&z=",
		"https://host/?%61ccess_token=ze%62" + "ra&key=&code=7":   "https://host/?%61ccess_token=[REDACTED]&key=&code=[REDACTED]",
		"https://host/?X-Amz-Signature=zebra&sig=zebra":           "https://host/?X-Amz-Signature=[REDACTED]&sig=[REDACTED]",
		"https://host/#access_token=zebra&state=x":                "https://host/#access_token=[REDACTED]&state=x",
		"https://host/?token=%zz":                                 "https://host/?token=[REDACTED]",
		"https://host/?max_tokens=7&next_page_token=x":            "https://host/?max_tokens=7&next_page_token=x",
		"mailto:zoe":    "mailto:zoe",
		"https://host?": "https://host?",
		"https://host/?x=" + token[:3] + "%" + fmt.Sprintf("%x", token[3]) + token[4:]: "https://host/?x=[REDACTED]",
		"": "",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := redacthttp.URL(u, r); got != want {
			t.Errorf("%s is shown as %s", raw, got)
		}
		if u.String() != raw {
			t.Errorf("%s itself changed", raw)
		}
	}
	for _, raw := range []string{"https://host/" + token + "/x", "https://host/?a=x." + token, "https://host/#x=" + token, "https://host/?" + token, "x:" + token, "https://host/?" + token + "=x"} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := redacthttp.URL(u, r); strings.Contains(got, token) {
			t.Errorf("%s is shown as %s", raw, got)
		}
	}
	if got := redacthttp.URL(nil, r); got != "" {
		t.Error(got)
	}
}

func TestValues(t *testing.T) {
	r := redactor(t)
	v := url.Values{"client_secret": {"zebra", ""}, "key": {"zebra"}, "SAMLResponse": {"zebra"}, "q": {"x", token}, token: {"x"}}
	text := fmt.Sprint(redacthttp.Values(v, r))
	if strings.Contains(text, "zebra") || strings.Contains(text, token) || !strings.Contains(text, "client_secret:[[REDACTED] ]") || v.Get("key") != "zebra" {
		t.Error(text)
	}
}

// TestErrorText of errors that net/http really makes.
func TestErrorText(t *testing.T) {
	r := redactor(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Location", "https://zebra"+at+"127.0.0.1:1/?token=zebra&"+token)
		w.WriteHeader(http.StatusFound)
	}))
	defer server.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, raw := range map[string]string{
		"refused": "http://zebra:zebra" + at + "127.0.0.1:1/x?api_key=zebra&" + token, "redirect": server.URL + "/?key=zebra", "scheme": "ftp2://zebra" + at + "host/?sig=zebra\"",
	} {
		for _, ctx := range []context.Context{t.Context(), ended} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := server.Client().Do(req)
			if err == nil {
				resp.Body.Close()
				t.Fatalf("%s did not fail", name)
			}
			for _, err := range []error{err, fmt.Errorf("calling the model: %w", err), &url.Error{Op: "Get", URL: raw, Err: err}} {
				if text := redacthttp.ErrorText(err, r); strings.Contains(text, "zebra") || strings.Contains(text, token) || !strings.Contains(text, "Get") {
					t.Errorf("%s says %s", name, text)
				}
			}
		}
	}
	_, err := url.Parse(strings.Join([]string{"http://zebra:%zz" + at + "host/", "\x7f"}, ""))
	if text := redacthttp.ErrorText(err, r); !strings.Contains(text, "parse") || strings.Contains(text, "zebra") {
		t.Error(text)
	}
	if text := redacthttp.ErrorText(errors.New("x"), r) + redacthttp.ErrorText(nil, r); text != "x" {
		t.Error(text)
	}
}

func ExampleURL() {
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	u, err := url.Parse("https://ada:pw@api.example/v1?model=m&api_key=abc")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(redacthttp.URL(u, redactor))
	// Output: https://[REDACTED]@api.example/v1?model=m&api_key=[REDACTED]
}
