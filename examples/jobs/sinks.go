package main

import (
	"aesop/examples/internal/cli"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

// receivers are the flags that name who gets news. A sink keeps its name whatever its place is, so that what it is owed moves with it.
type receivers struct {
	ToFile  given `help:"Append the news of jobs to this file, one JSON document a line." placeholder:"FILE"`
	Mirror  given `help:"Keep the newest of each job in this folder, that of job w1/greet as job%2Fw1%2Fgreet/status.json." placeholder:"DIR"`
	Webhook given `help:"Post the news of jobs to this URL." placeholder:"URL"`
}

func (r receivers) sinks() ([]outbox.Named, error) {
	var all []outbox.Named
	add := func(name string, to outbox.Sink) {
		all = append(all, outbox.Named{Subscription: outbox.Subscription{Name: name, Kinds: []string{"job."}}, Sink: to})
	}
	if r.ToFile != "" {
		add("file", sink.NewFile(string(r.ToFile)))
	}
	if r.Mirror != "" {
		add("mirror", sink.NewMirror(string(r.Mirror)))
	}
	if r.Webhook != "" {
		hook, err := sink.NewWebhook(sink.WebhookConfig{URL: string(r.Webhook)})
		if err != nil {
			return nil, &cli.Problem{Code: "usage", Message: "--webhook: " + err.Error()}
		}
		add("webhook", hook)
	}
	return all, nil
}
