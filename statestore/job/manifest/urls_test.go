package manifest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aesop/statestore/job/manifest"
)

func TestURLs(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/endless":
			for block := make([]byte, 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		case "/silent":
			<-r.Context().Done()
		default:
			var status int
			fmt.Sscanf(r.URL.Path, "/%d", &status)
			w.WriteHeader(status)
		}
	}))
	defer server.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

	urls := manifest.URLs{Hosts: []string{host(server), host(gone)}, Timeout: 10 * time.Second}
	for ref, want := range map[string]manifest.Verdict{
		server.URL + "/200 200":     manifest.Proven,
		server.URL + "/404 404":     manifest.Proven,
		server.URL + "/503 503":     manifest.Proven,
		server.URL + "/away 302":    manifest.Proven,
		server.URL + "/endless 200": manifest.Proven,
		server.URL + "/404 200":     manifest.Unproven,
		server.URL + "/200 404":     manifest.Unproven,
		server.URL + "/away 200":    manifest.Unproven,
		server.URL + "/200":         manifest.Unproven,
		server.URL + "/200 20":      manifest.Unproven,
		"file:///etc/hosts 200":     manifest.Unproven,
		"/200 200":                  manifest.Unproven,
		strings.Replace(server.URL, "//", "//me@", 1) + "/ 200": manifest.Unproven,
		other.URL + "/ 200":       manifest.Unproven,
		"http://example.com/ 200": manifest.Unproven,
		server.URL + "/503 200":   manifest.Unknown,
		server.URL + "/429 200":   manifest.Unknown,
		server.URL + "/401 200":   manifest.Unknown,
		gone.URL + "/ 200":        manifest.Unknown,
	} {
		if got, reason := look(t, manifest.URL, urls, ref); got != want {
			t.Errorf("%s: %s, %s; want %s", ref, got, reason, want)
		}
	}
	urls.Timeout = 100 * time.Millisecond
	if got, reason := look(t, manifest.URL, urls, server.URL+"/silent 200"); got != manifest.Unknown || reason != "no answer within 100ms" {
		t.Errorf("silent: %s, %s", got, reason)
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("a host that may not be asked was asked %d times", n)
	}
}
