package manifest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// URLs resolves the kind URL. A reference is "URL STATUS", such as "https://example.com/release/3 200". It holds where a GET of the URL gives
// that status. Redirects are not followed: their own status counts. The body is not read. A server that fails or wants to know who asks (401,
// 403, 408, 429, 5xx) has not answered, unless that is the status.
type URLs struct {
	Hosts   []string      // that may be asked, in lower case, with the port where the URL has one: example.com, 127.0.0.1:8080
	Timeout time.Duration // of a look at one reference; 0: 30 s
}

// Resolve implements Resolver.
func (u URLs) Resolve(ctx context.Context, ref string) error {
	address, status, _ := cutLast(ref, " ")
	want, err := strconv.Atoi(status)
	if err != nil || want < 100 || want > 599 {
		return missing("does not end in a space and a status from 100 to 599")
	}
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" || target.User != nil {
		return missing("is not a URL of http or https without a user")
	}
	if !slices.Contains(u.Hosts, strings.ToLower(target.Host)) {
		return missing("the host %s may not be asked", target.Host)
	}
	limit, cancel := withLimit(ctx, u.Timeout)
	defer cancel()
	got, err := get(limit, target)
	switch {
	case limit.Err() != nil:
		return context.Cause(limit)
	case err != nil:
		return err
	case got == want:
		return nil
	case got >= 500 || slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests}, got):
		return errors.New("the status is " + strconv.Itoa(got))
	}
	return missing("the status is %d", got)
}

// get returns the status of one request, over a connection of its own that it leaves no trace of.
func get(ctx context.Context, target *url.URL) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 1 << 20}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
