package cost_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/cost"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func money(m cost.Money) *cost.Money { return &m }

// randomCalls makes calls of a few names in a few days, in no order, some of them without figures, some with the greatest.
func randomCalls(random *rand.Rand, n int) []cost.Call {
	pick := func(names ...string) string { return names[random.IntN(len(names))] }
	count := func() int64 {
		if random.IntN(50) == 0 {
			return 1 << 40
		}
		return random.Int64N(1000)
	}
	calls := make([]cost.Call, n)
	for i := range calls {
		c := cost.Call{
			ID: fmt.Sprint("c", i), At: noon().Add(time.Duration(random.Int64N(int64(96*time.Hour))) - 48*time.Hour).Truncate(time.Hour / 2),
			Wave: pick("", "w1", "w2"), Item: pick("", "a", "b", "c"), Attempt: pick("", "t1", "t2", "t3"), Phase: pick("build", "review"),
			Backend: pick("claude", "codex"), Agent: pick("", "worker"), Source: "test", Verdict: cost.Verdict(pick("", "OK", "FAILED")),
			Usage: cost.Usage{Model: pick("", "m1", "m2", "m3"), Metered: random.IntN(4) > 0},
		}
		if c.Usage.Metered || random.IntN(2) == 0 {
			u := &c.Usage
			u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output = count(), count(), count(), count(), count()
			u.Reasoning = random.Int64N(u.Output + 1)
		}
		switch random.IntN(8) {
		case 0: // unpriced
		case 1:
			c.Cost = money(math.MaxInt64 / 3)
		default:
			c.Cost = money(cost.Money(random.Int64N(1000)))
		}
		if random.IntN(4) == 0 {
			c.Estimate = &cost.Amount{Tokens: random.Int64N(1000), Money: cost.Money(random.Int64N(1000))}
		}
		if random.IntN(10) == 0 {
			c.At = c.At.In(time.FixedZone("", 3600))
		}
		calls[i] = c
	}
	return calls
}

func randomQuery(random *rand.Rand) cost.Query {
	pick := func(names ...string) string { return names[random.IntN(len(names))] }
	var q cost.Query
	border := func() time.Time { return noon().Add(time.Duration(random.IntN(240)-120) * time.Hour / 2) }
	if random.IntN(2) == 0 {
		q.Window.From = border()
	}
	if random.IntN(2) == 0 {
		q.Window.To = border()
	}
	q.Wave, q.Item, q.Model = pick("", "", "w1", "w2", "none"), pick("", "", "", "a"), pick("", "", "m1", "m2")
	q.Phase, q.Backend, q.Agent, q.Verdict = pick("", "", "build"), pick("", "", "codex"), pick("", "", "worker"), cost.Verdict(pick("", "", "OK"))
	return q
}

func selected(q cost.Query, c cost.Call) bool {
	any := func(want, is string) bool { return want == "" || want == is }
	return q.Window.Contains(c.At) && any(q.Wave, c.Wave) && any(q.Item, c.Item) && any(q.Model, c.Usage.Model) && any(q.Backend, c.Backend) &&
		any(q.Agent, c.Agent) && any(q.Phase, c.Phase) && any(string(q.Verdict), string(c.Verdict))
}

// bruteForce adds up as one would by hand.
func bruteForce(calls []cost.Call, q cost.Query) cost.Total {
	up := func(a, b int64) int64 {
		if sum := a + b; sum >= 0 {
			return sum
		}
		return math.MaxInt64
	}
	t := cost.Total{Usage: cost.Usage{Metered: true}}
	for _, c := range calls {
		if !selected(q, c) {
			continue
		}
		t.Calls++
		u, v := &t.Usage, c.Usage
		u.Input, u.CacheRead, u.CacheWrite5m = up(u.Input, v.Input), up(u.CacheRead, v.CacheRead), up(u.CacheWrite5m, v.CacheWrite5m)
		u.CacheWrite1h, u.Output, u.Reasoning = up(u.CacheWrite1h, v.CacheWrite1h), up(u.Output, v.Output), up(u.Reasoning, v.Reasoning)
		if c.Cost == nil {
			t.Unpriced++
		} else {
			t.Cost = cost.Money(up(int64(t.Cost), int64(*c.Cost)))
		}
		if !v.Metered {
			t.Unmetered++
		}
		if c.Estimate != nil {
			t.EstimatedCalls++
			t.Estimated.Tokens = up(t.Estimated.Tokens, c.Estimate.Tokens)
			t.Estimated.Money = cost.Money(up(int64(t.Estimated.Money), int64(c.Estimate.Money)))
		}
		if !v.Metered && (c.Estimate == nil || c.Estimate.Tokens == 0) {
			t.UnknownTokens++
		}
		if c.Cost == nil && (c.Estimate == nil || c.Estimate.Money == 0) {
			t.UnknownMoney++
		}
	}
	return t
}

func dimensions() []cost.Dimension {
	return []cost.Dimension{cost.ByWave, cost.ByItem, cost.ByModel, cost.ByBackend, cost.ByAgent, cost.ByPhase, cost.ByVerdict, cost.ByDay}
}

// dimensionOf is what a call has in a dimension.
func dimensionOf(d cost.Dimension, c cost.Call) string {
	return map[cost.Dimension]string{cost.ByWave: c.Wave, cost.ByItem: c.Item, cost.ByModel: c.Usage.Model, cost.ByBackend: c.Backend, cost.ByAgent: c.Agent,
		cost.ByPhase: c.Phase, cost.ByVerdict: string(c.Verdict), cost.ByDay: c.At.UTC().Format(time.DateOnly)}[d]
}

// TestAllAgree: every way to ask what was spent gives what one would add up by hand.
func TestAllAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		calls := randomCalls(random, random.IntN(500))
		whole := new(cost.Book)
		whole.Add(calls...)
		cut := random.IntN(len(calls) + 1)
		first := new(cost.Book)
		first.Add(calls[:cut]...)
		forked := first.Fork(first.Len())
		first.Add(cost.Call{ID: "not in the fork", At: noon(), Usage: cost.Usage{Input: 1 << 30, Metered: true}})
		again := forked.Fork(cut / 2).Fork(cut) // a fork of a fork that has half of it
		forked.Add(calls[cut:]...)
		again.Add(calls...)
		for range 20 {
			q := randomQuery(random)
			want := bruteForce(calls, q)
			for name, book := range map[string]*cost.Book{"whole": whole, "forked": forked, "forked twice": again} {
				if got := book.Total(q); got != want {
					t.Fatalf("%s, %+v:\ngot  %+v\nwant %+v", name, q, got, want)
				}
				checkGroups(t, random, book, calls, q)
			}
			projection := cost.Projector{Book: forked, Now: noon()}.Project(cost.Aim{Query: q, Open: []string{"a"}})
			if projection.Spent != want {
				t.Fatalf("projected of %+v:\ngot  %+v\nwant %+v", q, projection.Spent, want)
			}
		}
	}
}

func checkGroups(t *testing.T, random *rand.Rand, book *cost.Book, calls []cost.Call, q cost.Query) {
	t.Helper()
	by := dimensions()
	random.Shuffle(len(by), func(i, j int) { by[i], by[j] = by[j], by[i] })
	by = by[:random.IntN(len(by)+1)]
	var sum cost.Total
	sum = sum.Add(cost.Total{})
	var keys [][]string
	for _, g := range book.Groups(q, by...) {
		var members []cost.Call
		for _, c := range calls {
			if !slices.ContainsFunc(by, func(d cost.Dimension) bool { return dimensionOf(d, c) != g.Key[d] }) {
				members = append(members, c)
			}
		}
		if want := bruteForce(members, q); g.Total != want || want.Calls == 0 {
			t.Fatalf("group %v of %+v:\ngot  %+v\nwant %+v", g.Key, q, g.Total, want)
		}
		var key []string
		for _, d := range by {
			key = append(key, g.Key[d])
		}
		keys = append(keys, key)
		sum = sum.Add(g.Total)
	}
	if want := bruteForce(calls, q); sum != want {
		t.Fatalf("groups by %v of %+v add up to\n%+v, want\n%+v", by, q, sum, want)
	}
	if !slices.IsSortedFunc(keys, func(a, b []string) int { return slices.Compare(a, b) }) {
		t.Fatalf("groups by %v are not in order: %v", by, keys)
	}
	// The projections of the groups spend the same.
	var spent cost.Total
	spent = spent.Add(cost.Total{})
	for _, g := range (cost.Projector{Book: book, Now: noon()}).Groups(cost.Aim{Query: q}, by...) {
		spent = spent.Add(g.Projection.Spent)
	}
	if spent != sum {
		t.Fatalf("projected groups by %v of %+v spend\n%+v, want\n%+v", by, q, spent, sum)
	}
}

func TestAddKeepsTheFirst(t *testing.T) {
	var book cost.Book
	c := cost.Call{ID: "a", At: noon(), Usage: cost.Usage{Input: 1, Metered: true}}
	elsewhere, other, impossible, endless := c, c, c, c
	elsewhere.At = c.At.In(time.FixedZone("", 7200))
	other.Session = "s"
	impossible.ID, impossible.Usage.Input = "b", -1
	endless.ID, endless.At = "c", time.Time{}
	got := book.Add(c, elsewhere, other, impossible, endless)
	if want := (cost.Recorded{Added: 1, Known: 1, Differ: 1, Refused: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := book.Fork(1).Add(c, other); got != (cost.Recorded{Known: 1, Differ: 1}) {
		t.Errorf("a fork: %+v", got)
	}
	if got := book.Fork(0).Add(other); got != (cost.Recorded{Added: 1}) {
		t.Errorf("an empty fork: %+v", got)
	}
	if book.Len() != 1 || book.Total(cost.Query{}).Usage.Input != 1 {
		t.Errorf("%d calls, %+v", book.Len(), book.Total(cost.Query{}))
	}
}

// TestEveryFieldOfACallTellsContentsApart: two rows of one id are the same only if all of them is.
func TestEveryFieldOfACallTellsContentsApart(t *testing.T) {
	base := cost.Call{ID: "a", At: noon(), Usage: cost.Usage{Metered: true}, Cost: money(0), Estimate: &cost.Amount{}}
	change := func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int64:
			v.SetInt(1)
		case reflect.Pointer:
			v.SetZero()
		default:
			v.Set(reflect.ValueOf(noon().Add(1)))
		}
	}
	differs := func(name string, c cost.Call) {
		var book cost.Book
		book.Add(base)
		if got := book.Add(c); got != (cost.Recorded{Differ: 1}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for i := range reflect.TypeFor[cost.Call]().NumField() {
		name := reflect.TypeFor[cost.Call]().Field(i).Name
		if name == "ID" || name == "Usage" {
			continue
		}
		c := base
		change(reflect.ValueOf(&c).Elem().Field(i))
		differs(name, c)
	}
	for i := range reflect.TypeFor[cost.Usage]().NumField() {
		c := base
		change(reflect.ValueOf(&c.Usage).Elem().Field(i))
		if name := reflect.TypeFor[cost.Usage]().Field(i).Name; name == "Reasoning" {
			c.Usage.Output = 1
			without := c
			without.Usage.Reasoning = 0
			var book cost.Book
			book.Add(without)
			if got := book.Add(c); got != (cost.Recorded{Differ: 1}) {
				t.Errorf("Reasoning: %+v", got)
			}
			continue
		}
		differs(reflect.TypeFor[cost.Usage]().Field(i).Name, c)
	}
}

// TestYearsAreThoseOfUTC: a call that ended before 1970 in UTC is refused whatever its zone calls the year.
func TestYearsAreThoseOfUTC(t *testing.T) {
	early := cost.Call{ID: "a", At: time.Date(1970, 1, 1, 0, 30, 0, 0, time.FixedZone("", 3600)), Usage: cost.Usage{Metered: true}}
	var book cost.Book
	if done := book.Add(early); done.Refused != 1 || early.Check() == nil {
		t.Errorf("got %+v, %v", done, early.Check())
	}
	early.At = early.At.Add(30 * time.Minute)
	if done := book.Add(early); done.Added != 1 || early.Check() != nil {
		t.Errorf("got %+v, %v", done, early.Check())
	}
}

func TestBordersAreHalfOpen(t *testing.T) {
	var book cost.Book
	from, to := noon(), noon().Add(time.Hour)
	for i, at := range []time.Time{from.Add(-1), from, to.Add(-1), to} {
		book.Add(cost.Call{ID: fmt.Sprint(i), At: at, Usage: cost.Usage{Input: 1 << (4 * i), Metered: true}})
	}
	for w, want := range map[cost.Window]int64{
		{From: from, To: to}: 0x0110, {From: from}: 0x1110, {To: to}: 0x0111, {}: 0x1111, {From: to, To: from}: 0, {From: to, To: to}: 0,
		{From: time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}: 0x1111,
		{From: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}:                                               0,
	} {
		if got := book.Total(cost.Query{Window: w}).Usage.Input; got != want {
			t.Errorf("%v: got %#x, want %#x", w, got, want)
		}
	}
}

func TestSumsStayAtTheGreatest(t *testing.T) {
	var book cost.Book
	for i := range 3 {
		book.Add(cost.Call{ID: fmt.Sprint(i), At: noon(), Cost: money(math.MaxInt64 / 2), Usage: cost.Usage{Metered: true},
			Estimate: &cost.Amount{Tokens: math.MaxInt64 / 2, Money: math.MaxInt64 / 2}})
	}
	total := book.Total(cost.Query{})
	if total.Cost != math.MaxInt64 || total.Estimated.Tokens != math.MaxInt64 || total.Charge().Money != math.MaxInt64 {
		t.Errorf("got %+v, charged %+v", total, total.Charge())
	}
	full := cost.Total{Usage: cost.Usage{Input: math.MaxInt64, Output: math.MaxInt64}}
	if got := full.Charge().Tokens; got != math.MaxInt64 {
		t.Errorf("charged %d tokens", got)
	}
}

// TestManyRows: rows are skipped a block at a time only where none of them is in the window, also where the clock went back.
func TestManyRows(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	calls := randomCalls(random, 20_000)
	slices.SortStableFunc(calls, func(a, b cost.Call) int { return a.At.Compare(b.At) })
	for n := 500; n < len(calls); n += 2000 {
		calls[n].At, calls[n-500].At = calls[n-500].At, calls[n].At
	}
	book := bookOf(calls...)
	fork := book.Fork(13_000)
	for range 60 {
		q := randomQuery(random)
		if got, want := book.Total(q), bruteForce(calls, q); got != want {
			t.Fatalf("%+v:\ngot  %+v\nwant %+v", q, got, want)
		}
		if got, want := fork.Total(q), bruteForce(calls[:13_000], q); got != want {
			t.Fatalf("fork, %+v:\ngot  %+v\nwant %+v", q, got, want)
		}
	}
}

// TestBordersAtTheEdgesOfBlocks: a window that begins or ends with a row that is the last or the first of many takes it, or not, alone.
func TestBordersAtTheEdgesOfBlocks(t *testing.T) {
	var calls []cost.Call
	for n := range 3 * 4096 {
		calls = append(calls, cost.Call{ID: fmt.Sprint(n), At: noon().Add(time.Duration(n)), Usage: cost.Usage{Input: 1, Metered: true}})
	}
	book := bookOf(calls...)
	for _, at := range []int{4095, 4096, 8191, 8192} {
		for _, w := range []cost.Window{{From: noon().Add(time.Duration(at))}, {To: noon().Add(time.Duration(at))},
			{From: noon().Add(time.Duration(at)), To: noon().Add(time.Duration(at + 1))}} {
			q := cost.Query{Window: w}
			if got, want := book.Total(q), bruteForce(calls, q); got != want {
				t.Errorf("at row %d, %v: %d calls, want %d", at, w, got.Calls, want.Calls)
			}
		}
	}
}

// TestForksOfForksKnowWhatTheyHave: a call that came to a Book after it was forked is not in forks of the fork.
func TestForksOfForksKnowWhatTheyHave(t *testing.T) {
	row := func(id string) cost.Call { return spend(id, "item", 0, 1) }
	root := bookOf(row("a"), row("b"), row("c"))
	middle := root.Fork(2)
	middle.Add(row("d"))
	root.Add(row("e"), row("f"))
	leaf := middle.Fork(3)
	if done := leaf.Add(row("c"), row("e"), row("f")); done.Added != 3 {
		t.Errorf("got %+v", done)
	}
	if done := leaf.Add(row("a"), row("b"), row("d")); done.Known != 3 || leaf.Len() != 6 || leaf.Total(cost.Query{}).Calls != 6 {
		t.Errorf("got %+v, and %d calls", done, leaf.Len())
	}
}

func TestMoreDimensionsThanThereAre(t *testing.T) {
	var book cost.Book
	book.Add(cost.Call{ID: "a", At: noon()})
	by := append(append(dimensions(), dimensions()...), "colour")
	if got := book.Groups(cost.Query{}, by...); len(got) != 1 || got[0].Total.Calls != 1 {
		t.Errorf("got %+v", got)
	}
	if got := book.Groups(cost.Query{}, "colour"); len(got) != 1 || got[0].Key["colour"] != "" {
		t.Errorf("got %+v", got)
	}
}

// TestConcurrentUse: whoever reads sees whole Adds.
func TestConcurrentUse(t *testing.T) {
	var book cost.Book
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 100 {
				a := cost.Call{ID: fmt.Sprint(w, "/", i, "a"), At: noon(), Wave: fmt.Sprint(i), Usage: cost.Usage{Input: 1, Metered: true}}
				b := a
				b.ID += "b"
				book.Add(a, b)
				fork := book.Fork(book.Len())
				book.Typical(cost.Query{})
				if n := book.Total(cost.Query{}).Calls; n%2 != 0 || fork.Total(cost.Query{}).Calls%2 != 0 {
					t.Errorf("half of an Add was seen: %d", n)
				}
				fork.Add(a, cost.Call{ID: "mine", At: noon()})
			}
		})
	}
	group.Wait()
	if got := book.Total(cost.Query{}).Usage.Input; got != 800 {
		t.Errorf("%d tokens", got)
	}
}

// TestARowKeepsWhatIsKnownInPart: the tokens of a call that is not metered in full are charged after they were stored, too.
func TestARowKeepsWhatIsKnownInPart(t *testing.T) {
	for _, c := range randomCalls(rand.New(rand.NewPCG(5, 6)), 200) {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back cost.Call
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		back.At = back.At.In(c.At.Location())
		if !reflect.DeepEqual(back, c) {
			t.Fatalf("%s\ngave %+v\nwant %+v", data, back, c)
		}
	}
	data, _ := json.Marshal(cost.Call{ID: "a", At: noon(), Usage: cost.Usage{Input: 7}})
	if want := `"usage":{"input":7,"cacheRead":null`; !strings.Contains(string(data), want) || strings.Count(string(data), `"usage"`) != 1 {
		t.Errorf("%s has no %s", data, want)
	}
}

// TestWhen is also of a fork: what it inherited and what it was given, and not what its base was given later.
func TestWhen(t *testing.T) {
	base := new(cost.Book)
	at := time.Date(2026, 5, 1, 12, 0, 0, 123, time.UTC)
	given := func(id string, n int) cost.Call { return cost.Call{ID: id, At: at.Add(time.Duration(n) * time.Hour)} }
	base.Add(given("a", 0), given("b", 1))
	fork := base.Fork(1)
	base.Add(given("late", 2))
	fork.Add(given("own", 3), given("a", 9))
	want := map[string]time.Time{"a": at, "own": at.Add(3 * time.Hour)}
	for _, id := range []string{"a", "b", "late", "own", "none"} {
		got, found := fork.When(id)
		if _, has := want[id]; found != has || !got.Equal(want[id]) || found && got.Location() != time.UTC {
			t.Errorf("%s: %s, %v", id, got, found)
		}
	}
}

// TestTotalOfUnpricedCalls is null in JSON, comes back, and is 0 only where there is nothing or something costs nothing.
func TestTotalOfUnpricedCalls(t *testing.T) {
	for want, total := range map[string]cost.Total{
		`"usd":null`:   {Calls: 2, Unpriced: 2, Unmetered: 1, Usage: cost.Usage{Input: 5, Metered: true}, Estimated: cost.Amount{Tokens: 1, Money: 2}, EstimatedCalls: 1},
		`"usd":"0.00"`: {Calls: 2, Unpriced: 1, Usage: cost.Usage{Metered: true}},
		`"usd":"0.25"`: {Calls: 2, Cost: cost.Dollar / 4, Unpriced: 1, Usage: cost.Usage{Metered: true}},
		`"calls":0`:    {Usage: cost.Usage{Metered: true}},
	} {
		text, err := json.Marshal(total)
		if err != nil || !strings.Contains(string(text), want) || total.Calls == 0 && !strings.Contains(string(text), `"usd":"0.00"`) {
			t.Errorf("%s is not in %s, %v", want, text, err)
		}
		var back cost.Total
		if err := json.Unmarshal(text, &back); err != nil || back != total {
			t.Errorf("%+v became %+v, %v", total, back, err)
		}
	}
}
