package agentproc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/driver"
	"aesop/driver/process"
)

func TestEnvironmentHoldsNoToken(t *testing.T) {
	task := driver.Task{Item: "i", Environment: []string{"A=1", "AESOP_TOKEN=secret", "AESOP_TOKENS=2"}}
	env := Environment(task)
	if slices.ContainsFunc(env, func(e string) bool { return strings.Contains(e, "secret") }) {
		t.Errorf("got %q", env)
	}
	if !slices.Contains(env, "A=1") || !slices.Contains(env, "AESOP_TOKENS=2") || !slices.Contains(env, "AESOP_ITEM=i") {
		t.Errorf("got %q", env)
	}
	if task.Environment[1] != "AESOP_TOKEN=secret" || len(task.Environment) != 3 {
		t.Errorf("the task changed: %q", task.Environment)
	}
}

func TestCommandKeepsTheBudget(t *testing.T) {
	task := driver.Task{Dir: "/tree", Mark: "m", Budget: driver.Budget{Timeout: time.Hour, Idle: time.Minute}}
	c := Command(task, "a", "b")
	if c.Timeout != time.Hour || c.Idle != time.Minute || c.Grace != Grace || !c.Exclusive || c.Mark != "m" || c.Dir != "/tree" {
		t.Errorf("got %+v", c)
	}
}

func TestFailure(t *testing.T) {
	cause := errors.New("halted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	stderr := process.Tail{Text: []byte(strings.Repeat("x", 2000) + "\xff end\n")}
	for _, test := range []struct {
		result process.Result
		class  driver.Class
		code   int // -1: none
		text   string
	}{
		{process.Result{Reason: process.Exited}, "", -1, ""},
		{process.Result{Reason: process.Exited, Code: 2}, driver.Crashed, 2, "crashed: exit code 2"},
		{process.Result{Reason: process.Exited, Code: -1, Signal: "SIGBUS"}, driver.Crashed, -1, "crashed: ended by SIGBUS"},
		{process.Result{Reason: process.Exited, Code: -1}, driver.Crashed, -1, "crashed: its end was not seen"},
		{process.Result{Reason: process.TimedOut, Duration: time.Second}, driver.Timeout, -1, "timeout: stopped after 1s"},
		{process.Result{Reason: process.WentIdle, Duration: time.Second}, driver.Idle, -1, "idle: silent; stopped after 1s"},
		{process.Result{Reason: process.Cancelled}, driver.Cancelled, -1, "cancelled: halted"},
		{process.Result{Reason: process.Cancelled, Code: 0}, driver.Cancelled, -1, "cancelled: halted"},
		{process.Result{Reason: process.Exited, Code: 1, Stderr: stderr}, driver.Crashed, 1,
			"crashed: exit code 1: " + strings.Repeat("x", 1024-len("\xff end\n")) + " end"},
	} {
		err := Failure(ctx, test.result)
		if driver.ClassOf(err) != test.class || err != nil && err.Error() != test.text {
			t.Errorf("%+v: got %v, want %s", test.result, err, test.text)
		}
		var e *driver.Error
		if errors.As(err, &e) && (test.code < 0) != (e.ExitCode == nil) {
			t.Errorf("%+v: exit code %v", test.result, e.ExitCode)
		}
		if test.class == driver.Cancelled && !errors.Is(err, cause) {
			t.Errorf("%v does not tell the cause", err)
		}
	}
}
