package main

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

// TestSameFiguresEverywhere: for random calls, what summary, project and ceiling say is spent, and what alerts tell, is the same for the same
// question, in the engine's store and in a ledger file.
func TestSameFiguresEverywhere(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			for range 2 { // once more where a day ends meanwhile
				day := time.Now().UTC().Day()
				differs := compareFigures(t, seed)
				if time.Now().UTC().Day() == day {
					if differs != "" {
						t.Error(differs)
					}
					return
				}
			}
		})
	}
}

func compareFigures(t *testing.T, seed uint64) (differs string) {
	random := rand.New(rand.NewPCG(seed, 1))
	dir := place(t)
	var calls bytes.Buffer
	if err := ledgerfile.WriteJSONL(&calls, randomCalls(random)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "calls.jsonl", "%s", calls.String())
	tokens, dollars := random.IntN(2_000_000)+1, cost.Money(random.Int64N(int64(40*cost.Dollar))+1)
	write(t, dir, "aesop.json", `{"limits": {"waveTokens": %d, "waveUsd": "%s", "dayTokens": %d, "dayUsd": "%s", "unpriced": "allow", "unmetered": "allow"}}`, tokens, dollars, tokens, dollars)
	for _, ledger := range [][]string{{}, {"--ledger", "own.jsonl"}} {
		if got, err := play(t.Context(), dir, append([]string{"import", "calls.jsonl"}, ledger...)...); err != nil || got.code != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, question := range [][]string{{"--period", "wave"}, {"--period", "wave", "--wave", "w1"}, {"--period", "daily"}} {
			for _, window := range [][]string{{}, {"--window", "90"}, {"--window", "4000"}} {
				ask := append(append(append([]string{}, question...), window...), ledger...)
				if d := oneQuestion(t, dir, ask); d != "" {
					return strings.Join(ask, " ") + ": " + d
				}
			}
		}
	}
	return ""
}

// oneQuestion asks all commands the same, and says where the answers differ.
func oneQuestion(t *testing.T, dir string, ask []string) string {
	t.Helper()
	var sum struct{ Charged cost.Amount }
	document(t, &sum, dir, []int{0}, append([]string{"summary"}, ask...)...)
	var ceiling struct{ Limits []limitRow }
	document(t, &ceiling, dir, []int{0, 1}, append([]string{"ceiling", "--check", "--no-trip"}, ask...)...)
	var project struct {
		Charged cost.Amount
		Limits  []limitRow
		Alerts  []cost.AlertResult
	}
	document(t, &project, dir, []int{0}, append([]string{"project", "--alerts"}, ask...)...)
	if project.Charged != sum.Charged {
		return fmt.Sprintf("summary says %+v, project %+v", sum.Charged, project.Charged)
	}
	spent := map[string]string{"tokens": fmt.Sprint(sum.Charged.Tokens), "usd": sum.Charged.Money.String()}
	if len(ceiling.Limits) != 2 || len(project.Limits) != 2 {
		return fmt.Sprintf("%d and %d limits", len(ceiling.Limits), len(project.Limits))
	}
	for _, l := range append(ceiling.Limits, project.Limits...) {
		if l.Spent != spent[l.Unit] {
			return fmt.Sprintf("summary says %s, %s %s", spent[l.Unit], l.Name, l.Spent)
		}
	}
	for _, a := range project.Alerts {
		if a.Kind == cost.SpendAlert && a.Value != spent[string(a.Measure)] {
			return fmt.Sprintf("summary says %s, alert %s", spent[string(a.Measure)], a)
		}
	}
	return ""
}

// randomCalls are of the last days and the next hours, a few minutes off the borders of the windows above.
func randomCalls(random *rand.Rand) iter.Seq2[cost.Call, error] {
	now := time.Now().UTC()
	return func(yield func(cost.Call, error) bool) {
		for n := range 200 {
			minutes := random.IntN(6000) - 5700
			for _, border := range []int{0, -90, -4000} {
				if distance := minutes - border; distance > -5 && distance < 5 {
					minutes += 10
				}
			}
			c := cost.Call{ID: fmt.Sprint(n), At: now.Add(time.Duration(minutes) * time.Minute), Wave: fmt.Sprint("w", random.IntN(3)), Item: fmt.Sprint("i", random.IntN(4)),
				Usage: cost.Usage{Model: fmt.Sprint("m", random.IntN(3)), Input: random.Int64N(20_000), CacheRead: random.Int64N(20_000), Output: random.Int64N(9000), Metered: random.IntN(4) > 0}}
			if random.IntN(3) > 0 {
				dollars := cost.Money(random.Int64N(int64(cost.Dollar)))
				c.Cost = &dollars
			}
			if random.IntN(4) == 0 {
				c.Estimate = &cost.Amount{Tokens: random.Int64N(9000), Money: cost.Money(random.Int64N(int64(cost.Dollar)))}
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
