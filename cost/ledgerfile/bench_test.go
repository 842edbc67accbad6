package ledgerfile_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

func BenchmarkReadJSONL(b *testing.B) {
	var calls []cost.Call
	for n := range 10_000 {
		c := call(fmt.Sprint("call", n), int64(n))
		c.Item, c.Attempt, c.Backend, c.Cost = "item", "attempt", "claude", money(12_345)
		calls = append(calls, c)
	}
	var text bytes.Buffer
	if err := ledgerfile.WriteJSONL(&text, each(calls...)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		var book cost.Book
		report, err := ledgerfile.ReadJSONL(bytes.NewReader(text.Bytes()), func(c cost.Call) error {
			book.Add(c)
			return nil
		})
		if err != nil || report.Rows != len(calls) {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(calls)), "ns/row")
}

func BenchmarkRecord(b *testing.B) {
	l, n := ledgerfile.New(filepath.Join(b.TempDir(), "calls.jsonl")), 0
	for b.Loop() {
		n++
		if _, err := l.Record(b.Context(), call(fmt.Sprint(n), 1)); err != nil {
			b.Fatal(err)
		}
	}
}
