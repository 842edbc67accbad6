package cost

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Call is a row of a ledger: what one model call used and what that cost, as far as it is known. Names that are not known are
// empty.
type Call struct {
	ID      string    `json:"id"` // names the call: a ledger has each once
	At      time.Time `json:"at"` // when it ended, UTC
	Wave    string    `json:"wave,omitempty"`
	Item    string    `json:"item,omitempty"`
	Attempt string    `json:"attempt,omitempty"`
	Phase   string    `json:"phase,omitempty"`   // build, repair, review, verify, other
	Backend string    `json:"backend,omitempty"` // the driver or program: claude, codex
	Agent   string    `json:"agent,omitempty"`   // the seat or kind of agent: worker, reviewer, a sub-agent's name
	Session string    `json:"session,omitempty"` // of the program, which its transcripts name too
	Source  string    `json:"source,omitempty"`  // who wrote the row: wave, record, transcript, import
	Usage   Usage     `json:"usage"`             // with the model
	Summed  bool      `json:"summed,omitempty"`  // Usage adds up several requests, as agents report it: their sizes are not known
	Service string    `json:"service,omitempty"` // batch, fast, or us for what may be served there only; "" is the standard one
	Verdict Verdict   `json:"verdict,omitempty"`

	DurationMs int64 `json:"durationMs,omitempty"`

	Cost   *Money `json:"usd"`              // nil: unpriced
	Prices string `json:"prices,omitempty"` // date of the prices that Cost was made from
	// Estimate is charged to limits beside Usage and Cost, in place of what is not known of them; nil: nothing is.
	Estimate *Amount `json:"estimate,omitempty"`
}

// Verdict is what came of a call's work.
type Verdict string

// The verdicts; "" is not known.
const (
	OK     Verdict = "OK"
	Failed Verdict = "FAILED"
	Empty  Verdict = "EMPTY" // it did nothing
	Hung   Verdict = "HUNG"  // it had to be ended
)

// maxName bounds the names of a Call, in bytes.
const maxName = 512

// Check refuses a row that cannot be one: without an id or a time, with counts or amounts below zero or greater than any call's,
// or with names that would spoil a line.
func (c Call) Check() error {
	switch {
	case c.ID == "":
		return errors.New("call: id is missing")
	case c.At.IsZero():
		return fmt.Errorf("call %q: at is missing", c.ID)
	case !c.timely():
		return fmt.Errorf("call %q: at is %s, which is no time of a call", c.ID, c.At.Format(time.RFC3339))
	case c.DurationMs < 0:
		return fmt.Errorf("call %q: durationMs is %d, must not be negative", c.ID, c.DurationMs)
	case c.Cost != nil && *c.Cost < 0:
		return fmt.Errorf("call %q: usd is %s, must not be negative", c.ID, *c.Cost)
	case c.Estimate != nil && (c.Estimate.Tokens < 0 || c.Estimate.Money < 0):
		return fmt.Errorf("call %q: estimate must not be negative", c.ID)
	}
	for _, name := range [][2]string{{"id", c.ID}, {"wave", c.Wave}, {"item", c.Item}, {"attempt", c.Attempt}, {"phase", c.Phase}, {"backend", c.Backend},
		{"agent", c.Agent}, {"session", c.Session}, {"source", c.Source}, {"model", c.Usage.Model}, {"service", c.Service}, {"verdict", string(c.Verdict)}, {"prices", c.Prices}} {
		if len(name[1]) > maxName || !utf8.ValidString(name[1]) || strings.ContainsFunc(name[1], unicode.IsControl) {
			return fmt.Errorf("call %.80q: %s is %.80q, which is too long or has control characters", c.ID, name[0], name[1])
		}
	}
	if err := c.Usage.Check(); err != nil {
		return fmt.Errorf("call %q: %w", c.ID, err)
	}
	return nil
}

// MarshalJSON writes the row. Where a usage is known only in part, Usage by itself hides that part; a row keeps it, because it is
// charged to limits.
func (c Call) MarshalJSON() ([]byte, error) {
	type fields Call // without this method
	u, row := c.Usage, usageJSON{Model: c.Usage.Model, Metered: c.Usage.Metered}
	keep := func(count *int64) *int64 {
		if !u.Metered && *count == 0 {
			return nil
		}
		return count
	}
	row.Input, row.CacheRead, row.CacheWrite5m = keep(&u.Input), keep(&u.CacheRead), keep(&u.CacheWrite5m)
	row.CacheWrite1h, row.Output, row.Reasoning = keep(&u.CacheWrite1h), keep(&u.Output), keep(&u.Reasoning)
	return json.Marshal(struct {
		fields
		Usage usageJSON `json:"usage"` // in place of the other
	}{fields(c), row})
}

// Alike says whether two rows tell the same but for what prices make of it: their cost, the prices' date and the estimate.
func (c Call) Alike(o Call) bool {
	for _, x := range []*Call{&c, &o} {
		x.Cost, x.Prices, x.Estimate = nil, "", nil
	}
	return c.ID == o.ID && c.fingerprint() == o.fingerprint()
}

// Clean is the row with each name as clean leaves it, which takes out secrets. An id that holds one becomes a digest of it, so that
// different ids stay different.
func (c Call) Clean(clean func(string) string) Call {
	if clean(c.ID) != c.ID {
		sum := sha256.Sum256([]byte(c.ID))
		c.ID = "sha256/" + hex.EncodeToString(sum[:16])
	}
	for _, name := range []*string{&c.Wave, &c.Item, &c.Attempt, &c.Phase, &c.Backend, &c.Agent, &c.Session, &c.Source, &c.Usage.Model, &c.Service,
		(*string)(&c.Verdict), &c.Prices} {
		*name = clean(*name)
	}
	return c
}

// Charge is what the row counts against limits: what is known of it, and what is charged in place of the rest.
func (c Call) Charge() Amount {
	charge := Amount{Tokens: c.Usage.Tokens()}
	if c.Cost != nil {
		charge.Money = *c.Cost
	}
	if c.Estimate != nil {
		charge = charge.Add(*c.Estimate)
	}
	return charge
}
