package ledgerfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

// A table of an older ledger is brought into a file; doing so again adds nothing.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	ledger := ledgerfile.New(filepath.Join(dir, "calls.jsonl"))
	const old = `
| timestamp | agent_type | model | duration_sec | tokens_in | tokens_out | verdict |
|---|---|---|---|---|---|---|
| 2026-05-01T10:00:00 | builder | haiku | 12 | 900 | 100 | OK |
| yesterday | builder | haiku | 12 | 900 | 100 | OK |
`
	for range 2 {
		var calls []cost.Call
		report, err := ledgerfile.ReadMarkdown(strings.NewReader(old), func(c cost.Call) error {
			calls = append(calls, c)
			return nil
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		done, err := ledger.Record(ctx, calls...)
		fmt.Println(done.Added, "added,", done.Known, "known,", report.Corrupt, "corrupt:", report.Lines[0], err)
	}
	book, err := ledger.Book(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	day := cost.Day(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(book.Total(cost.Query{Window: day}).Charge().Tokens, "tokens")
	// Output:
	// 1 added, 0 known, 1 corrupt: line 5: "yesterday" is no time such as 2026-05-01T12:00:00Z <nil>
	// 0 added, 1 known, 1 corrupt: line 5: "yesterday" is no time such as 2026-05-01T12:00:00Z <nil>
	// 1000 tokens
}
