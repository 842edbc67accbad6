package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"aesop/cost"
)

// ingest is one run of Ingest.
type ingest struct {
	Config
	clock time.Time
	take  func([]cost.Call) error

	last   State
	giving sync.Mutex           // held while take runs, so that it runs once at a time
	failed error                // of take
	given  map[string]fileState // of Codex' files whose calls take has got

	mu       sync.Mutex // guards what follows
	state    State
	summary  Summary
	progress Progress
	fresh    map[key]*message // that were not given yet
}

func (in *ingest) run(ctx context.Context) error {
	found := in.find()
	defer found.close()
	in.summary.Files = len(found.files)
	var work []source
	for _, f := range found.files {
		old, known := in.state.files[f.key]
		if known && old.Size == f.size && old.Changed.Equal(f.changed) {
			continue
		}
		if !in.Before.IsZero() && !f.changed.Before(in.Before) {
			in.summary.Left++
			continue
		}
		work = append(work, f)
		in.progress.AllBytes += f.size
		if known && old.Offset <= f.size {
			in.progress.AllBytes -= old.Offset
		}
	}
	in.progress.AllFiles = len(work)
	forks, err := in.readAll(ctx, work, true, min(4, runtime.GOMAXPROCS(0), len(work))) // more wait for memory only
	if err == nil && len(forks) > 0 {
		slices.SortFunc(forks, func(a, b source) int { return cmp.Compare(a.key, b.key) }) // as they were made: a fork may have forks
		_, err = in.readAll(ctx, forks, false, 1)
	}
	if err != nil {
		return err
	}
	return in.give(ctx)
}

// readAll reads files, so many at once. With wait, forks whose beginning has yet to be told apart are not read but returned.
func (in *ingest) readAll(ctx context.Context, work []source, wait bool, atOnce int) (forks []source, err error) {
	var mu sync.Mutex // guards forks
	queue := make(chan source)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(queue)
		for _, f := range work {
			select {
			case queue <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range atOnce {
		group.Go(func() error {
			buffer := make([]byte, chunk)
			for f := range queue {
				err := in.file(ctx, f, wait, buffer)
				if errors.Is(err, errLater) {
					mu.Lock()
					forks = append(forks, f)
					mu.Unlock()
				} else if err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return forks, err
}

// file reads what is new in a file. An error is that of the context or of the caller, or errLater.
func (in *ingest) file(ctx context.Context, f source, wait bool, buffer []byte) error {
	in.mu.Lock()
	old, known := in.state.files[f.key]
	in.mu.Unlock()
	r := &reading{name: f.path, clock: in.clock, now: old.clone(), known: known, report: in.report, problems: map[Kind]int{}}
	var found contents = &claudeFile{reading: r, names: names{}, messages: map[key]*message{}}
	if f.codex {
		found = &codexFile{reading: r, wait: wait, parent: in.marks}
	}
	if old.Codex != nil && old.Codex.Replay && wait {
		return errLater
	}
	err := r.read(ctx, f, found, buffer)
	if errors.Is(err, errLater) {
		in.report(-int(r.bytes)) // it comes again
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.problem(Unreadable, 0, err.Error())
	}
	calls := in.finish(f, r, found, err == nil)
	return in.tell(calls, func() {
		if f.codex && err == nil {
			in.given[f.key] = r.now
		}
	})
}

// finish merges what a file had into the whole, and returns its calls that are known now. What is in a file that could not be read to its end
// counts the next time.
func (in *ingest) finish(f source, r *reading, found contents, whole bool) (calls []cost.Call) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.summary.Bytes += r.bytes
	in.summary.Read++
	in.add(r.problems, r.list)
	if whole {
		var messages []*message
		messages, calls = found.contents()
		for _, m := range messages {
			in.merge(m)
		}
		in.summary.Calls += len(calls)
		in.state.files[f.key] = r.now
	}
	in.progress.Files++
	if in.Progress != nil {
		in.Progress(in.progress)
	}
	return calls
}

// tell gives calls to the caller, and none after it had an error. got is called once it has them.
func (in *ingest) tell(calls []cost.Call, got func()) error {
	in.giving.Lock()
	defer in.giving.Unlock()
	if in.failed == nil && len(calls) > 0 {
		in.failed = in.take(calls)
	}
	if in.failed != nil {
		return in.failed
	}
	got()
	if len(calls) > 0 && in.Reached != nil {
		in.failed = in.Reached(in.reached)
	}
	return in.failed
}

// reached is the state on the way. Claude Code's files stand where they did, since most of their messages are given in the end: read
// again, those that were given are known.
func (in *ingest) reached() State {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.last.clone()
	maps.Copy(s.files, in.given)
	s.told = maps.Clone(in.state.told)
	s.pending = slices.DeleteFunc(s.pending, func(m message) bool { return s.told[m.key()] != in.last.told[m.key()] })
	return s
}

func (in *ingest) add(problems map[Kind]int, list []Problem) {
	for kind, n := range problems {
		in.summary.Problems[kind] += n
	}
	in.summary.List = append(in.summary.List, list[:min(len(list), maxProblems-len(in.summary.List))]...)
}

// merge takes a message of a file. One that was given is of interest only where it is greater now.
func (in *ingest) merge(m *message) {
	k := m.key()
	if old := in.fresh[k]; old != nil {
		old.grow(*m)
	} else if t, given := in.state.told[k]; !given || m.Counts.tokens() > t.tokens() {
		in.fresh[k] = m
	}
}

// give gives the messages that can grow no more, in the order of their times.
func (in *ingest) give(ctx context.Context) error {
	open := map[key]bool{}
	for name, f := range in.state.files {
		if in.clock.Sub(f.Changed) >= in.Settle {
			f.Open = nil
			in.state.files[name] = f
		}
		for _, k := range f.Open {
			open[k] = true
		}
	}
	all := slices.SortedFunc(maps.Values(in.fresh), func(a, b *message) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Request, b.Request))
	})
	in.state.pending = nil
	for batch := range slices.Chunk(all, 1000) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var calls []cost.Call
		for _, m := range batch {
			if open[m.key()] {
				in.state.pending = append(in.state.pending, *m)
			} else {
				calls = append(calls, in.settled(m))
			}
		}
		in.summary.Calls += len(calls)
		if err := in.tell(calls, func() {}); err != nil {
			return err
		}
	}
	in.summary.Pending = len(in.state.pending)
	return nil
}

// settled is the call of a message that is given now: all of it, or what it has more than when it was given.
func (in *ingest) settled(m *message) cost.Call {
	call := m.call()
	t := in.state.told[m.key()]
	if t.times > 0 {
		call.ID = fmt.Sprintf("%s+%d", call.ID, t.times)
		call.Usage = m.usage(m.Counts.over(t.counts))
		in.add(map[Kind]int{Late: 1}, []Problem{{Late, m.file, m.line, call.ID}})
	}
	in.state.told[m.key()] = told{m.Counts, t.times + 1}
	return call
}

// marks are the sums that a session of Codex had, in order; none where its file was never read.
func (in *ingest) marks(session string) []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, f := range in.state.files {
		if f.Codex != nil && f.Codex.Session == session {
			return f.Codex.Marks
		}
	}
	return nil
}

// report tells of bytes that were read.
func (in *ingest) report(bytes int) {
	if in.Progress == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.progress.Bytes += int64(bytes)
	in.Progress(in.progress)
}
