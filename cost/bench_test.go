package cost_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"aesop/cost"
)

// million makes rows as a year of waves writes them: 40 items a wave, 25 calls each, of three models.
func million(yield func(cost.Call)) {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1_000_000 {
		wave, item := i/1000, i%40
		price := cost.Money(random.Int64N(100_000_000))
		c := cost.Call{
			ID: fmt.Sprintf("call/%d", i), At: start.Add(time.Duration(i) * 30 * time.Second),
			Wave: fmt.Sprintf("wave-%d", wave), Item: fmt.Sprintf("item-%d", item), Attempt: fmt.Sprintf("%012x", wave*40+item),
			Backend: "claude", Agent: "worker", Phase: "build", Verdict: cost.OK,
			Usage: cost.Usage{Model: fmt.Sprintf("model-%d", i%3), Input: random.Int64N(2000), CacheRead: random.Int64N(100_000),
				CacheWrite5m: random.Int64N(5000), Output: random.Int64N(3000), Metered: true},
			Cost: &price,
		}
		yield(c)
	}
}

func bookOfAMillion(b *testing.B) *cost.Book {
	if testing.Short() {
		b.Skip("a million rows")
	}
	book := new(cost.Book)
	million(func(c cost.Call) { book.Add(c) })
	return book
}

// BenchmarkAdd makes the book, and tells how much memory a row takes.
func BenchmarkAdd(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		book := bookOfAMillion(b)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(book.Len()), "B/row")
	}
}

// BenchmarkMillion asks what a panel asks; the floor is a plain loop over as many rows of the same figures.
func BenchmarkMillion(b *testing.B) {
	book := bookOfAMillion(b)
	end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(1_000_000 * 30 * time.Second)
	projector := cost.Projector{Book: book, Now: end.Add(-time.Hour)}
	cut := cost.Query{Window: cost.Window{From: end.AddDate(0, -6, 0).Add(time.Second), To: end.Add(-time.Minute)}}
	day := cost.Aim{Query: cost.Query{Window: cost.Day(projector.Now)}, Ceiling: cost.Amount{Tokens: 1 << 40}}
	work := cost.Aim{Query: cost.Query{Wave: "wave-999"}, Open: []string{"item-1", "item-2"}, Like: &cost.Query{Backend: "claude"}}
	b.Run("floor", func(b *testing.B) {
		rows := make([][7]int64, book.Len())
		for i := range rows {
			rows[i] = [7]int64{int64(i)}
		}
		for b.Loop() {
			var sum [7]int64
			for i := range rows {
				for n, v := range rows[i] {
					sum[n] += v
				}
			}
			runtime.KeepAlive(sum)
		}
	})
	for _, test := range []struct {
		name string
		ask  func()
	}{
		{"panel", func() {
			book.Total(cut)
			book.Groups(cut, cost.ByModel)
			projector.Project(day)
		}},
		{"total", func() { book.Total(cost.Query{}) }},
		{"total of a window", func() { book.Total(cut) }},
		{"total of a wave", func() { book.Total(cost.Query{Wave: "wave-500"}) }},
		{"by model", func() { book.Groups(cut, cost.ByModel) }},
		{"by wave and day", func() { book.Groups(cost.Query{}, cost.ByWave, cost.ByDay) }},
		{"projection by rate", func() { projector.Project(day) }},
		{"projection by work", func() { projector.Project(work) }},
		{"typical attempt", func() { book.Typical(cost.Query{Backend: "claude", Model: "model-1"}) }},
		{"row by row", func() { book.Fork(book.Len() - 1).Total(cost.Query{}) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				test.ask()
			}
		})
	}
}
