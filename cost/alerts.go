package cost

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/url"
	"strings"
	"time"
)

// Alerts tells people when spending, or where it is going, comes near a limit. Each threshold is told once for a wave, a limit, a
// measure and a kind, but at least once: it is written to the sink first and marked after. It is safe for concurrent use where Sink
// and Marks are.
type Alerts struct {
	Thresholds []int // in percent of the limit; nil: 70, 90, 100
	Sink       AlertSink
	Marks      Marks
}

// AlertSink gives alerts to people. Alert returns nil once it is given for certain.
type AlertSink interface {
	Alert(ctx context.Context, a Alert) error
}

// AlertFunc is an AlertSink.
type AlertFunc func(ctx context.Context, a Alert) error

// Alert implements AlertSink.
func (f AlertFunc) Alert(ctx context.Context, a Alert) error { return f(ctx, a) }

// Marks remembers which alerts were given, by Alert.Key. Marking twice is no error.
type Marks interface {
	Marked(ctx context.Context, key string) (bool, error)
	Mark(ctx context.Context, key string, at time.Time) error
}

// AlertKind is what came near a limit.
type AlertKind string

// The kinds.
const (
	SpendAlert      AlertKind = "spend"
	ProjectionAlert AlertKind = "projection" // the middle of where it is going
)

// Measure is in what a limit counts.
type Measure string

// The measures.
const (
	InTokens Measure = "tokens"
	InMoney  Measure = "usd"
)

// Alert says that a threshold was reached.
type Alert struct {
	At        time.Time `json:"at"`
	Wave      string    `json:"wave,omitempty"`
	Limit     string    `json:"limit"` // its name: wave, day 2026-05-01
	Measure   Measure   `json:"measure"`
	Kind      AlertKind `json:"kind"`
	Threshold int       `json:"threshold"` // percent
	Value     string    `json:"value"`     // tokens, or dollars
	Ceiling   string    `json:"ceiling"`
}

// Key is equal for alerts that are the same one: all but At and the figures.
func (a Alert) Key() string {
	parts := []string{a.Wave, a.Limit, string(a.Measure), string(a.Kind)}
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return fmt.Sprintf("%s/%d", strings.Join(parts, "/"), a.Threshold)
}

// String is a line for people.
func (a Alert) String() string {
	what := "spending"
	if a.Kind == ProjectionAlert {
		what = "projected spending"
	}
	value, ceiling := a.Value, a.Ceiling+" tokens"
	if a.Measure == InMoney {
		value, ceiling = "$"+a.Value, "$"+a.Ceiling
	}
	wave := ""
	if a.Wave != "" {
		wave = fmt.Sprintf(" of wave %q", a.Wave)
	}
	return fmt.Sprintf("%s%s has reached %d %% of limit %q: %s of %s", what, wave, a.Threshold, a.Limit, value, ceiling)
}

// AlertState is what became of an alert.
type AlertState string

// The states.
const (
	Fired       AlertState = "fired"   // the sink has it, for the first time as far as the marks say
	Already     AlertState = "already" // it was given before
	AlertFailed AlertState = "failed"  // the sink did not take it: it is tried again the next time
)

// AlertResult is an alert whose threshold is reached now, and what became of it.
type AlertResult struct {
	Alert
	State AlertState `json:"state"`
	Error string     `json:"error,omitempty"` // of the sink, or of the marks: then it may be given again
}

// Gauge is how things stand with one limit.
type Gauge struct {
	At         time.Time
	Wave       string
	Limit      string      // its name
	Spent      Amount      // Total.Charge of the limit's query
	Ceiling    Amount      // a measure that is 0 has no limit
	Projection *Projection // of the same query, or nil; a measure without a forecast gives no alert
}

// Check gives the alerts that are due: of each measure and kind one for each threshold that is reached. It returns all that are
// reached now, in that order, and the errors of sink and marks joined.
func (a Alerts) Check(ctx context.Context, g Gauge) ([]AlertResult, error) {
	var results []AlertResult
	var errs []error
	for _, alert := range a.reached(g) {
		state, err := a.give(ctx, alert)
		result := AlertResult{Alert: alert, State: state}
		if err != nil {
			result.Error = err.Error()
			errs = append(errs, err)
		}
		results = append(results, result)
	}
	return results, errors.Join(errs...)
}

// reached is the alerts that hold.
func (a Alerts) reached(g Gauge) []Alert {
	thresholds := a.Thresholds
	if thresholds == nil {
		thresholds = []int{70, 90, 100}
	}
	var alerts []Alert
	gauge := func(kind AlertKind, measure Measure, value, ceiling int64) {
		for _, percent := range thresholds {
			if ceiling <= 0 || !atLeast(value, ceiling, percent) {
				continue
			}
			alert := Alert{At: g.At.UTC(), Wave: g.Wave, Limit: g.Limit, Measure: measure, Kind: kind, Threshold: percent,
				Value: fmt.Sprint(value), Ceiling: fmt.Sprint(ceiling)}
			if measure == InMoney {
				alert.Value, alert.Ceiling = Money(value).String(), Money(ceiling).String()
			}
			alerts = append(alerts, alert)
		}
	}
	gauge(SpendAlert, InTokens, g.Spent.Tokens, g.Ceiling.Tokens)
	gauge(SpendAlert, InMoney, int64(g.Spent.Money), int64(g.Ceiling.Money))
	if p := g.Projection; p != nil && p.Tokens != nil {
		gauge(ProjectionAlert, InTokens, p.Tokens.Middle, g.Ceiling.Tokens)
	}
	if p := g.Projection; p != nil && p.Money != nil {
		gauge(ProjectionAlert, InMoney, int64(p.Money.Middle), int64(g.Ceiling.Money))
	}
	return alerts
}

// atLeast says whether value is at least so many percent of the ceiling, exactly.
func atLeast(value, ceiling int64, percent int) bool {
	high, low := bits.Mul64(uint64(max(0, value)), 100)
	wantHigh, wantLow := bits.Mul64(uint64(ceiling), uint64(max(0, percent)))
	return high > wantHigh || high == wantHigh && low >= wantLow
}

// give hands an alert to the sink unless that has been done.
func (a Alerts) give(ctx context.Context, alert Alert) (AlertState, error) {
	marked, err := a.Marks.Marked(ctx, alert.Key())
	if marked && err == nil {
		return Already, nil
	}
	if sinkErr := a.Sink.Alert(ctx, alert); sinkErr != nil {
		return AlertFailed, errors.Join(err, fmt.Errorf("alert %s: %w", alert.Key(), sinkErr))
	}
	return Fired, errors.Join(err, a.Marks.Mark(ctx, alert.Key(), alert.At)) // given: what fails now means once more, not lost
}
