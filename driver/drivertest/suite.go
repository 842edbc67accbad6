package drivertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/cost"
	"aesop/driver"
)

func (s suite) info(t *testing.T) {
	d := s.newDriver(t, Play{})
	first := d.Info()
	if first.Name == "" || first.EffectiveTier() != first.Tier {
		t.Errorf("name %q, tier %d: want a name and a tier from 1 to 4", first.Name, first.Tier)
	}
	if a := first.Accuracy; a != nil && (*a < 0 || *a > 1) {
		t.Errorf("accuracy %v is no share", *a)
	}
	if second := d.Info(); !reflect.DeepEqual(first, second) {
		t.Errorf("Info said %+v, then %+v", first, second)
	}
	newPlace(t).run(t, t.Context(), d)
	if after := d.Info(); !reflect.DeepEqual(first, after) {
		t.Errorf("Info said %+v, and after a task %+v", first, after)
	}
}

func (s suite) below(t *testing.T) {
	files := map[string]string{"greeting.txt": "hello\n", "deep/er/file.txt": "", "present.txt": "new\n"}
	d := s.newDriver(t, Play{Files: files, Say: "all done"})
	p := newPlace(t)
	result, err := p.run(t, t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	p.checkFiles(t, files)
	if !strings.Contains(result.Summary, "all done") {
		t.Errorf("the summary is %q", result.Summary)
	}
	if result.Confinement == "" {
		t.Error("the result does not say what confined the programs; want none or a name")
	}
	if _, err := d.Run(t.Context(), newPlace(t).task, nil); err != nil {
		t.Errorf("without a receiver of events: %v", err)
	}
}

func (s suite) largePrompt(t *testing.T) {
	files := map[string]string{"greeting.txt": "hello\n"}
	d := s.newDriver(t, Play{Files: files})
	p := newPlace(t)
	p.task.Prompt = largePrompt()
	if _, err := p.run(t, t.Context(), d); err != nil {
		t.Fatal(err)
	}
	p.checkFiles(t, files)
}

func (s suite) verbatim(t *testing.T) {
	for name, prompt := range map[string]string{
		"large":   largePrompt(),
		"awkward": "'\"$(touch x)`touch y`\\\n\t-- --help %s\r\nümlaut \U0001F600",
	} {
		d := s.newDriver(t, Play{Prompt: "prompt.txt"})
		p := newPlace(t)
		p.task.Prompt = prompt
		if _, err := p.run(t, t.Context(), d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.checkFiles(t, map[string]string{"prompt.txt": prompt})
	}
}

// largePrompt is nearly 1 MiB of lines: more than any system takes as an argument, as much as programs take at all.
func largePrompt() string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20-64; i++ {
		fmt.Fprintf(&b, "line %d of a long task\n", i)
	}
	return b.String()
}

// used is told by no vendor's rounding: every class differs.
func used() *cost.Usage {
	return &cost.Usage{Model: "played", Input: 900, CacheRead: 70, Output: 41, Reasoning: 5, Metered: true}
}

func (s suite) usage(t *testing.T) {
	d := s.newDriver(t, Play{Usage: used()})
	result, err := newPlace(t).run(t, t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	checkUsage(t, result)
}

func checkUsage(t *testing.T, result driver.Result) {
	t.Helper()
	got, want := result.Usage(), *used()
	if got.Metered != want.Metered || got.Input != want.Input || got.CacheRead != want.CacheRead || got.Output != want.Output {
		t.Errorf("the usage is %+v, want %+v", got, want)
	}
}

func (s suite) noUsage(t *testing.T) {
	d := s.newDriver(t, Play{Say: "done"})
	result, err := newPlace(t).run(t, t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if result.Usage().Metered {
		t.Errorf("the usage is %+v though nobody said it; want unmetered", result.Usage())
	}
}

// tokens: a budget that is just met is kept; one that is passed cuts the dispatch where the driver sees it, and costs what it costs.
func (s suite) tokens(t *testing.T) {
	d := s.newDriver(t, Play{Usage: used()})
	p := newPlace(t)
	p.task.Budget.Tokens = used().Tokens()
	if _, err := p.run(t, t.Context(), d); err != nil {
		t.Fatalf("within the budget: %v", err)
	}
	p.task.Budget.Tokens--
	result, err := p.run(t, t.Context(), d)
	if err == nil || result.Metered { // what was ended in the middle may not know
		checkUsage(t, result)
	}
	if err == nil {
		t.Skip("not applicable: this driver does not keep a budget of tokens")
	}
	if got := driver.ClassOf(err); got != driver.Truncated {
		t.Errorf("the class is %q (%v), want %q", got, err, driver.Truncated)
	}
}

func (s suite) failures(t *testing.T) {
	for _, class := range driver.Classes() {
		t.Run(string(class), func(t *testing.T) {
			files := map[string]string{"partial.txt": "half\n"}
			d := s.newDriver(t, Play{Files: files, Usage: used(), Fail: class})
			p := newPlace(t)
			result, err := p.run(t, t.Context(), d)
			if got := driver.ClassOf(err); got != class {
				t.Fatalf("the class is %q (%v), want %q", got, err, class)
			}
			p.checkFiles(t, files)
			if !result.Metered {
				t.Skip("not applicable: this driver does not learn what a task used that failed so")
			}
			checkUsage(t, result) // money is spent whatever came of it
		})
	}
}

func (s suite) cancelledBefore(t *testing.T) {
	d := s.newDriver(t, Play{Files: map[string]string{"greeting.txt": "hello\n"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newPlace(t).run(t, ctx, d); driver.ClassOf(err) != driver.Cancelled {
		t.Errorf("got %v, want cancelled", err)
	}
}

func (s suite) cancelled(t *testing.T) {
	for _, hang := range []Hang{Silent, Talking} {
		t.Run(string(hang), func(t *testing.T) {
			d := s.newDriver(t, Play{Hang: hang})
			p := newPlace(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("enough")
			var watch sync.WaitGroup
			watch.Go(func() { // when the agent runs, or after a second where it is no process
				poll(ctx, time.Second, func() bool { return len(Running(p.task.Mark)) > 0 })
				cancel(reason)
			})
			_, err := p.run(t, ctx, d)
			cancel(nil)
			watch.Wait()
			if driver.ClassOf(err) != driver.Cancelled || !errors.Is(err, reason) && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want cancelled, with the cause", err)
			}
		})
	}
}

func (s suite) deadline(t *testing.T, hang Hang, budget driver.Budget, want driver.Class) {
	t.Helper()
	d := s.newDriver(t, Play{Hang: hang})
	p := newPlace(t)
	p.task.Budget = budget
	if _, err := p.run(t, t.Context(), d); driver.ClassOf(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func (s suite) total(t *testing.T) {
	s.deadline(t, Silent, driver.Budget{Timeout: time.Second, Idle: limit}, driver.Timeout)
}

func (s suite) totalTalking(t *testing.T) {
	s.deadline(t, Talking, driver.Budget{Timeout: 6 * time.Second, Idle: 5 * time.Second}, driver.Timeout)
}

func (s suite) idle(t *testing.T) {
	s.deadline(t, Silent, driver.Budget{Timeout: limit, Idle: time.Second}, driver.Idle)
}

func (s suite) concurrent(t *testing.T) {
	files := map[string]string{"one.txt": "1\n", "two.txt": "2\n"}
	d := s.newDriver(t, Play{Files: files, Usage: used()})
	var group sync.WaitGroup
	for range 4 {
		p := newPlace(t)
		group.Go(func() {
			result, err := p.run(t, t.Context(), d)
			if err != nil {
				t.Error(err)
				return
			}
			checkUsage(t, result)
			p.checkFiles(t, files)
		})
	}
	group.Wait()
}

func (s suite) arguments(t *testing.T) {
	d := s.newDriver(t, Play{Hang: Silent})
	p := newPlace(t)
	password, word := "password-"+p.task.Mark, "prompt-"+p.task.Mark // told from those of another suite on this machine
	p.task.Environment = append(p.task.Environment, "PROVIDER_PASSWORD="+password)
	p.task.Prompt = strings.Repeat(word+"\n", 100)
	p.task.Budget.Timeout = time.Second
	ctx, cancel := context.WithCancel(t.Context())
	var shown string
	var watch sync.WaitGroup
	watch.Go(func() {
		poll(ctx, limit, func() bool {
			shown = shownInArguments(password, word)
			return shown != ""
		})
	})
	p.run(t, t.Context(), d)
	cancel()
	watch.Wait()
	if shown != "" {
		t.Errorf("the arguments of a process hold a secret or the prompt: %s", shown)
	}
}
