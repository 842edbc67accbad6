// Package command is the driver for any program that takes a prompt and changes files: it runs one command line by sh -c at
// the root of the tree, with the prompt on standard input. What the program finds, and what it may say of its usage, is in the package
// driver/program.
package command

import (
	"context"
	"errors"
	"strings"

	"aesop/driver"
	"aesop/driver/program"
)

// Config says what to run.
type Config struct {
	Line string // for sh -c; required. Other users of the machine can read it, so it must not hold a secret
}

// Driver runs a command line.
type Driver struct{ line string }

// New returns a driver for a command line. It looks at nothing outside, so that a program that does not exist is noticed when
// it is run.
func New(c Config) (*Driver, error) {
	if strings.TrimSpace(c.Line) == "" {
		return nil, errors.New("command driver: the command line is empty")
	}
	return &Driver{line: c.Line}, nil
}

// Info describes a driver that is trusted least, for nobody knows what it runs.
func (*Driver) Info() driver.Info { return driver.Info{Name: "command", Tier: 4} }

// Run runs the command line, as program.Run says.
func (d *Driver) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	return program.Run(ctx, t, emit, "sh", "-c", d.line)
}
