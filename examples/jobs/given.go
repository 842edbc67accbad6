package main

import "errors"

// given is a flag whose value must not be empty: what comes of a variable that is not set is not taken for a flag that was not given.
type given string

// UnmarshalText implements encoding.TextUnmarshaler, by which the command line is read.
func (g *given) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("is empty")
	}
	*g = given(text)
	return nil
}
