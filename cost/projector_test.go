package cost_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"aesop/cost"
)

// spend makes a call of an item that costs as many tokens and nano-dollars.
func spend(id, item string, ago time.Duration, amount int64) cost.Call {
	return cost.Call{ID: id, At: noon().Add(-ago), Wave: "w1", Item: item, Attempt: item + "-1", Cost: money(cost.Money(amount)),
		Usage: cost.Usage{Model: "m", Input: amount, Metered: true}}
}

func bookOf(calls ...cost.Call) *cost.Book {
	var book cost.Book
	book.Add(calls...)
	return &book
}

func project(book *cost.Book, aim cost.Aim) cost.Projection {
	return cost.Projector{Book: book, Now: noon()}.Project(aim)
}

// figures are the tokens of a forecast, which are those of the money too.
func figures(t *testing.T, p cost.Projection, low, middle, high int64) {
	t.Helper()
	if p.Tokens == nil || p.Money == nil {
		t.Fatalf("no figures: %+v", p)
	}
	if got := *p.Tokens; got.Low != low || got.Middle != middle || got.High != high {
		t.Errorf("tokens %d, %d, %d; want %d, %d, %d (%s: %s)", got.Low, got.Middle, got.High, low, middle, high, p.State, p.Reason)
	}
	if got := *p.Money; got.Low != cost.Money(low) || got.Middle != cost.Money(middle) || got.High != cost.Money(high) {
		t.Errorf("money %v, %v, %v; want %d, %d, %d", got.Low, got.Middle, got.High, low, middle, high)
	}
}

// finished are items of another wave that cost 10, 20, 30, 40 and 100.
func finished(wave string) []cost.Call {
	var calls []cost.Call
	for n, amount := range []int64{10, 20, 30, 40, 100} {
		c := spend(fmt.Sprint(wave, n), fmt.Sprint("done", n), 48*time.Hour, amount)
		c.Wave = wave
		calls = append(calls, c)
	}
	return calls
}

func TestOpenWorkIsJudgedByFinishedItems(t *testing.T) {
	wave := cost.Query{Wave: "w1"}
	for name, test := range map[string]struct {
		calls             []cost.Call
		aim               cost.Aim
		low, middle, high int64
		state             cost.State
		samples           int
	}{
		"before the wave": {finished("w0"), cost.Aim{Query: wave, Open: []string{"a", "b"}, Like: &cost.Query{Model: "m"}}, 40, 80, 80, cost.ProjectionOK, 5},
		"half way": {append(finished("w0"), spend("1", "a", time.Minute, 15), spend("2", "b", time.Minute, 70)),
			cost.Aim{Query: wave, Open: []string{"a", "b"}, Like: &cost.Query{}}, 85 + 5 + 0, 85 + 25 + 0, 85 + 25 + 0, cost.ProjectionOK, 5},
		"by its own items": {append(finished("w1"), spend("1", "a", time.Minute, 15)), cost.Aim{Query: wave, Open: []string{"a"}}, 215 + 5, 215 + 25, 215 + 25, cost.ProjectionOK, 5},
		"an item is one sample though both queries have it": {finished("w1"), cost.Aim{Query: wave, Open: []string{"a"}, Like: &cost.Query{}}, 220, 240, 240, cost.ProjectionOK, 5},
		"one item of the same name elsewhere is finished":   {finished("w0"), cost.Aim{Query: wave, Open: []string{"done0"}, Like: &cost.Query{}}, 20, 40, 40, cost.ProjectionOK, 5},
		"few samples":                      {finished("w0")[:2], cost.Aim{Query: wave, Open: []string{"a"}, Like: &cost.Query{}}, 10, 15, 20, cost.Thin, 2},
		"all is done":                      {finished("w1")[:2], cost.Aim{Query: wave, Open: []string{}}, 30, 30, 30, cost.ProjectionOK, 2},
		"nothing was and nothing is to do": {nil, cost.Aim{Query: wave, Open: []string{}}, 0, 0, 0, cost.ProjectionOK, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(bookOf(test.calls...), test.aim)
			figures(t, p, test.low, test.middle, test.high)
			if p.State != test.state || p.Samples != test.samples || (p.Reason == "") != (test.state == cost.ProjectionOK) {
				t.Errorf("state %s of %d samples: %s", p.State, p.Samples, p.Reason)
			}
		})
	}
}

func TestNothingIsKnownIsNotZero(t *testing.T) {
	wave := cost.Query{Wave: "w1"}
	unpriced := spend("1", "a", time.Minute, 10)
	unpriced.Cost = nil
	unmetered := spend("2", "b", time.Minute, 0)
	unmetered.Usage = cost.Usage{Model: "m"}
	for name, p := range map[string]cost.Projection{
		"no samples":         project(bookOf(spend("1", "a", time.Minute, 10)), cost.Aim{Query: wave, Open: []string{"a"}}),
		"no calls":           project(new(cost.Book), cost.Aim{Query: cost.Query{Window: cost.Day(noon())}}),
		"only old calls":     project(bookOf(spend("1", "a", 3*time.Hour, 10)), cost.Aim{Query: cost.Query{Window: cost.Day(noon())}}),
		"no end":             project(bookOf(spend("1", "a", time.Minute, 10)), cost.Aim{Query: wave}),
		"only future calls":  project(bookOf(spend("1", "a", -time.Minute, 10)), cost.Aim{Query: cost.Query{Window: cost.Day(noon())}}),
		"calls of elsewhere": project(bookOf(spend("1", "a", time.Minute, 10)), cost.Aim{Query: cost.Query{Wave: "w2", Window: cost.Day(noon())}}),
	} {
		if p.State != cost.Insufficient || p.Reason == "" || p.Tokens != nil || p.Money != nil {
			t.Errorf("%s: %+v", name, p)
		}
		if data, err := json.Marshal(p); err != nil || !strings.Contains(string(data), `"tokens":null,"usd":null`) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
	p := project(bookOf(unpriced), cost.Aim{Query: wave, Open: []string{}})
	if p.Money != nil || p.Tokens == nil || p.Unpriced != 1 || !strings.Contains(p.Reason, "1 of 1 calls have no price") {
		t.Errorf("unpriced: %+v", p)
	}
	p = project(bookOf(unmetered), cost.Aim{Query: wave, Open: []string{}})
	if p.Tokens != nil || p.Money == nil || p.Unmetered != 1 || !strings.Contains(p.Reason, "1 of 1 calls are not metered") {
		t.Errorf("unmetered: %+v", p)
	}
	p = project(bookOf(append(finished("w0"), unpriced)...), cost.Aim{Query: wave, Open: []string{}})
	if p.Money != nil {
		t.Errorf("nothing that was spent has a price: %+v", p)
	}
	p = project(bookOf(spend("3", "c", time.Minute, 5), unpriced), cost.Aim{Query: wave, Open: []string{}})
	if p.Money == nil || p.Money.Middle != 5 || p.Unpriced != 1 || !strings.Contains(p.Reason, "1 of 2 calls") {
		t.Errorf("half unpriced: %+v", p)
	}
	old := finished("w0")
	old[0].Cost = nil
	p = project(bookOf(old...), cost.Aim{Query: wave, Open: []string{"a"}, Like: &cost.Query{}})
	if p.Unpriced != 1 || !strings.Contains(p.Reason, "1 of 5 calls have no price") {
		t.Errorf("judged by unpriced calls: %+v", p)
	}
	own := finished("w1")
	own[0].Cost = nil
	p = project(bookOf(own...), cost.Aim{Query: wave, Open: []string{"a"}, Like: &cost.Query{}})
	if p.Unpriced != 1 {
		t.Errorf("a call that both queries have counts %d times", p.Unpriced)
	}
	unmetered.Estimate = &cost.Amount{Tokens: 100, Money: 7}
	unmetered.Cost = nil
	p = project(bookOf(unmetered), cost.Aim{Query: wave, Open: []string{}})
	if p.Tokens == nil || p.Tokens.Middle != 100 || p.Money == nil || p.Money.Middle != 7 {
		t.Errorf("estimated: %+v", p)
	}
}

// steady is a call a minute for so long.
func steady(minutes int, amount int64) []cost.Call {
	var calls []cost.Call
	for n := range minutes {
		calls = append(calls, spend(fmt.Sprint("s", n), "a", time.Duration(n)*time.Minute+time.Second, amount))
	}
	return calls
}

// TestCallsOfNoItemAreNoFinishedItem: a reviewer of a whole wave, for one.
func TestCallsOfNoItemAreNoFinishedItem(t *testing.T) {
	calls := append(finished("w0"), spend("wide", "", time.Hour, 5000))
	calls[5].Wave = "w0"
	p := project(bookOf(calls...), cost.Aim{Query: cost.Query{Wave: "w1"}, Open: []string{"new"}, Like: &cost.Query{Wave: "w0"}})
	if p.Samples != 5 {
		t.Errorf("%d samples", p.Samples)
	}
	figures(t, p, 20, 40, 40)
}

func TestRate(t *testing.T) {
	until := func(d time.Duration) cost.Query {
		return cost.Query{Window: cost.Window{From: noon().Add(-12 * time.Hour), To: noon().Add(d)}}
	}
	hour := int64(time.Hour / time.Millisecond)
	for name, test := range map[string]struct {
		calls   []cost.Call
		aim     cost.Aim
		spent   int64
		middle  int64
		perHour int64
		ceiling *int64 // in milliseconds
		state   cost.State
	}{
		"steady":                            {steady(240, 10), cost.Aim{Query: until(2 * time.Hour)}, 2400, 2400 + 1200, 600, nil, cost.ProjectionOK},
		"to a ceiling":                      {steady(240, 10), cost.Aim{Query: until(2 * time.Hour), Ceiling: cost.Amount{Tokens: 3000, Money: 3000}}, 2400, 3600, 600, &hour, cost.ProjectionOK},
		"at a ceiling":                      {steady(240, 10), cost.Aim{Query: until(2 * time.Hour), Ceiling: cost.Amount{Tokens: 2400, Money: 2400}}, 2400, 3600, 600, new(int64), cost.ProjectionOK},
		"past a ceiling":                    {steady(240, 10), cost.Aim{Query: until(2 * time.Hour), Ceiling: cost.Amount{Tokens: 1, Money: 1}}, 2400, 3600, 600, new(int64), cost.ProjectionOK},
		"the window is over":                {steady(240, 10), cost.Aim{Query: until(0)}, 2400, 2400, 600, nil, cost.ProjectionOK},
		"one call is not its size a minute": {[]cost.Call{spend("1", "a", time.Second, 1000)}, cost.Aim{Query: until(time.Hour)}, 1000, 1000 + 8000, 8000, nil, cost.Thin},
		"one call after a quiet time":       {[]cost.Call{spend("0", "a", 3*time.Hour, 0), spend("1", "a", time.Second, 1000)}, cost.Aim{Query: until(time.Hour)}, 1000, 1000 + 2000, 2000, nil, cost.Thin},
		"it began ten minutes ago":          {steady(11, 10), cost.Aim{Query: until(time.Hour)}, 110, 110 + 110*60*4/45, 110 * 60 * 4 / 45, nil, cost.ProjectionOK},
		"a look at more":                    {steady(60, 10), cost.Aim{Query: until(time.Hour), Recent: 2 * time.Hour}, 600, 1200, 600, nil, cost.ProjectionOK},
		"of calls that cost nothing":        {steady(240, 0), cost.Aim{Query: until(time.Hour), Ceiling: cost.Amount{Tokens: 10, Money: 10}}, 0, 0, 0, nil, cost.ProjectionOK},
		"the future is spent but no rate":   {append(steady(240, 10), spend("f", "a", -time.Minute, 500)), cost.Aim{Query: until(time.Hour)}, 2900, 2900 + 600, 600, nil, cost.ProjectionOK},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(bookOf(test.calls...), test.aim)
			if p.State != test.state || p.Tokens == nil {
				t.Fatalf("%s: %s, %+v", p.State, p.Reason, p.Tokens)
			}
			got := p.Tokens
			if p.Spent.Usage.Input != test.spent || got.Middle != test.middle || got.PerHour == nil || *got.PerHour != test.perHour {
				t.Errorf("spent %d, middle %d, %d an hour; want %d, %d, %d", p.Spent.Usage.Input, got.Middle, *got.PerHour, test.spent, test.middle, test.perHour)
			}
			if got.Low > got.Middle || got.Middle > got.High {
				t.Errorf("%+v is out of order", got)
			}
			if (got.ToCeilingMs == nil) != (test.ceiling == nil) || got.ToCeilingMs != nil && *got.ToCeilingMs != *test.ceiling {
				t.Errorf("to the ceiling: %v, want %v", got.ToCeilingMs, test.ceiling)
			}
			if m := p.Money; int64(m.Middle) != got.Middle || (m.ToCeilingMs == nil) != (test.ceiling == nil) {
				t.Errorf("money %+v is not as tokens %+v", m, got)
			}
		})
	}
}

// TestOneLargeCallMovesTheMiddleOnly: the quarters of a rate do not follow a single slot.
func TestOneLargeCallMovesTheMiddleOnly(t *testing.T) {
	q := cost.Query{Window: cost.Day(noon())}
	calm := project(bookOf(steady(240, 10)...), cost.Aim{Query: q})
	storm := project(bookOf(append(steady(240, 10), spend("x", "a", time.Second, 10_000))...), cost.Aim{Query: q})
	rest := func(p cost.Projection, n int64) int64 { return n - p.Spent.Usage.Input }
	if got, want := rest(storm, storm.Tokens.Low), rest(calm, calm.Tokens.Low); got != want {
		t.Errorf("low rests %d, want %d", got, want)
	}
	if rest(storm, storm.Tokens.Middle) <= rest(calm, calm.Tokens.High) || storm.Tokens.High != storm.Tokens.Middle {
		t.Errorf("got %+v after %+v", storm.Tokens, calm.Tokens)
	}
}

func TestGroupsOfAProjection(t *testing.T) {
	var calls []cost.Call
	for n := range 5 { // each finished item costs 10 of the worker and every other one 4 of the reviewer
		a := spend(fmt.Sprint("a", n), fmt.Sprint("done", n), 48*time.Hour, 10)
		a.Wave, a.Agent = "w0", "worker"
		calls = append(calls, a)
		if n%2 == 0 {
			b := spend(fmt.Sprint("b", n), fmt.Sprint("done", n), 48*time.Hour, 5)
			b.Wave, b.Agent = "w0", "reviewer"
			calls = append(calls, b)
		}
	}
	begun := spend("c", "x", time.Minute, 6)
	begun.Agent = "worker"
	book := bookOf(append(calls, begun)...)
	projector := cost.Projector{Book: book, Now: noon()}
	aim := cost.Aim{Query: cost.Query{Wave: "w1"}, Open: []string{"x", "y"}, Like: &cost.Query{}}
	middles := func(by ...cost.Dimension) map[string]int64 {
		out := map[string]int64{}
		for _, g := range projector.Groups(aim, by...) {
			key := ""
			for _, d := range by {
				if d != cost.ByDay {
					key += g.Key[d] + "/"
				}
			}
			out[key] = g.Projection.Tokens.Middle
		}
		return out
	}
	for _, test := range []struct {
		by   []cost.Dimension
		want map[string]int64
	}{
		{nil, map[string]int64{"": 6 + 7 + 13}},
		{[]cost.Dimension{cost.ByAgent}, map[string]int64{"worker/": 6 + 4 + 10, "reviewer/": 3 + 3}},
		{[]cost.Dimension{cost.ByItem}, map[string]int64{"x/": 13, "y/": 13}},
		{[]cost.Dimension{cost.ByWave, cost.ByAgent, cost.ByItem}, map[string]int64{"w1/worker/x/": 10, "w1/worker/y/": 10, "w1/reviewer/x/": 3, "w1/reviewer/y/": 3}},
		{[]cost.Dimension{cost.ByAgent, cost.ByAgent, "colour"}, map[string]int64{"worker/worker//": 20, "reviewer/reviewer//": 6}},
		{[]cost.Dimension{cost.ByDay, cost.ByWave}, map[string]int64{"w1/": 26}},
	} {
		if got := middles(test.by...); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("by %v: %v, want %v", test.by, got, test.want)
		}
	}
	if p := projector.Groups(aim, cost.ByAgent)[0].Projection; p.Spent.Calls != 0 || p.Samples != 5 {
		t.Errorf("the reviewers: %+v", p)
	}
}

func TestProjectionsStayAtTheGreatest(t *testing.T) {
	c := spend("a", "done", time.Minute, 1<<40)
	c.Cost = money(math.MaxInt64)
	p := project(bookOf(c), cost.Aim{Query: cost.Query{Wave: "w1", Window: cost.Window{To: noon().AddDate(200, 0, 0)}}})
	if p.Money.Middle != math.MaxInt64 || *p.Money.PerHour != math.MaxInt64 {
		t.Errorf("got %+v", p.Money)
	}
	p = project(bookOf(c), cost.Aim{Query: cost.Query{Wave: "w1"}, Open: []string{"x", "y", "z"}})
	if p.Money.High != math.MaxInt64 {
		t.Errorf("got %+v", p.Money)
	}
}

func TestTypical(t *testing.T) {
	var stranger cost.Book
	stranger.Add(cost.Call{ID: "a", At: noon(), Attempt: "t", Backend: "b"})
	if got := stranger.Typical(cost.Query{Backend: "a name that no call has"}); got != (cost.Sample{}) {
		t.Errorf("%+v", got)
	}
	if got := new(cost.Book).Typical(cost.Query{}); got != (cost.Sample{}) {
		t.Errorf("of nothing: %+v", got)
	}
	attempt := func(n int, amounts ...int64) (calls []cost.Call) {
		for i, amount := range amounts {
			c := spend(fmt.Sprint(n, "/", i), "a", time.Duration(1000-n)*time.Minute, amount)
			c.Attempt = fmt.Sprint("t", n)
			calls = append(calls, c)
		}
		return calls
	}
	var calls []cost.Call
	calls = append(calls, attempt(0, 5000, 5000)...) // the greatest, and the oldest
	for n := 1; n <= 20; n++ {
		calls = append(calls, attempt(n, int64(n), int64(n))...)
	}
	lost := spend("lost", "a", 0, 1<<30)
	lost.Attempt = ""
	other := spend("other", "a", 0, 1<<30)
	other.Usage.Model = "another"
	book := bookOf(append(calls, lost, other)...)
	for name, book := range map[string]*cost.Book{"whole": book, "forked": func() *cost.Book {
		fork := book.Fork(7) // within an attempt
		fork.Add(append(calls, lost, other)...)
		return fork
	}(), "forked twice": func() *cost.Book {
		fork := book.Fork(7).Fork(5)
		fork.Add(append(calls, lost, other)...)
		return fork.Fork(fork.Len())
	}()} {
		got := book.Typical(cost.Query{Model: "m"})
		if got.Attempts != 21 || *got.Tokens != (cost.Size[int64]{Attempts: 21, Middle: 22, High: 40}) || *got.Money != (cost.Size[cost.Money]{Attempts: 21, Middle: 22, High: 40}) {
			t.Errorf("%s: %+v, %+v, %+v", name, got, got.Tokens, got.Money)
		}
	}
	unknown := attempt(50, 1, 2)
	unknown[0].Cost, unknown[0].Usage.Metered = nil, false
	got := bookOf(unknown...).Typical(cost.Query{})
	if got.Attempts != 1 || got.Tokens != nil || got.Money != nil {
		t.Errorf("of what is not known: %+v", got)
	}
	unknown[0].Estimate = &cost.Amount{Tokens: 1000, Money: 100}
	got = bookOf(unknown...).Typical(cost.Query{})
	if got.Tokens == nil || got.Tokens.High != 1003 || got.Money == nil || got.Money.High != 102 {
		t.Errorf("of what was estimated: %+v, %+v", got.Tokens, got.Money)
	}
}

// TestWhatIsNotKnownIsNoSample: items and calls without a price do not make others look cheap.
func TestWhatIsNotKnownIsNoSample(t *testing.T) {
	unpriced := func(c cost.Call) cost.Call {
		c.Cost = nil
		return c
	}
	old := finished("w0")
	old[0], old[4] = unpriced(old[0]), unpriced(old[4])
	aim := cost.Aim{Query: cost.Query{Wave: "w1"}, Open: []string{"a"}, Like: &cost.Query{}}
	begun := spend("begun", "b", 3*time.Hour, 1)
	p := project(bookOf(append(old, begun)...), cost.Aim{Query: aim.Query, Open: []string{"a", "b"}, Like: aim.Like})
	if p.Money == nil || p.Money.Middle != 1+30+29 || p.Tokens.Middle != 1+40+39 {
		t.Errorf("some samples: %+v, %+v", p.Money, p.Tokens)
	}
	for i := range old {
		old[i] = unpriced(old[i])
	}
	p = project(bookOf(append(old, begun)...), cost.Aim{Query: aim.Query, Open: []string{"a", "b"}, Like: aim.Like})
	if p.Money != nil || p.Tokens == nil {
		t.Errorf("all samples: %+v, %+v", p.Money, p.Tokens)
	}
	p = project(bookOf(begun, unpriced(spend("late", "b", time.Minute, 5))), cost.Aim{Query: cost.Query{Window: cost.Day(noon())}})
	if p.Money != nil || p.Tokens == nil {
		t.Errorf("all calls of late: %+v, %+v", p.Money, p.Tokens)
	}
	p = project(bookOf(append(finished("w1"), unpriced(spend("late", "done0", time.Minute, 5)))...),
		cost.Aim{Query: aim.Query, Open: []string{}, Ceiling: cost.Amount{Tokens: 1000, Money: 1000}})
	if p.Money == nil || p.Money.PerHour != nil || p.Money.ToCeilingMs != nil || p.Tokens.PerHour == nil || p.Tokens.ToCeilingMs == nil {
		t.Errorf("the rate: %+v, %+v", p.Money, p.Tokens)
	}
}
