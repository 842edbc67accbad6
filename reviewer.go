package aesop

import (
	"errors"

	"aesop/wave"
	"aesop/wave/policy"
	"aesop/wave/review"
)

// reviewer is the one that is given, or else the one that the policy names, or nil.
func (c Config) reviewer() (wave.Reviewer, error) {
	seat := c.Settings.Policy.Reviewer
	if c.Reviewer != nil || seat == nil {
		return c.Reviewer, nil
	}
	agent, err := openSeat(*seat)
	if setup, ok := errors.AsType[*wave.SetupError](err); ok {
		about := *setup
		about.Message = "policy.reviewer: " + about.Message
		if about.Code == "unknown_driver" {
			about.Code = "unknown_reviewer"
		}
		return nil, &about
	}
	if err != nil {
		return nil, err
	}
	return review.New(agent, review.Options{Model: seat.Model})
}

// openSeat opens the driver of a seat. What its driver does not need is refused: it would have no effect.
func openSeat(s policy.Seat) (Driver, error) {
	for _, own := range []struct{ driver, key, value string }{{"command", "agentCmd", s.AgentCmd}, {"script", "script", s.Script}} {
		if own.value != "" && s.Driver != own.driver {
			return nil, &wave.SetupError{Code: "usage", Message: own.key + " is for the " + own.driver + " driver, and this is " + s.Driver, Hint: "remove the key"}
		}
	}
	return Config{Settings: Settings{Driver: s.Driver, AgentCmd: s.AgentCmd}, Script: s.Script}.agent()
}
