package manifest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"aesop/driver/process"
)

// Commands resolves the kind Command. A reference is "NAME CODE", such as "smoke-test 0": a name from Argv and the exit code that the command
// must end with. What runs is the judge's choice, never the agent's.
type Commands struct {
	Argv    map[string][]string // what may be run, by name
	Dir     string              // in which it runs, absolute; never where an agent could write, unless the commands are made for that
	Env     []string            // the complete environment
	Timeout time.Duration       // of one run; 0: 30 s. A command that is cut off, or dies of a signal, has told nothing
}

// Resolve implements Resolver.
func (c Commands) Resolve(ctx context.Context, ref string) error {
	name, code, _ := cutLast(ref, " ")
	want, err := strconv.Atoi(code)
	if err != nil || want < 0 || want > 255 {
		return missing("does not end in a space and an exit code from 0 to 255")
	}
	argv, known := c.Argv[name]
	if !known {
		return missing("there is no command %s", name)
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = askLimit
	}
	result, err := process.Run(ctx, process.Command{Argv: argv, Dir: c.Dir, Env: c.Env, Mark: "aesop-prove-" + rand.Text(), Timeout: timeout})
	switch {
	case err != nil:
		return err
	case result.Reason != process.Exited:
		return fmt.Errorf("it did not end by itself: %s", result.Reason)
	case result.Signal != "":
		return fmt.Errorf("it was ended by %s", result.Signal)
	case len(result.Survivors) > 0:
		return fmt.Errorf("it left running what could not be ended: %q", process.Names(result.Survivors))
	case result.Code != want:
		return missing("it ended with %d", result.Code)
	}
	return nil
}
