package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"aesop/cost"
	"aesop/driver"
)

func TestModelOfARole(t *testing.T) {
	info := driver.Info{Models: map[driver.Role]string{driver.Worker: "small", driver.Reviewer: "large"}}
	for role, want := range map[driver.Role]string{driver.Worker: "small", driver.Reviewer: "large", "": "small", "revewer": "small"} {
		if got := info.Model(role); got != want {
			t.Errorf("role %q: got %q, want %q", role, got, want)
		}
	}
	if got := (driver.Info{}).Model(driver.Worker); got != "" {
		t.Errorf("got %q, want the program's own default", got)
	}
}

func TestEffectiveTier(t *testing.T) {
	for tier, want := range map[int]int{-1: 4, 0: 4, 1: 1, 2: 2, 4: 4, 5: 4} {
		if got := (driver.Info{Tier: tier}).EffectiveTier(); got != want {
			t.Errorf("tier %d: got %d, want %d", tier, got, want)
		}
	}
}

func TestUsageOfAResult(t *testing.T) {
	call := cost.Usage{Input: 3, Metered: true}
	for _, test := range []struct {
		result driver.Result
		want   cost.Usage
	}{
		{driver.Result{}, cost.Usage{}},
		{driver.Result{Metered: true}, cost.Usage{Metered: true}}, // it is known that nothing was called
		{driver.Result{Metered: true, Calls: []cost.Usage{call, call}}, cost.Usage{Input: 6, Metered: true}},
		{driver.Result{Metered: false, Calls: []cost.Usage{call}}, cost.Usage{Input: 3}},
		{driver.Result{Metered: true, Calls: []cost.Usage{call, {}}}, cost.Usage{Input: 3}},
	} {
		if got := test.result.Usage(); got != test.want {
			t.Errorf("%+v: got %+v, want %+v", test.result, got, test.want)
		}
	}
}

func TestClassOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want driver.Class
	}{
		{nil, ""},
		{errors.New("x"), driver.Crashed},
		{context.Canceled, driver.Crashed},
		{&driver.Error{Class: driver.Idle}, driver.Idle},
		{fmt.Errorf("dispatch: %w", &driver.Error{Class: driver.Auth}), driver.Auth},
		{&driver.Error{}, driver.Crashed},
		{&driver.Error{Class: "tired"}, driver.Crashed},
	} {
		if got := driver.ClassOf(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}

func TestClasses(t *testing.T) {
	for _, class := range driver.Classes() {
		limits := class == driver.RateLimited || class == driver.Overloaded
		if !class.Known() || class.Limits() != limits {
			t.Errorf("%s: known %v, limits %v", class, class.Known(), class.Limits())
		}
	}
	if len(driver.Classes()) != 10 || driver.Class("").Known() || driver.Class("Timeout").Known() {
		t.Error("a class that does not exist is known, or one is missing")
	}
	driver.Classes()[0] = "changed"
	if driver.Classes()[0] != driver.Refused {
		t.Error("the list can be changed from outside")
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("connection reset")
	for _, test := range []struct {
		err  *driver.Error
		want string
	}{
		{&driver.Error{Class: driver.Auth}, "auth"},
		{&driver.Error{Class: driver.Auth, Message: "no login"}, "auth: no login"},
		{&driver.Error{Class: driver.Crashed, Err: cause}, "crashed: connection reset"},
		{&driver.Error{Class: driver.Crashed, Message: "call 2", Err: cause}, "crashed: call 2: connection reset"},
	} {
		if test.err.Error() != test.want || test.err.Err != nil && !errors.Is(test.err, cause) {
			t.Errorf("got %q, want %q", test.err, test.want)
		}
	}
}

// greeter is a whole driver: Info says what it is, Run works below the task's directory.
type greeter struct{}

func (greeter) Info() driver.Info { return driver.Info{Name: "greeter", Tier: 4} }

func (greeter) Run(_ context.Context, t driver.Task, _ func(driver.Event)) (driver.Result, error) {
	if err := os.WriteFile(filepath.Join(t.Dir, "greeting.txt"), []byte("hello\n"), 0o644); err != nil {
		return driver.Result{}, &driver.Error{Class: driver.Crashed, Err: err}
	}
	return driver.Result{Summary: "greeted", Confinement: "none", Metered: true}, nil // metered: it calls no model
}

func Example() {
	var d driver.Driver = greeter{}
	result, err := d.Run(context.Background(), driver.Task{Dir: os.TempDir() + "/absent"}, nil)
	fmt.Println(d.Info().Name, driver.ClassOf(err), result.Usage().Metered)
	// Output: greeter crashed false
}
