package cost_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
)

func limitNow() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// charged is a call that used tokens and cost money.
func charged(id, wave, item, model string, at time.Time, tokens int64, money cost.Money) cost.Call {
	return cost.Call{ID: id, At: at, Wave: wave, Item: item, Usage: cost.Usage{Model: model, Input: tokens, Metered: true}, Cost: &money}
}

// TestStandings: each limit counts the calls and the reservations of its scope, and no others.
func TestStandings(t *testing.T) {
	book := new(cost.Book)
	book.Add(
		charged("1", "w", "a", "m", limitNow(), 1, 10),
		charged("2", "w", "b", "n", limitNow().Add(-24*time.Hour), 2, 20),
		charged("3", "v", "a", "m-dated", limitNow().Add(-12*time.Hour), 4, 40),
		charged("4", "v", "b", "n", limitNow().Add(12*time.Hour), 8, 80), // the next day
		cost.Call{ID: "5", At: limitNow(), Wave: "w", Item: "a", Usage: cost.Usage{Model: "m"}, Estimate: &cost.Amount{Tokens: 16, Money: 160}},
		cost.Call{ID: "6", At: limitNow(), Wave: "w", Item: "a", Usage: cost.Usage{Model: "n"}})
	reserve := func(wave, item, model string, tokens int64, stale bool) cost.Reservation {
		return cost.Reservation{Subject: cost.Subject{Wave: wave, Item: item, Model: model}, Amount: cost.Amount{Tokens: tokens, Money: cost.Money(10 * tokens)}, Stale: stale}
	}
	limits := []cost.Limit{
		{Scope: cost.PerDay, Tokens: 1000, Soft: true},
		{Scope: cost.PerWave, Tokens: 1000}, {Scope: cost.PerWave, Money: 1000}, {Scope: cost.PerDay, Tokens: 1000}, {Scope: cost.PerItem, Tokens: 1000}, {Scope: cost.PerModel, Model: "m", Tokens: 1000},
	}
	judge := cost.Judge{Limits: limits, Spending: book, Now: limitNow(),
		Held: []cost.Reservation{reserve("w", "b", "n", 100, false), reserve("v", "a", "", 200, false), reserve("w", "a", "m", 400, true)},
		Same: func(model string) string { return model[:1] }}
	got := map[string][3]int64{}
	for _, s := range judge.Standings(cost.Subject{Wave: "w", Item: "a"}) {
		got[s.Limit.Name()] = [3]int64{s.Spent, s.Reserved, int64(s.Unknown)}
	}
	want := map[string][3]int64{
		"waveTokens":         {1 + 2 + 16 + 400, 100, 1},
		"waveUsd":            {10 + 20 + 160 + 4000, 1000, 1},
		"dayTokens":          {1 + 4 + 16 + 400, 300, 1},
		"soft.dayTokens":     {1 + 4 + 16 + 400, 300, 1},
		"itemTokens":         {1 + 4 + 16 + 400, 200, 1},
		"models.m.dayTokens": {1 + 4 + 16 + 400, 200, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all := judge.Standings(cost.Subject{Wave: "w", Model: "n"}); len(all) != 4 || !all[3].Limit.Soft || all[0].Limit.Soft {
		t.Errorf("a subject of another model, without an item: %v", all)
	}
}

// TestAnUnknownModelMayBeAny: what was spent on a model that nobody names counts for each, as what is reserved for one does.
func TestAnUnknownModelMayBeAny(t *testing.T) {
	book := new(cost.Book)
	book.Add(charged("1", "w", "a", "", limitNow(), 5, 0), charged("2", "w", "a", "m", limitNow(), 10, 0), charged("3", "w", "a", "n", limitNow(), 20, 0))
	judge := cost.Judge{Spending: book, Now: limitNow(), Limits: []cost.Limit{{Scope: cost.PerModel, Model: "m", Tokens: 100}}}
	for _, model := range []string{"m", ""} {
		if s := judge.Standings(cost.Subject{Model: model}); len(s) != 1 || s[0].Spent != 15 {
			t.Errorf("for %q: %v", model, s)
		}
	}
}

func TestGrant(t *testing.T) {
	book := new(cost.Book)
	book.Add(charged("1", "w", "a", "m", limitNow(), 600, 0))
	held := []cost.Reservation{{Subject: cost.Subject{Wave: "w"}, Amount: cost.Amount{Tokens: 300}}}
	for name, tt := range map[string]struct {
		limits      []cost.Limit
		most, least int64
		want        int64
		refused     bool
		waits       bool
	}{
		"nothing is limited":                {nil, 50, 0, 50, false, false},
		"it fits":                           {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, 100, 0, 100, false, false},
		"one too many, while others run":    {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, 101, 0, 0, true, true},
		"never":                             {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, 401, 0, 0, true, false},
		"not known: all that is left":       {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, 0, 70, 100, false, false},
		"not known, and more than is left":  {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, 0, 101, 0, true, true},
		"not known, and more than there is": {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, 0, 401, 0, true, false},
		"nothing is left but by waiting":    {[]cost.Limit{{Scope: cost.PerWave, Tokens: 900}}, 0, 0, 0, true, true},
		"used up":                           {[]cost.Limit{{Scope: cost.PerWave, Tokens: 600}}, 0, 0, 0, true, false},
		"soft ones do not count":            {[]cost.Limit{{Scope: cost.PerWave, Tokens: 1, Soft: true}}, 50, 0, 50, false, false},
		"the tightest counts":               {[]cost.Limit{{Scope: cost.PerDay, Tokens: 5000}, {Scope: cost.PerWave, Tokens: 1000}, {Scope: cost.PerDay, Tokens: 960}}, 0, 0, 60, false, false},
	} {
		judge := cost.Judge{Limits: tt.limits, Spending: book, Held: held, Now: limitNow()}
		got, err := judge.Grant(cost.Ask{Subject: cost.Subject{Wave: "w", Item: "b"}, Most: cost.Amount{Tokens: tt.most}, Least: cost.Amount{Tokens: tt.least}})
		refusal, refused := errors.AsType[*cost.Refusal](err)
		if got.Tokens != tt.want || refused != tt.refused || errors.Is(err, cost.ErrCeiling) != tt.refused || refused && refusal.Waits != tt.waits {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	judge := cost.Judge{Limits: []cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}, Spending: book, Held: held, Now: limitNow()}
	_, err := judge.Grant(cost.Ask{Subject: cost.Subject{Wave: "w"}, Most: cost.Amount{Tokens: 401}})
	if want := "waveTokens is 1000 tokens, 600 tokens spent, 300 tokens reserved by agents that run, and this needs 401 tokens"; err == nil || err.Error() != want {
		t.Errorf("error is %v", err)
	}
}

// TestGrantsNeverPassALimit: whatever is spent and held, and however huge, what is granted fits beside it.
func TestGrantsNeverPassALimit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	amount := func() int64 {
		if random.IntN(10) == 0 {
			return math.MaxInt64 - random.Int64N(5)
		}
		return random.Int64N(1000)
	}
	granted := 0
	for range 5000 {
		book := new(cost.Book)
		book.Add(cost.Call{ID: "1", At: limitNow(), Wave: "w", Estimate: &cost.Amount{Tokens: amount(), Money: cost.Money(amount())}})
		judge := cost.Judge{Spending: book, Now: limitNow(), Limits: []cost.Limit{{Scope: cost.PerWave, Tokens: random.Int64N(4000) + 1}, {Scope: cost.PerDay, Money: cost.Money(random.Int64N(4000) + 1)}},
			Held: []cost.Reservation{{Subject: cost.Subject{Wave: "w"}, Amount: cost.Amount{Tokens: amount(), Money: cost.Money(amount())}, Stale: random.IntN(2) == 0}}}
		ask := cost.Ask{Subject: cost.Subject{Wave: "w"}, Most: cost.Amount{Tokens: amount() * random.Int64N(2), Money: cost.Money(amount() * random.Int64N(2))}}
		got, err := judge.Grant(ask)
		if err != nil {
			continue
		}
		granted++
		judge.Held = append(judge.Held, cost.Reservation{Subject: ask.Subject, Amount: got})
		for _, s := range judge.Standings(ask.Subject) {
			if s.Spent > s.Limit.Max() || s.Reserved > s.Limit.Max()-s.Spent {
				t.Fatalf("%s, after %+v of %+v", s, got, ask)
			}
		}
		if got.Tokens <= 0 || got.Money <= 0 {
			t.Fatalf("granted %+v, which bounds nothing", got)
		}
	}
	if granted < 500 {
		t.Errorf("%d were granted", granted)
	}
}

func TestMoney(t *testing.T) {
	for text, want := range map[string]cost.Money{"0": 0, "5": 5 * cost.Dollar, "5.00": 5 * cost.Dollar, "0.000000001": 1, "00.10": cost.Dollar / 10, "9223372036.854775807": math.MaxInt64} {
		if got, err := cost.ParseMoney(text); got != want || err != nil {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "5.", ".5", "-1", "+1", "1e3", "NaN", "Inf", "1,5", "0x1", "1_0", "0.0000000001", "9223372036.854775808", " 1"} {
		if got, err := cost.ParseMoney(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
	for amount, want := range map[cost.Money]string{0: "0.00", 1: "0.000000001", 5 * cost.Dollar: "5.00", 13_300_000: "0.0133", -cost.Dollar / 4: "-0.25", math.MinInt64: "-9223372036.854775808"} {
		if got := amount.String(); got != want {
			t.Errorf("%d is %s, want %s", int64(amount), got, want)
		}
		var back cost.Money
		if data, err := amount.MarshalJSON(); err != nil || amount != math.MinInt64 && (back.UnmarshalJSON(data) != nil || back != amount) {
			t.Errorf("%s: %s, %v", want, back, err)
		}
	}
	if (cost.Amount{Tokens: math.MaxInt64, Money: 1}).Add(cost.Amount{Tokens: 1, Money: math.MaxInt64}) != (cost.Amount{Tokens: math.MaxInt64, Money: math.MaxInt64}) {
		t.Error("a sum wrapped")
	}
}

// TestAnEstimateOfOneMeasureLeavesTheOtherUnknown: dollars that were charged say nothing of tokens.
func TestAnEstimateOfOneMeasureLeavesTheOtherUnknown(t *testing.T) {
	book := new(cost.Book)
	book.Add(cost.Call{ID: "1", At: limitNow(), Estimate: &cost.Amount{Money: 5}},
		cost.Call{ID: "2", At: limitNow(), Usage: cost.Usage{Input: 3, Metered: true}, Estimate: &cost.Amount{Money: 5}},
		cost.Call{ID: "3", At: limitNow()})
	judge := cost.Judge{Spending: book, Now: limitNow(), Limits: []cost.Limit{{Scope: cost.PerDay, Tokens: 100}, {Scope: cost.PerDay, Money: 100}}}
	tokens, money := judge.Standings(cost.Subject{})[0], judge.Standings(cost.Subject{})[1]
	if tokens.Unknown != 2 || tokens.Estimated != 0 || money.Unknown != 1 || money.Estimated != 10 {
		t.Errorf("tokens %+v, money %+v", tokens, money)
	}
}
