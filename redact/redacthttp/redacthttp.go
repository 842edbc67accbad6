// Package redacthttp takes secrets out of headers, URLs and parameters before they are shown.
//
//	log.Printf("%s %s %v", req.Method, redacthttp.URL(req.URL, redactor), redacthttp.Header(req.Header, redactor))
//
// What stands under a name that redact.SecretName knows is replaced by redact.Marker whole; other values go through the redactor.
package redacthttp

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"aesop/redact"
	"aesop/redact/internal/field"
)

// Header is a copy of h without secrets.
func Header(h http.Header, r *redact.Redactor) http.Header {
	safe := make(http.Header, len(h))
	for name, values := range h {
		for _, value := range values {
			switch http.CanonicalHeaderKey(name) {
			case "Location", "Content-Location", "Referer":
				value = text(value, r)
			}
			key := r.String(name)
			safe[key] = append(safe[key], field.Text(r, name, value))
		}
	}
	return safe
}

// Values is a copy of v without secrets.
func Values(v url.Values, r *redact.Redactor) url.Values {
	safe := make(url.Values, len(v))
	for name, values := range v {
		key := r.String(name)
		for _, value := range values {
			safe[key] = append(safe[key], parameter(name, value, r))
		}
	}
	return safe
}

// URL is u as text, without secrets in any part of it. User information is one.
func URL(u *url.URL, r *redact.Redactor) string {
	if u == nil {
		return ""
	}
	safe := *u
	safe.User, safe.RawQuery, safe.ForceQuery, safe.Fragment, safe.RawFragment = nil, "", false, "", ""
	out := r.String(safe.String())
	if u.User != nil {
		// The authority is the first thing behind two slashes, whatever the redactor did to what comes before it.
		if before, after, ok := strings.Cut(out, "//"); ok {
			out = before + "//" + redact.Marker + "@" + after
		} else {
			return redact.Marker
		}
	}
	if u.RawQuery != "" || u.ForceQuery {
		out += "?" + query(u.RawQuery, r)
	}
	if u.Fragment != "" {
		out += "#" + query(u.EscapedFragment(), r) // some logins put a token there
	}
	return out
}

// ErrorText is the text of err without secrets. What net/http returns tells the whole URL.
func ErrorText(err error, r *redact.Redactor) string {
	if err == nil {
		return ""
	}
	said := err.Error()
	for at := err; at != nil; {
		failed, ok := errors.AsType[*url.Error](at)
		if !ok {
			break
		}
		safe := text(failed.URL, r)
		said = strings.ReplaceAll(said, strconv.Quote(failed.URL), strconv.Quote(safe))
		said = strings.ReplaceAll(said, failed.URL, safe)
		at = failed.Err
	}
	return r.String(said)
}

// text is a URL without secrets that may not be one.
func text(raw string, r *redact.Redactor) string {
	u, err := url.Parse(raw)
	if err == nil {
		return URL(u, r)
	}
	before, parameters, found := strings.Cut(raw, "?")
	if !found {
		return r.String(raw)
	}
	return r.String(before) + "?" + query(parameters, r)
}

// query keeps the order and the escapes of what has no secret.
func query(raw string, r *redact.Redactor) string {
	var out strings.Builder
	for raw != "" {
		end := strings.IndexAny(raw, "&;")
		pair, separator := raw, ""
		if end >= 0 {
			pair, separator = raw[:end], raw[end:end+1]
		}
		raw = raw[len(pair)+len(separator):]
		out.WriteString(one(pair, r) + separator)
	}
	return out.String()
}

func one(pair string, r *redact.Redactor) string {
	rawName, rawValue, hasValue := strings.Cut(pair, "=")
	name, value := unescape(rawName), unescape(rawValue)
	if safe := r.String(name); safe != name {
		rawName = redact.Marker
	}
	if !hasValue {
		return rawName
	}
	if parameter(name, value, r) != value {
		rawValue = redact.Marker
	}
	return rawName + "=" + rawValue
}

func unescape(raw string) string {
	if text, err := url.QueryUnescape(raw); err == nil {
		return text
	}
	return raw
}

func parameter(name, value string, r *redact.Redactor) string {
	if value != "" && secretParameter(name) {
		return redact.Marker
	}
	return field.Text(r, name, value)
}

// secretParameter are names that mean a secret in a query and something else in other places.
func secretParameter(name string) bool {
	switch strings.ToLower(name) {
	case "key", "code", "signature", "assertion", "client_assertion", "samlresponse", "otp":
		return true
	}
	return false
}
