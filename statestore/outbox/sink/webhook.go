package sink

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aesop/statestore/outbox"
)

// The headers of a webhook's requests.
const (
	HeaderIntentID       = "Aesop-Intent-Id"
	HeaderIdempotencyKey = "Idempotency-Key" // the intent's id too
	HeaderSignature      = "Aesop-Signature" // see Sign
)

const (
	answerSize = 4096        // bytes of an answer that are read
	answerWait = time.Second // how long its body may take: what it means is in its head
	longest    = time.Hour   // that a number of seconds is taken for; no notifier waits so long
)

// WebhookConfig configures a Webhook.
type WebhookConfig struct {
	URL    string            // http or https; a user in it is sent as basic authentication
	Secret []byte            // signs the body; empty: it is not signed
	Header map[string]string // sent too
	Client *http.Client      // nil: one of its own, with a timeout of 30 s. How it follows redirects is set here.
}

// Webhook is an outbox.Sink that posts each intent as an outbox.Document.
//
// An answer of 2xx means that the receiver has the intent. So does 409 if its header Aesop-Intent-Id is the id that was sent: the receiver has
// it already; any other 409 is a failure, since it may say that the same request is still at work. After 429, 502, 503 and 504, and where there
// is no answer at all, the receiver is unreachable; a Retry-After is an outbox.LaterError. Every other answer fails this intent only.
//
// Redirects that keep the method (307, 308) are followed on the same scheme, host and port; any other is a failure.
type Webhook struct {
	url    *url.URL // without its user
	user   *url.Userinfo
	secret []byte
	header map[string]string
	client *http.Client
}

// NewWebhook returns the sink of a URL.
func NewWebhook(c WebhookConfig) (*Webhook, error) {
	target, err := url.Parse(c.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, errors.New("webhook: the URL is not one of http or https with a host") // it may have a password
	}
	client := http.Client{Timeout: 30 * time.Second}
	if c.Client != nil {
		client = *c.Client
	}
	client.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		if next.Method != http.MethodPost || next.URL.Scheme != target.Scheme || next.URL.Host != target.Host || len(before) > 5 {
			return http.ErrUseLastResponse
		}
		return nil
	}
	user := target.User
	target.User = nil
	return &Webhook{url: target, user: user, secret: bytes.Clone(c.Secret), header: maps.Clone(c.Header), client: &client}, nil
}

// Sign is the header Aesop-Signature of a body: "sha256=" and the HMAC-SHA256 in hex. Receivers compute it of the bytes that came and compare
// it with hmac.Equal.
func Sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Send implements outbox.Sink. Errors name the host and never the URL, whose path may be a secret.
func (w *Webhook) Send(ctx context.Context, i outbox.Intent) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := w.request(ctx, i)
	if err != nil {
		return err
	}
	answer, err := w.client.Do(request)
	if err != nil {
		var failure *url.Error // which has the URL
		if errors.As(err, &failure) {
			err = failure.Err
		}
		return fmt.Errorf("%w: post to %s: %w", outbox.ErrUnreachable, w.url.Host, err)
	}
	defer answer.Body.Close()
	defer time.AfterFunc(answerWait, cancel).Stop()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerSize)) // to its end, where it is short, so that the connection can be used again
	has := answer.StatusCode == http.StatusConflict && answer.Header.Get(HeaderIntentID) == i.ID
	if answer.StatusCode/100 == 2 || has {
		return nil
	}
	return w.refused(answer, text)
}

func (w *Webhook) request(ctx context.Context, i outbox.Intent) (*http.Request, error) {
	body, err := outbox.Document(i)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("post to %s: the request cannot be made", w.url.Host)
	}
	if w.user != nil {
		password, _ := w.user.Password()
		request.SetBasicAuth(w.user.Username(), password)
	}
	for name, value := range w.header {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(HeaderIdempotencyKey, i.ID)
	request.Header.Set(HeaderIntentID, i.ID)
	if len(w.secret) > 0 {
		request.Header.Set(HeaderSignature, Sign(w.secret, body))
	}
	return request, nil
}

// refused is the error of an answer.
func (w *Webhook) refused(answer *http.Response, text []byte) error {
	err := fmt.Errorf("post to %s: answered %.100s: %.200q", w.url.Host, answer.Status, strings.TrimSpace(string(text)))
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if after := retryAfter(answer.Header); after > 0 {
			return &outbox.LaterError{After: after, Err: err}
		}
		return fmt.Errorf("%w: %w", outbox.ErrUnreachable, err)
	}
	return err
}

// retryAfter reads seconds, or a time, which is compared with that of the answer: clocks differ.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(seconds, int(longest/time.Second))) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return until.Sub(now)
}
