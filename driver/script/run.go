package script

import (
	"context"
	"fmt"
	"os"
	"path"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/driver/program"
)

// Run plays the attempt of the task's round. A step that fails ends it, as Crashed: the later steps do not happen, so that an
// attempt whose exec fails has no usage but what that program left.
func (d *Driver) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	if emit == nil {
		emit = func(driver.Event) {}
	}
	p := &player{task: t, emit: emit, began: time.Now(), result: driver.Result{Confinement: "none"}}
	attempts := d.attempts[t.Slug]
	if len(attempts) == 0 {
		return p.result, &driver.Error{Class: driver.Crashed, Message: fmt.Sprintf("script %s has no slug %q", d.file, t.Slug)}
	}
	err := p.play(ctx, attempts[min(max(t.Round, 1), len(attempts))-1])
	return p.result, err
}

// player plays one attempt.
type player struct {
	task   driver.Task
	emit   func(driver.Event)
	began  time.Time
	result driver.Result
}

func (p *player) play(ctx context.Context, a attempt) error {
	for _, step := range []func(context.Context, attempt) error{p.sleep, p.change, p.exec, p.say, p.use, p.fail} {
		if ctx.Err() != nil {
			return &driver.Error{Class: driver.Cancelled, Err: context.Cause(ctx)}
		}
		if err := step(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// sleep is silent, and so ends early at the idle limit as well.
func (p *player) sleep(ctx context.Context, a attempt) error {
	limit, class := a.sleep, driver.Class("")
	if idle := p.task.Budget.Idle; idle > 0 && idle < limit {
		limit, class = idle, driver.Idle
	}
	if total := p.task.Budget.Timeout; total > 0 && total < limit {
		limit, class = total, driver.Timeout
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return &driver.Error{Class: driver.Cancelled, Err: context.Cause(ctx)}
	case <-timer.C:
	}
	if class != "" {
		return &driver.Error{Class: class, Message: fmt.Sprintf("the sleep of %s was cut after %s", a.sleep, limit)}
	}
	return nil
}

// change writes and deletes files. What an exec step planted in the tree cannot lead it outside.
func (p *player) change(_ context.Context, a attempt) error {
	if len(a.files)+len(a.remove) == 0 {
		return nil
	}
	root, err := os.OpenRoot(p.task.Dir)
	if err != nil {
		return &driver.Error{Class: driver.Crashed, Err: err}
	}
	defer root.Close()
	for _, f := range a.files {
		if err := root.MkdirAll(path.Dir(f.path), 0o755); err != nil {
			return &driver.Error{Class: driver.Crashed, Err: err}
		}
		if err := root.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
			return &driver.Error{Class: driver.Crashed, Err: err}
		}
		p.result.Files = append(p.result.Files, f.path)
	}
	for _, name := range a.remove {
		if err := root.RemoveAll(name); err != nil { // one that is absent is no error: a repair may begin without it
			return &driver.Error{Class: driver.Crashed, Err: err}
		}
		p.result.Files = append(p.result.Files, name)
	}
	return nil
}

func (p *player) exec(ctx context.Context, a attempt) error {
	if a.exec == nil {
		return nil
	}
	task := p.task
	if limit := task.Budget.Timeout; limit > 0 {
		task.Budget.Timeout = max(1, limit-time.Since(p.began)) // what the sleep left of it
	}
	r, err := program.Run(ctx, task, p.emit, a.exec...)
	p.result = r // without files: it may have changed anything
	return err
}

func (p *player) say(_ context.Context, a attempt) error {
	p.result.Summary = a.say
	if a.say != "" {
		p.emit(driver.Event{Kind: "text", Text: a.say})
	}
	return nil
}

func (p *player) use(_ context.Context, a attempt) error {
	if a.usage == nil {
		return nil
	}
	p.result.Calls, p.result.Metered = []cost.Usage{*a.usage}, true
	p.emit(driver.Event{Kind: "usage", Usage: *a.usage})
	return p.task.Budget.Check(*a.usage)
}

func (p *player) fail(_ context.Context, a attempt) error {
	if a.fail != "" {
		return &driver.Error{Class: a.fail, Message: "as the script says"}
	}
	return nil
}
