package wave

import (
	"encoding/json"
	"slices"

	"go.uber.org/zap"

	"aesop/redact"
	"aesop/redact/redactzap"
	"aesop/tracker"
	"aesop/wave/journal"
)

// theRedactor is r, or the default one.
func theRedactor(r *redact.Redactor) (*redact.Redactor, error) {
	if r != nil {
		return r, nil
	}
	return redact.New(redact.Config{})
}

// closed makes sure that nothing of the engine passes the redactor: it knows the secrets among the variables that agents and tests are
// given, and the logger logs through it.
func (c *Config) closed() error {
	var err error
	if c.Redactor, err = theRedactor(c.Redactor); err != nil {
		return err
	}
	names := slices.Concat(c.Driver.Info().Environment, c.PassEnv)
	var given []string
	for _, name := range names {
		if value, ok := c.Lookup(name); ok {
			given = append(given, name+"="+value)
		}
	}
	c.Redactor.RegisterEnvironment(given)
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	c.Logger = redactzap.Logger(c.Logger, c.Redactor)
	return nil
}

// cleanError is an error whose text has no secrets. What it wraps has them still, for who asks what kind of error it is.
type cleanError struct {
	text  string
	err   error
	clean func(string) string
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

// clean is an error as the caller may have it, who is likely to log it.
func (s *Scheduler) clean(err error) error {
	if err == nil {
		return nil
	}
	text := s.redact(err.Error())
	if text == err.Error() {
		return err
	}
	return &cleanError{text, err, s.redact}
}

// verbatim is a repository as it was planned. Events have no secrets, so what they lack of it comes from the configuration of now, where
// that shows as the event does.
func (s *Scheduler) verbatim(planned, now journal.Repository) (journal.Repository, error) {
	data, err := json.Marshal(now)
	if err != nil {
		return planned, err
	}
	var shown journal.Repository
	if err := json.Unmarshal(s.config.Redactor.JSON(data), &shown); err != nil {
		return planned, err
	}
	if shown.Who == planned.Who && shown.Email == planned.Email {
		planned.Who, planned.Email = now.Who, now.Email
	}
	if shown.Verify.Text == planned.Verify.Text && slices.Equal(shown.Verify.Argv, planned.Verify.Argv) {
		planned.Verify = now.Verify
	}
	if slices.Equal(shown.Prepare, planned.Prepare) {
		planned.Prepare = now.Prepare
	}
	if slices.Equal(shown.Carry, planned.Carry) {
		planned.Carry = now.Carry
	}
	return planned, nil
}

// unnameable says that an item is called by something that nothing may show, so that no event could be about it, and no ref.
func (s *Scheduler) unnameable(item tracker.Item) bool {
	return s.redact(item.ID) != item.ID || s.redact(item.Repository()) != item.Repository()
}

// newToken makes a secret token that nothing the engine writes can show.
func (s *Scheduler) newToken() (string, error) {
	token, err := tracker.NewToken(s.config.Rand)
	if err != nil {
		return "", err
	}
	return token, s.config.Redactor.Register(token)
}
