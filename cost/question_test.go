package cost_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
)

// TestNewest: the latest value of a dimension is the one that looking at each call finds, in books that were forked too.
func TestNewest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		calls := randomCalls(random, 200)
		var base cost.Book
		base.Add(calls[:120]...)
		book := base.Fork(90)
		all := slices.Concat(calls[:90], calls[120:])
		book.Add(calls[120:]...)
		q := randomQuery(random)
		for _, d := range dimensions() {
			want, last := "", time.Time{}
			for _, c := range all {
				value := dimensionOf(d, c)
				if value == "" || d == cost.ByDay || !q.Selects(c) {
					continue
				}
				if want == "" || c.At.After(last) || c.At.Equal(last) && value > want {
					want, last = value, c.At
				}
			}
			if got := book.Newest(q, d); got != want {
				t.Errorf("%s of %+v: %q, want %q", d, q, got, want)
			}
		}
	}
}

// TestSelects: a query selects a call where it adds it up.
func TestSelects(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, c := range randomCalls(random, 300) {
		var book cost.Book
		book.Add(c)
		q := randomQuery(random)
		if got, want := q.Selects(c), book.Total(q).Calls == 1; got != want {
			t.Errorf("%+v selects %+v: %v", q, c, got)
		}
	}
}

func at(id string, wave, item string, when time.Time, tokens int64) cost.Call {
	return cost.Call{ID: id, At: when, Wave: wave, Item: item, Usage: cost.Usage{Model: "m", Input: tokens, Metered: true}, Cost: money(cost.Money(tokens))}
}

func TestQuestions(t *testing.T) {
	var book cost.Book
	book.Add(at("1", "old", "a", noon().Add(-30*time.Hour), 1), at("2", "new", "a", noon().Add(-2*time.Hour), 2), at("3", "", "b", noon().Add(-time.Minute), 4),
		at("4", "old", "a", noon().Add(-3*time.Hour), 8), at("5", "ahead", "a", noon().Add(20*time.Hour), 16))
	for name, tt := range map[string]struct {
		ask  cost.Question
		want int64
	}{
		"all":             {cost.Question{}, 31},
		"a name":          {cost.Question{Query: cost.Query{Item: "b"}}, 4},
		"a wave":          {cost.Question{Query: cost.Query{Wave: "old"}}, 9},
		"the newest wave": {cost.Question{Period: cost.WavePeriod}, 16},
		"a wave by name":  {cost.Question{Period: cost.WavePeriod, Query: cost.Query{Wave: "new"}}, 2},
		"the day":         {cost.Question{Period: cost.DailyPeriod}, 14},
		"minutes":         {cost.Question{Last: time.Hour}, 4},
		"in place of it":  {cost.Question{Period: cost.DailyPeriod, Last: 150 * time.Minute}, 6},
		"of a wave":       {cost.Question{Period: cost.WavePeriod, Query: cost.Query{Wave: "old"}, Last: 4 * time.Hour}, 8},
		"its own window":  {cost.Question{Query: cost.Query{Window: cost.Window{To: noon().Add(-24 * time.Hour)}}}, 31},
	} {
		tt.ask.Now = noon()
		q, found := tt.ask.Select(&book)
		if got := book.Total(q).Charge().Tokens; got != tt.want || !found {
			t.Errorf("%s: %d tokens, want %d", name, got, tt.want)
		}
	}
	if _, found := (cost.Question{Period: cost.WavePeriod, Now: noon()}).Select(new(cost.Book)); found {
		t.Error("an empty book has a wave")
	}
}

func TestCeilings(t *testing.T) {
	var book cost.Book
	unmetered, unpriced := at("u", "w", "b", noon(), 5), at("p", "w", "b", noon(), 5)
	unmetered.Usage.Metered, unpriced.Cost = false, nil
	book.Add(at("1", "w", "a", noon(), 100), at("2", "w", "a", noon().Add(-2*time.Hour), 10), at("3", "v", "c", noon().Add(-30*time.Hour), 1000), unmetered, unpriced)
	limits := []cost.Limit{{Scope: cost.PerWave, Tokens: 120, Soft: true}, {Scope: cost.PerWave, Tokens: 120}, {Scope: cost.PerItem, Money: 200}, {Scope: cost.PerDay, Money: 116},
		{Scope: cost.PerModel, Model: "m", Tokens: 120}, {Scope: cost.PerModel, Model: "other", Tokens: 120}}
	judge := cost.Judge{Spending: &book, Held: []cost.Reservation{{Subject: cost.Subject{Wave: "w", Item: "a", Model: "m"}, Amount: cost.Amount{Tokens: 7, Money: 7}}}}
	show := func(all []cost.Ceiling) (lines []string) {
		for _, c := range all {
			line := fmt.Sprintf("%s %s %d+%d", c.Limit.Name(), c.Subject.Item, c.Spent, c.Reserved)
			if c.Stops() {
				line += " stops"
			}
			if c.Doubt != "" {
				line += " ?"
			}
			lines = append(lines, line)
		}
		return lines
	}
	for name, tt := range map[string]struct {
		ask     cost.Question
		budget  cost.Budget
		corrupt int
		want    []string
	}{
		"all": {cost.Question{Query: cost.Query{Wave: "w"}}, cost.Budget{}, 0, []string{"waveTokens  120+7 stops", "dayUsd  115+7", "models.m.dayTokens  120+7 stops",
			"models.other.dayTokens  0+0", "itemUsd a 110+7", "itemUsd b 5+0", "soft.waveTokens  120+7"}},
		"no wave":         {cost.Question{}, cost.Budget{}, 0, []string{"dayUsd  115+7", "models.m.dayTokens  120+7 stops", "models.other.dayTokens  0+0"}},
		"of the wave":     {cost.Question{Period: cost.WavePeriod, Query: cost.Query{Wave: "v"}}, cost.Budget{}, 0, []string{"waveTokens  1000+0 stops", "soft.waveTokens  1000+0"}},
		"of the day":      {cost.Question{Period: cost.DailyPeriod, Query: cost.Query{Model: "other"}}, cost.Budget{}, 0, []string{"dayUsd  115+7", "models.other.dayTokens  0+0"}},
		"of an hour":      {cost.Question{Period: cost.WavePeriod, Query: cost.Query{Wave: "w"}, Last: time.Hour}, cost.Budget{}, 0, []string{"waveTokens  0+7", "soft.waveTokens  0+7"}},
		"refused":         {cost.Question{Period: cost.DailyPeriod}, cost.Budget{Unpriced: cost.Refuse}, 0, []string{"dayUsd  115+7 ?", "models.m.dayTokens  120+7 stops", "models.other.dayTokens  0+0"}},
		"refused, tokens": {cost.Question{Period: cost.DailyPeriod}, cost.Budget{Unmetered: cost.Refuse}, 0, []string{"dayUsd  115+7", "models.m.dayTokens  120+7 stops ?", "models.other.dayTokens  0+0"}},
		"corrupt":         {cost.Question{Period: cost.DailyPeriod}, cost.Budget{}, 1, []string{"dayUsd  115+7 ?", "models.m.dayTokens  120+7 stops ?", "models.other.dayTokens  0+0 ?"}},
	} {
		tt.ask.Now, tt.budget.Limits = noon(), limits
		if diff := cmp.Diff(tt.want, show(judge.Ceilings(tt.ask, tt.budget, tt.corrupt))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestGauges: an alert hears of a limit's own calls, and of what is open of them.
func TestGauges(t *testing.T) {
	var book cost.Book
	book.Add(at("1", "w", "a", noon().Add(-10*time.Minute), 100), at("2", "w", "b", noon().Add(-20*time.Minute), 60))
	judge := cost.Judge{Spending: &book}
	ask := cost.Question{Query: cost.Query{Wave: "w"}, Now: noon()}
	budget := cost.Budget{Limits: []cost.Limit{{Scope: cost.PerWave, Tokens: 500}, {Scope: cost.PerDay, Tokens: 500}, {Scope: cost.PerItem, Tokens: 500}, {Scope: cost.PerModel, Model: "m", Tokens: 500}}}
	projector := cost.Projector{Book: &book, Now: noon()}
	for name, aim := range map[string]cost.Aim{"by work": {Open: []string{"b", "c"}}, "by rate": {Until: noon().Add(1000 * time.Hour)}} {
		var got []string
		for _, c := range judge.Ceilings(ask, budget, 0) {
			g := c.Gauge(projector, "w", aim)
			line := fmt.Sprintf("%s %d of %d", g.Limit, g.Spent.Tokens, g.Ceiling.Tokens)
			if g.Projection != nil && g.Projection.Tokens != nil {
				line += fmt.Sprintf(", then %d", g.Projection.Tokens.Middle)
			}
			got = append(got, line)
		}
		want := []string{"waveTokens 160 of 500, then 300", "dayTokens 160 of 500, then 300", "models.m.dayTokens 160 of 500", "itemTokens a 100 of 500, then 100", "itemTokens b 60 of 500"}
		if name == "by rate" { // a day ends, a wave does not
			want = []string{"waveTokens", "dayTokens", "models.m.dayTokens", "itemTokens a", "itemTokens b"}
			for n := range got {
				if n != 2 && strings.Contains(got[n], "then") != true {
					t.Errorf("%s", got[n])
				}
				got[n], _, _ = strings.Cut(got[n], " 1")
				got[n], _, _ = strings.Cut(got[n], " 6")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	day := judge.Ceilings(cost.Question{Period: cost.DailyPeriod, Now: noon()}, budget, 0)[0]
	a := day.Gauge(projector, "", cost.Aim{Until: noon().Add(12 * time.Hour)}).Projection.Tokens.Middle
	if b := day.Gauge(projector, "", cost.Aim{Until: noon().Add(48 * time.Hour)}).Projection.Tokens.Middle; a != b {
		t.Errorf("until the day ends it is %d, and %d where a later end is named", a, b)
	}
}

// TestUntil: the rate goes on until a time that says nothing about what counts as spent.
func TestUntil(t *testing.T) {
	var book cost.Book
	for n := range 10 {
		book.Add(at(fmt.Sprint(n), "w", "a", noon().Add(-time.Duration(n)*3*time.Minute-time.Minute), 10))
	}
	book.Add(at("ahead", "w", "a", noon().Add(10*time.Minute), 1000))
	p := cost.Projector{Book: &book, Now: noon()}.Project(cost.Aim{Query: cost.Query{Window: cost.Last(noon(), time.Hour)}, Until: noon().Add(30 * time.Minute)})
	if p.Spent.Charge().Tokens != 100 || p.Tokens == nil || p.Tokens.Middle != 200 {
		t.Errorf("%+v", p)
	}
}

// TestUnnamed items are judged like any that have not begun.
func TestUnnamed(t *testing.T) {
	var book cost.Book
	book.Add(at("1", "w", "a", noon(), 100), at("2", "w", "b", noon(), 60))
	p := cost.Projector{Book: &book, Now: noon()}.Project(cost.Aim{Query: cost.Query{Wave: "w"}, Open: cost.Unnamed(2)})
	if p.Tokens == nil || p.Tokens.Middle != 320 {
		t.Errorf("%+v", p.Tokens)
	}
	if open := cost.Unnamed(0); open == nil || len(open) != 0 {
		t.Errorf("none are %v", open)
	}
}

// memoryLedger is a ledger of one book.
type memoryLedger struct {
	book  cost.Book
	calls []cost.Call
	sizes []int
	err   error
}

func (l *memoryLedger) Record(_ context.Context, calls ...cost.Call) (done cost.Recorded, err error) {
	if l.err != nil {
		return done, l.err
	}
	l.sizes = append(l.sizes, len(calls))
	for _, c := range calls {
		one := l.book.Add(c)
		if one.Added > 0 {
			l.calls = append(l.calls, c)
		}
		done = cost.Recorded{Added: done.Added + one.Added, Known: done.Known + one.Known, Differ: done.Differ + one.Differ}
	}
	return done, nil
}

func (l *memoryLedger) Book(context.Context) (*cost.Book, error) { return &l.book, nil }

func (l *memoryLedger) kept(context.Context) iter.Seq2[cost.Call, error] {
	return func(yield func(cost.Call, error) bool) {
		for _, c := range l.calls {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestRecorder: calls come in batches, and one that differs in its price alone is known.
func TestRecorder(t *testing.T) {
	var l memoryLedger
	r := cost.Recorder{Ledger: &l, Kept: l.kept}
	for n := range 2500 {
		if err := r.Add(t.Context(), at(fmt.Sprint(n), "w", "a", noon(), 1)); err != nil {
			t.Fatal(err)
		}
	}
	again, dearer, other := at("1", "w", "a", noon(), 1), at("2", "w", "a", noon(), 1), at("3", "w", "a", noon(), 2)
	dearer.Cost, dearer.Prices, dearer.Estimate = money(99), "2026-01-01", &cost.Amount{Tokens: 1}
	for _, c := range []cost.Call{again, dearer, other} {
		if err := r.Add(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(t.Context()); err != nil || r.Done != (cost.Recorded{Added: 2500, Known: 2, Differ: 1}) || !slices.Equal(l.sizes, []int{1000, 1000, 503}) {
		t.Errorf("%+v, %v, in batches of %v", r.Done, err, l.sizes)
	}
	if err := r.Flush(t.Context()); err != nil || len(l.sizes) != 3 {
		t.Errorf("nothing was recorded as a batch: %v", err)
	}
	l.err = errors.New("full")
	if err := errors.Join(r.Add(t.Context(), again), r.Flush(t.Context())); !errors.Is(err, l.err) {
		t.Errorf("a failure became %v", err)
	}
}

func TestClean(t *testing.T) {
	hide := func(text string) string { return strings.ReplaceAll(text, "hush", "x") }
	c := cost.Call{ID: "hush", Wave: "hush", Item: "hush", Attempt: "hush", Phase: "hush", Backend: "hush", Agent: "hush", Session: "hush", Source: "hush", Service: "hush",
		Verdict: "hush", Prices: "hush", Usage: cost.Usage{Model: "hush"}}
	if got := fmt.Sprintf("%+v", c.Clean(hide)); strings.Contains(got, "hush") {
		t.Error(got)
	}
	d := c
	d.ID = "hush2"
	if once, again := c.Clean(hide).ID, c.Clean(hide).ID; once == d.Clean(hide).ID || once != again {
		t.Error("ids are not told apart")
	}
	if plain := at("1", "w", "a", noon(), 1); plain.Clean(hide) != plain {
		t.Error("a clean call was changed")
	}
}
