//go:build unix

package program_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"aesop/driver"
	"aesop/driver/program"
)

// robot is a driver whose program ends with exit code 75 where it is to be tried later.
type robot struct{ line string }

func (robot) Info() driver.Info { return driver.Info{Name: "robot", Tier: 3} }

func (r robot) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	result, err := program.Run(ctx, t, emit, "sh", "-c", r.line)
	if failed, ok := errors.AsType[*driver.Error](err); ok && failed.ExitCode != nil && *failed.ExitCode == 75 {
		failed.Class = driver.RateLimited
	}
	return result, err
}

// A driver of one's own adds what it knows of its program.
func ExampleRun() {
	dir, _ := os.MkdirTemp("", "tree")
	defer os.RemoveAll(dir)
	task := driver.Task{Prompt: "Say hello.", Dir: dir, Mark: fmt.Sprint("example-", os.Getpid()), Environment: []string{"PATH=" + os.Getenv("PATH")}}
	for _, line := range []string{`read prompt; echo "I was told: $prompt"`, "exit 75", "exit 1"} {
		result, err := robot{line}.Run(context.Background(), task, nil)
		fmt.Printf("%q %q\n", result.Summary, driver.ClassOf(err))
	}
	// Output:
	// "I was told: Say hello." ""
	// "" "rate_limited"
	// "" "crashed"
}
