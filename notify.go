package aesop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"aesop/internal/document"
	"aesop/redact"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/mqtt"
	"aesop/statestore/outbox/sink"
	"aesop/wave"
)

// Notify is one of those who are told what happens: an entry of the key notify. Exactly one of File, Mirror, Webhook and MQTT is set.
type Notify struct {
	Name      string   `json:"name"`                // kept in the store: what is owed to a name stays owed
	Kinds     []string `json:"kinds,omitempty"`     // such as wave.ended, or "job." for all of jobs; none: those that say how waves and jobs end, and of a Mirror all
	File      string   `json:"file,omitempty"`      // that a line of JSON is appended to
	Mirror    string   `json:"mirror,omitempty"`    // folder in which each subject has a file with its newest news
	Webhook   string   `json:"webhook,omitempty"`   // URL, or the name of a variable that has it, after a $
	MQTT      string   `json:"mqtt,omitempty"`      // host:port of a broker
	Topic     string   `json:"topic,omitempty"`     // of MQTT, before the kind; "": aesop/
	User      string   `json:"user,omitempty"`      // of MQTT
	SecretEnv string   `json:"secretEnv,omitempty"` // variable with the key that signs what a webhook gets, or the password of MQTT
}

// endings are the kinds that somebody who sleeps wants to wake up to.
func endings() []string {
	kinds := []string{wave.NewsEnded, wave.NewsStopped}
	for _, end := range []job.Request{job.Complete{}, job.Fail{}, job.Cancel{}, job.Timeout{}, job.Infer{}, job.Finalize{}} {
		kinds = append(kinds, job.Kind(end))
	}
	return append(kinds, lifecycle.StalledKind)
}

// readNotify reads the key notify.
func readNotify(n document.Node) ([]Notify, error) {
	rows, err := n.Array()
	if err != nil {
		return nil, err
	}
	all := []Notify{}
	names := map[string]bool{}
	for _, row := range rows {
		var v Notify
		if err := readKeys(row, v.keys()); err != nil {
			return nil, err
		}
		if err := v.check(); err != nil {
			return nil, row.Errorf("shape", "%v", err)
		}
		if names[v.Name] {
			return nil, row.Errorf("shape", "the name %q is there twice", v.Name)
		}
		names[v.Name] = true
		all = append(all, v)
	}
	return all, nil
}

func (v *Notify) keys() []key {
	text := func(name string, to *string) key {
		return key{name, func(n document.Node) (err error) { *to, err = n.Text(); return err }}
	}
	return []key{text("name", &v.Name), text("file", &v.File), text("mirror", &v.Mirror), text("webhook", &v.Webhook), text("mqtt", &v.MQTT),
		text("topic", &v.Topic), text("user", &v.User), text("secretEnv", &v.SecretEnv),
		{"kinds", func(n document.Node) (err error) { v.Kinds, err = n.Strings(); return err }}}
}

func (v Notify) check() error {
	set := 0
	for _, way := range []string{v.File, v.Mirror, v.Webhook, v.MQTT} {
		if way != "" {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("must have exactly one of file, mirror, webhook and mqtt")
	case v.SecretEnv != "" && v.Webhook == "" && v.MQTT == "":
		return errors.New("secretEnv is for webhook and mqtt")
	case (v.Topic != "" || v.User != "") && v.MQTT == "":
		return errors.New("topic and user are for mqtt")
	}
	if v.MQTT != "" {
		if host, port, err := net.SplitHostPort(v.MQTT); err != nil || host == "" || port == "" {
			return fmt.Errorf("mqtt is %q, must be host:port, such as localhost:1883", v.MQTT)
		}
	}
	if err := (outbox.Subscription{Name: v.Name, Kinds: v.Kinds}).Check(); err != nil {
		return err
	}
	for _, kind := range v.Kinds {
		if !slices.ContainsFunc(kinds(), func(known string) bool { return outbox.Match([]string{kind}, known) }) {
			return fmt.Errorf("there is no news of the kind %q; there are %s, and all that begin with a word and a dot, such as \"job.\"", kind, strings.Join(kinds(), ", "))
		}
	}
	return nil
}

// kinds are all that there is news of.
func kinds() []string {
	return slices.Concat([]string{wave.NewsEnded, wave.NewsStopped}, job.Kinds(), lifecycle.Kinds())
}

// Receivers are those of Notify as sinks of the store's outbox. Variables come from lookup. Close them when done, also after an error.
func (s Settings) Receivers(lookup func(string) (string, bool)) (all []outbox.Named, closeAll func() error, err error) {
	var closers []io.Closer
	closeAll = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	for _, v := range s.Notify {
		sink, closer, err := v.sink(lookup)
		if err != nil {
			return nil, closeAll, &wave.SetupError{Code: "usage", Message: fmt.Sprintf("notify %s: %v", v.Name, err), Hint: "correct the key notify, or set the variable that it names", Err: err}
		}
		if closer != nil {
			closers = append(closers, closer)
		}
		wanted := v.Kinds
		if len(wanted) == 0 && v.Mirror == "" { // a mirror shows how jobs stand all the time
			wanted = endings()
		}
		all = append(all, outbox.Named{Subscription: outbox.Subscription{Name: v.Name, Kinds: wanted}, Sink: sink})
	}
	return all, closeAll, nil
}

// sink is the way to the receiver. What it says of failures has none of the secrets that are needed to reach it.
func (v Notify) sink(lookup func(string) (string, bool)) (outbox.Sink, io.Closer, error) {
	var secret string
	if v.SecretEnv != "" {
		if secret, _ = lookup(v.SecretEnv); secret == "" {
			return nil, nil, fmt.Errorf("the variable %s is not set", v.SecretEnv)
		}
	}
	address := v.Webhook
	if name, ok := strings.CutPrefix(address, "$"); ok {
		if address, _ = lookup(name); address == "" {
			return nil, nil, fmt.Errorf("the variable %s is not set", name)
		}
	}
	sink, err := v.open(address, secret)
	if err != nil {
		return nil, nil, err
	}
	hide, err := redact.New(redact.Config{})
	if err != nil {
		return nil, nil, err
	}
	_ = hide.Register(append(secretsOf(address), secret)...) // what is too short to be found is too short to be a secret
	closer, _ := sink.(io.Closer)
	return discreet{sink, hide}, closer, nil
}

func (v Notify) open(address, secret string) (outbox.Sink, error) {
	switch {
	case v.File != "":
		return sink.NewFile(v.File), nil
	case v.Mirror != "":
		return sink.NewMirror(v.Mirror), nil
	case v.MQTT != "":
		topic := v.Topic
		if topic == "" {
			topic = "aesop/"
		}
		return mqtt.New(mqtt.Config{Address: v.MQTT, Topic: topic, Username: v.User, Password: []byte(secret)})
	}
	return sink.NewWebhook(sink.WebhookConfig{URL: address, Secret: []byte(secret)})
}

// secretsOf are the parts of a URL that can be secret, each by itself: receivers quote what they were asked for.
func secretsOf(address string) []string {
	parts, err := url.Parse(address)
	if err != nil {
		return nil
	}
	password, _ := parts.User.Password()
	all := []string{address, password, parts.RawQuery}
	for _, path := range []string{parts.Path, parts.EscapedPath()} {
		all = append(append(all, path), strings.FieldsFunc(path, func(r rune) bool { return r == '/' })...)
	}
	for _, values := range parts.Query() {
		all = append(all, values...)
	}
	return all
}

// discreet is a sink whose errors do not have its secrets.
type discreet struct {
	sink outbox.Sink
	hide *redact.Redactor
}

func (d discreet) Send(ctx context.Context, i outbox.Intent) error {
	err := d.sink.Send(ctx, i)
	if err == nil {
		return nil
	}
	return &discreetError{d.hide.String(err.Error()), err}
}

type discreetError struct {
	text string
	err  error
}

func (e *discreetError) Error() string { return e.text }
func (e *discreetError) Unwrap() error { return e.err }

// notifyPaths makes paths absolute that a configuration file names from its folder.
func notifyPaths(rows []Notify, folder string) {
	for i := range rows {
		for _, path := range []*string{&rows[i].File, &rows[i].Mirror} {
			if *path != "" && !filepath.IsAbs(*path) {
				*path = filepath.Join(folder, *path)
			}
		}
	}
}
