package wave

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"go.uber.org/zap"

	"aesop/statestore/job"
	"aesop/statestore/outbox"
	"aesop/wave/journal"
)

// Kinds of news of a wave, which sinks of Config.Sinks hear of beside those of its jobs, such as job.complete. The subject is wave/ID.
const (
	NewsEnded   = "wave.ended"
	NewsStopped = "wave.stopped" // it can be resumed
)

// Bounds of News, with which it is far smaller than outbox.MaxSize: a wave whose news did not fit could not end.
const (
	maxNewsItems  = 300
	maxNewsReason = 1000
)

// News is what is told of a wave that ended or stopped: the heart of its report. Long reasons are cut.
type News struct {
	SchemaVersion int             `json:"schemaVersion"`
	Wave          string          `json:"wave"`
	Outcome       journal.Outcome `json:"outcome"`
	Reason        string          `json:"reason"` // "" where it ended by itself
	Items         []ItemNews      `json:"items"`
	Omitted       int             `json:"omitted"` // items beyond those, of a wave of very many
}

// ItemNews is an item in the News of its wave.
type ItemNews struct {
	ID     string        `json:"id"`
	Slug   string        `json:"slug"`
	State  journal.State `json:"state"`
	Reason string        `json:"reason"`
	Branch *string       `json:"branch"`
	Commit *string       `json:"commit"`
}

// news is journal.Config.News. A wave that found nothing to do is none.
func news(w *journal.Wave, e journal.Event) (kind string, data []byte) {
	switch e := e.(type) {
	case journal.Stopped:
		kind = NewsStopped
	case journal.Ended:
		if e.Outcome == journal.NothingToDo {
			return "", nil
		}
		kind = NewsEnded
	default:
		return "", nil
	}
	report := NewReport(w)
	told := News{SchemaVersion: SchemaVersion, Wave: report.Wave, Outcome: report.Outcome, Items: []ItemNews{}}
	for _, reason := range []*string{report.HaltReason, report.CeilingReason} {
		if reason != nil {
			told.Reason = *reason
		}
	}
	if report.Error != nil {
		told.Reason = cmp.Or(told.Reason, report.Error.Message)
	}
	told.Reason = clipped(told.Reason, maxNewsReason)
	for _, i := range report.Items[:min(len(report.Items), maxNewsItems)] {
		told.Items = append(told.Items, ItemNews{ID: i.ID, Slug: clipped(i.Slug, maxStatusReason), State: i.State, Reason: clipped(i.Reason, maxStatusReason),
			Branch: i.Branch, Commit: i.Commit})
	}
	told.Omitted = len(report.Items) - len(told.Items)
	data, err := json.Marshal(told)
	if err != nil { // nothing in it can fail
		return "", nil
	}
	return kind, data
}

// lastNews is how long the end of a run waits for news to be sent. What is not sent then stays owed, and the next run begins with it.
const lastNews = 10 * time.Second

// notify subscribes the sinks of the configuration, and sends what is owed, that of earlier processes first, until the returned function is
// called, which sends the rest.
func (s *Scheduler) notify(ctx context.Context) (stop func(), err error) {
	if len(s.config.Sinks) == 0 {
		return func() {}, nil
	}
	notifier, err := outbox.New(ctx, outbox.Config{Store: s.config.Store, Sinks: s.sinks, Settled: job.Settled, Redact: s.config.Redactor.String, Logger: s.config.Logger})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var sender sync.WaitGroup
	sender.Go(func() {
		if err := notifier.Run(running); err != nil {
			s.config.Logger.Warn("news is not sent any more", zap.Error(err))
		}
	})
	return func() {
		cancel()
		sender.Wait()
		last, end := s.lastWait(ctx)
		defer end()
		sent, err := notifier.Flush(last)
		if err != nil || sent.Pending > 0 {
			s.config.Logger.Warn("news is still owed", zap.Int("pending", sent.Pending), zap.Error(err))
		}
	}, nil
}

// lastWait is the context of what a run does after its waves. The next call of Stop ends it, or that which was the second.
func (s *Scheduler) lastWait(ctx context.Context) (last context.Context, end func()) {
	st := &stopper{kill: make(chan struct{})}
	st.ctx, st.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	last, cancel := context.WithTimeout(st.ctx, lastNews)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive[st] = true
	if s.stops > 1 {
		st.signal(s.stops)
	}
	return last, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.alive, st)
		cancel()
		st.cancel(nil)
	}
}
