package ledgerfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func money(m cost.Money) *cost.Money { return &m }

func call(id string, tokens int64) cost.Call {
	return cost.Call{ID: id, At: noon(), Wave: "w1", Usage: cost.Usage{Model: "m", Input: tokens, Metered: true}}
}

func each(calls ...cost.Call) iter.Seq2[cost.Call, error] {
	return func(yield func(cost.Call, error) bool) {
		for _, c := range calls {
			if !yield(c, nil) {
				return
			}
		}
	}
}

type reader func(io.Reader, func(cost.Call) error) (ledgerfile.Report, error)

func readAll(t *testing.T, read reader, text string) ([]cost.Call, ledgerfile.Report) {
	t.Helper()
	var calls []cost.Call
	report, err := read(strings.NewReader(text), func(c cost.Call) error {
		calls = append(calls, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Rows != len(calls) {
		t.Errorf("%d rows are reported of %d", report.Rows, len(calls))
	}
	return calls, report
}

// rich calls have all that a call can have, with names that are trouble.
func rich() []cost.Call {
	all := call(`odd, "id"`, 5)
	all.Item, all.Attempt, all.Phase, all.Backend, all.Agent, all.Session = "=1+2", "-x", "build", "claude", "'quoted", "@s"
	all.Source, all.Service, all.Verdict, all.DurationMs, all.Prices = "wave", "batch", cost.OK, 1500, "2026-10-01"
	all.Usage.CacheRead, all.Usage.CacheWrite5m, all.Usage.CacheWrite1h, all.Usage.Output, all.Usage.Reasoning = 1, 2, 3, 5, 4
	all.Summed, all.Cost, all.Estimate = true, money(math.MaxInt64), &cost.Amount{Tokens: 1, Money: 2}
	unmetered := cost.Call{ID: " spaces ", At: noon().Add(1), Wave: "a|b", Estimate: &cost.Amount{}}
	partly := call("partly", 7)
	partly.Usage.Metered, partly.Cost = false, money(0)
	return []cost.Call{all, unmetered, partly, call("é", 0)}
}

func TestRoundTrips(t *testing.T) {
	for name, format := range map[string]struct {
		write func(io.Writer, iter.Seq2[cost.Call, error]) error
		read  reader
	}{"jsonl": {ledgerfile.WriteJSONL, ledgerfile.ReadJSONL}, "csv": {ledgerfile.WriteCSV, ledgerfile.ReadCSV}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := format.write(&out, each(rich()...)); err != nil {
				t.Fatal(err)
			}
			texts := []string{out.String(), "\ufeff" + strings.ReplaceAll(out.String(), "\n", "\r\n")}
			if name == "jsonl" { // of a line of CSV nobody can tell whether it is whole
				texts = append(texts, strings.TrimRight(out.String(), "\n"))
			}
			for _, text := range texts {
				got, report := readAll(t, format.read, text)
				if !reflect.DeepEqual(got, rich()) || report.Corrupt > 0 || report.Torn {
					t.Errorf("%s\ngave %+v\n%+v\nwant %+v", text, got, report, rich())
				}
			}
			broken := errors.New("broken")
			if err := format.write(&out, func(yield func(cost.Call, error) bool) { yield(cost.Call{}, broken) }); !errors.Is(err, broken) {
				t.Errorf("calls that cannot be read: %v", err)
			}
			if err := format.write(&out, each(cost.Call{ID: "a\nb", At: noon()})); err == nil {
				t.Error("a call that is none was written")
			}
			if _, err := format.read(strings.NewReader(out.String()), func(cost.Call) error { return broken }); !errors.Is(err, broken) {
				t.Errorf("add: %v", err)
			}
			if _, err := format.read(io.MultiReader(strings.NewReader(out.String()), iotest.ErrReader(broken)), func(cost.Call) error { return nil }); !errors.Is(err, broken) {
				t.Errorf("a file that cannot be read: %v", err)
			}
		})
	}
}

// TestSpreadsheetsRunNothing: no cell of a CSV file begins like a formula.
func TestSpreadsheetsRunNothing(t *testing.T) {
	var out bytes.Buffer
	if err := ledgerfile.WriteCSV(&out, each(rich()...)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{",=", ",+", ",-", ",@", `,"=`} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%s has %s", out.String(), bad)
		}
	}
}

const whole = `{"id": "a", "at": "2026-05-01T12:00:00Z", "usage": {"input": 1, "output": 0, "metered": true}, "usd": "0.10"}`

func TestBadLinesAreCounted(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	const row = "| 2026-07-14T10:00:00Z | x | haiku | 1 | 1 | 2 | OK | build | 12 |\n"
	for name, test := range map[string]struct {
		read    reader
		text    string
		rows    int
		corrupt int
		torn    bool
		lines   []string // parts of the errors
	}{
		"jsonl": {ledgerfile.ReadJSONL, strings.Join([]string{whole, "", "{", `{"id": "b"}`, long, `{"schemaVersion": 2, "id": "c", "at": "2026-05-01T12:00:00Z"}`,
			`{"record": -1}`, "\x00\x00", whole, `[]`, ``}, "\n"), 2, 7, false, []string{
			"line 3: ", "line 4: ", "line 5: the line is longer", "line 6: schemaVersion is 2", "line 7: record is -1", "line 8: ", "line 10: "}},
		"jsonl torn":             {ledgerfile.ReadJSONL, whole + "\n" + whole[:40], 1, 0, true, nil},
		"jsonl without an end":   {ledgerfile.ReadJSONL, whole + "\n" + whole, 2, 0, false, nil},
		"jsonl of nothing":       {ledgerfile.ReadJSONL, "", 0, 0, false, nil},
		"jsonl torn record":      {ledgerfile.ReadJSONL, whole + "\n" + strings.Replace(whole, "{", `{"record": 3, `, 1) + "\n" + whole + "\n", 1, 0, true, nil},
		"jsonl record cut short": {ledgerfile.ReadJSONL, strings.Repeat(strings.Replace(whole, "{", `{"record": 2, `, 1)+"\n", 2) + whole + "\n", 2, 1, false, []string{"line 2: the record before it"}},
		"csv": {ledgerfile.ReadCSV, "at,id,input,metered,usd,output\n2026-05-01T12:00:00,a,1,true,0.1,2\n\nb\n2026-05-01T12:00:00Z,c,x,,,\n2026-05-01T12:00:00Z,\"d,1,,,\n" +
			"2026-05-01T12:00:00Z,e,-1,true,,0\n2026-05-01T12:00:00Z,f,,,1e3,\n" + long + "\n2026-05-01T12:00:00Z,g,,,,\n" +
			"2026-05-01T12:00:00Z,h,,true,,1\n2026-05-01T12:00:00Z,i,1,true,,\n", 2, 8, false,
			[]string{"line 4: there are 1 cells", "line 5: input", "line 6: ", "line 7: ", "line 8: usd", "line 9: the line is longer",
				"line 11: metered is true, but input", "line 12: metered is true, but input"}},
		"csv torn":                  {ledgerfile.ReadCSV, "id,at,usd\na,2026-05-01T12:00:00Z,0.1\nb,2026-05-01T12:00:00Z,1", 1, 0, true, nil}, // of 12.50
		"csv without an end":        {ledgerfile.ReadCSV, "id,at,usd", 0, 0, false, nil},
		"markdown torn in its wave": {ledgerfile.ReadMarkdown, row + row + "| 2026-07-14T10:00:00Z | x | haiku | 1 | 1 | 2 | OK | build | 1", 2, 0, true, nil},
		"markdown torn at a pipe":   {ledgerfile.ReadMarkdown, row + "| 2026-07-14T10:00:00Z | x | haiku | 1 | 1 | 2 | OK |", 1, 0, true, nil},
		"markdown without an end":   {ledgerfile.ReadMarkdown, row + strings.TrimSpace(row), 2, 0, false, nil},
		"jsonl without counts": {ledgerfile.ReadJSONL, strings.Replace(whole, `"input": 1, `, "", 1) + "\n" + strings.Replace(whole, `"output": 0`, `"output": null`, 1) + "\n", 0, 2, false,
			[]string{"line 1: usage: it is metered, but input or output is missing", "line 2: usage"}},
	} {
		t.Run(name, func(t *testing.T) {
			calls, report := readAll(t, test.read, test.text)
			if len(calls) != test.rows || report.Corrupt != test.corrupt || report.Torn != test.torn || len(report.Lines) != len(test.lines) {
				t.Errorf("got %d calls and %+v", len(calls), report)
			}
			for n := range min(len(report.Lines), len(test.lines)) {
				if got := report.Lines[n].Error(); !strings.HasPrefix(got, test.lines[n]) {
					t.Errorf("got %q, want %q", got, test.lines[n])
				}
			}
		})
	}
	_, report := readAll(t, ledgerfile.ReadJSONL, strings.Repeat("{\n", 1000))
	if report.Corrupt != 1000 || len(report.Lines) != 20 {
		t.Errorf("%d corrupt lines, of which %d are told", report.Corrupt, len(report.Lines))
	}
}

func TestHeadersOfCSV(t *testing.T) {
	for _, text := range []string{"id\n", "at\n", "id,at,colour\n", "id,at,id\n", "\"id\n", "a\n"} {
		if _, err := ledgerfile.ReadCSV(strings.NewReader(text), nil); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if _, report := readAll(t, ledgerfile.ReadCSV, ""); report.Rows != 0 {
		t.Error("an empty file has rows")
	}
}

const table = `# Outcomes

| Timestamp | agent_type | model | duration_sec | tokens_in | tokens_out | verdict | phase | wave |
|---|:--|---|---|---|---|---|---|---|
| 2026-07-14T10:00:00Z | builder | haiku | 1.5 | 100 | 20 | OK | build | 7 |
| 2026-07-14T10:00:00Z | builder | haiku | 1.5 | 100 | 20 | OK | build | 7 |
| 2026-07-14T12:00:00.123456+02:00 | reviewer | opus | 0 | 5 | 6 | FAILED |
|2026-07-14T10:00:00|x|haiku|3|1|2|HUNG|verify||
| not a time | x | haiku | 3 | 1 | 2 | OK | verify | |
| 2026-07-14T10:00:00Z | x | haiku | 3 | -1 | 2 | OK | verify | |
| 2026-07-14T10:00:00Z | x | haiku | NaN | 1 | 2 | OK | verify | |
| 2026-07-14T10:00:00Z | x | haiku | 1 | 1.5 | 2 | OK | verify | |
| 2026-07-14T10:00:00Z | x | haiku | 1 | 1 | 2 | MAYBE | verify | |
| 2026-07-14T10:00:00Z | x | haiku | 1 | 1 | 2 |
| 2026-07-14 10:00:00 | x | haiku | 1 | 1 | 2 | OK |
| 2026-13-14T10:00:00Z | x | haiku | 1 | 1 | 2 | OK |
some text between
| timestamp | agent_type | model | duration_sec | tokens_in | tokens_out | verdict |
|---|---|---|---|---|---|---|
| 2026-07-15T00:00:00Z | last | haiku | 1 | 1 | 2 | EMPTY | other |
`

func TestReadMarkdown(t *testing.T) {
	calls, report := readAll(t, ledgerfile.ReadMarkdown, table)
	var lines []int
	for _, l := range report.Lines {
		lines = append(lines, l.Line)
	}
	if report.Rows != 5 || report.Corrupt != 8 || !slices.Equal(lines, []int{9, 10, 11, 12, 13, 14, 15, 16}) {
		t.Errorf("got %+v", report)
	}
	first, naive := calls[0], calls[3]
	want := cost.Call{ID: first.ID, At: time.Date(2026, 7, 14, 10, 0, 0, 0, time.UTC), Wave: "7", Phase: "build", Agent: "builder", Source: "import",
		Usage: cost.Usage{Model: "haiku", Input: 100, Output: 20}, Verdict: cost.OK, DurationMs: 1500}
	if first != want {
		t.Errorf("got  %+v\nwant %+v", first, want)
	}
	if second := calls[2]; !second.At.Equal(want.At.Add(123456*time.Microsecond)) || second.Phase != "" || second.Verdict != cost.Failed {
		t.Errorf("seven columns: %+v", second)
	}
	for _, c := range calls {
		if c.At.Location() != time.UTC {
			t.Errorf("%s is in %s", c.At, c.At.Location())
		}
	}
	if !naive.At.Equal(want.At) || naive.Wave != "" {
		t.Errorf("a time without a zone: %+v", naive)
	}
	var book cost.Book
	if got := book.Add(calls...); got.Added != 5 {
		t.Errorf("two equal rows are not two calls: %+v", got)
	}
	again, _ := readAll(t, ledgerfile.ReadMarkdown, "\ufeff"+strings.ReplaceAll(strings.ReplaceAll(table, " |", "|"), "\n", "\r\n"))
	if got := book.Add(again...); got.Known != 5 {
		t.Errorf("importing twice: %+v", got)
	}
	rotated, report := readAll(t, ledgerfile.ReadMarkdown, table[strings.Index(table, "| 2026"):]) // whose header is in the archive
	if got := book.Add(rotated...); got.Known != 5 || report.Corrupt != 8 {
		t.Errorf("without a header: %+v, %+v", got, report)
	}
}

// FuzzMarkdown: whatever names calls have, the table has exactly their rows, and totals stay what they are.
func FuzzMarkdown(f *testing.F) {
	f.Add("agent", "model", "build", "7", int64(5), int64(6))
	f.Add("a|b", "m\n| 2026-07-14T10:00:00Z | x | haiku | 1 | 1 | 2 | OK |", "|---|", "\r\n", int64(0), int64(1)<<40)
	f.Add("timestamp", "\u2028|", "\u0085", "\xff", int64(1), int64(1500))
	f.Fuzz(func(t *testing.T, agent, model, phase, wave string, tokens, ms int64) {
		c := cost.Call{ID: "a", At: noon().Add(time.Duration(ms%1000) * time.Microsecond), Agent: agent, Phase: phase, Wave: wave, DurationMs: ms,
			Usage: cost.Usage{Model: model, Input: tokens, CacheRead: 1, Output: tokens}}
		for _, name := range []string{agent, model, phase, wave} {
			if len(name) > 100 {
				t.Skip("not applicable: longer than a name is")
			}
		}
		if ms < 0 || ms > 1e9 || tokens < 0 || tokens > 1<<39 {
			t.Skip("not applicable: no call")
		}
		var out bytes.Buffer
		if err := ledgerfile.WriteMarkdown(&out, each(c, c)); err != nil {
			t.Fatal(err)
		}
		calls, report := readAll(t, ledgerfile.ReadMarkdown, out.String())
		if len(calls) != 2 || report.Corrupt != 0 || calls[0].ID == calls[1].ID {
			t.Fatalf("%s\ngave %+v and %+v", out.String(), calls, report)
		}
		if got := calls[1]; !got.At.Equal(c.At) || got.DurationMs != ms || got.Usage.Tokens() != c.Usage.Tokens() || got.Usage.Output != tokens {
			t.Fatalf("%s\ngave %+v", out.String(), got)
		}
		var again bytes.Buffer
		if err := ledgerfile.WriteMarkdown(&again, each(calls...)); err != nil || again.String() != out.String() {
			t.Fatalf("written again, it is\n%s and not\n%s", again.String(), out.String())
		}
	})
}

// FuzzReaders: no file makes a reader fail or count a call that is none, and what was read can be written.
func FuzzReaders(f *testing.F) {
	for _, text := range []string{whole + "\n" + whole[:50], table, "id,at,wave\na,2026-05-01T12:00:00Z,'=x\n", `{"record": 2, ` + whole[1:] + "\n" + whole + "\n",
		"id,at\n\"a", "\ufeff\n\n|||||||\n|-|\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, read := range map[string]reader{"jsonl": ledgerfile.ReadJSONL, "csv": ledgerfile.ReadCSV, "markdown": ledgerfile.ReadMarkdown,
			"given": func(r io.Reader, add func(cost.Call) error) (ledgerfile.Report, error) {
				return ledgerfile.ReadGiven(r, complete, add)
			}} {
			var calls []cost.Call
			report, err := read(bytes.NewReader(text), func(c cost.Call) error {
				calls = append(calls, c)
				return c.Check()
			})
			if err != nil {
				if name == "csv" && report.Rows == 0 {
					continue // its header
				}
				t.Fatalf("%s: %v", name, err)
			}
			var out bytes.Buffer
			if err := errors.Join(ledgerfile.WriteJSONL(&out, each(calls...)), ledgerfile.WriteCSV(&out, each(calls...))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

func TestPrometheus(t *testing.T) {
	var book cost.Book
	unpriced := call("b", 5)
	unpriced.Usage.Model, unpriced.Usage.Metered = "odd \"\\ name", false
	priced := call("a", 7)
	priced.Cost = money(12_500_000)
	book.Add(priced, unpriced)
	var out bytes.Buffer
	if err := ledgerfile.WritePrometheus(&out, book.Groups(cost.Query{}, cost.ByModel)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# TYPE aesop_tokens_total counter\n", `aesop_calls_total{model="m"} 1` + "\n", `aesop_tokens_total{model="m",class="input"} 7` + "\n",
		`aesop_cost_usd_total{model="m"} 0.0125` + "\n", `aesop_unpriced_calls_total{model="odd \"\\ name"} 1` + "\n", `aesop_unmetered_calls_total{model="m"} 0` + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nhas no %s", out.String(), want)
		}
	}
	out.Reset()
	if err := ledgerfile.WritePrometheus(&out, book.Groups(cost.Query{})); err != nil || !strings.Contains(out.String(), "\naesop_calls_total 2\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := ledgerfile.WritePrometheus(failing{}, book.Groups(cost.Query{})); err == nil {
		t.Error("a write that failed was not told")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestLongLinesAreNotHeld reads a line of a size that must not be in memory.
func TestLongLinesAreNotHeld(t *testing.T) {
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	long := io.MultiReader(io.LimitReader(repeat{}, size), strings.NewReader("\n"+whole+"\n"))
	report, err := ledgerfile.ReadJSONL(long, func(cost.Call) error { return nil })
	runtime.ReadMemStats(&after)
	if err != nil || report.Rows != 1 || report.Corrupt != 1 {
		t.Errorf("got %+v, %v", report, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > size/4 {
		t.Errorf("%d bytes were allocated for a line of %d", got, size)
	}
}

type repeat struct{}

func (repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestReadersAgree: totals are the same in every form.
func TestReadersAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var calls []cost.Call
	for n := range 300 {
		c := call(fmt.Sprint("c", n), random.Int64N(1000))
		c.At, c.Wave, c.Usage.Metered = c.At.Add(time.Duration(random.IntN(1e6))*time.Second), fmt.Sprint(random.IntN(5)), random.IntN(3) > 0
		if random.IntN(3) > 0 {
			c.Cost = money(cost.Money(random.Int64N(1e12)))
		}
		calls = append(calls, c)
	}
	var want cost.Book
	want.Add(calls...)
	var jsonl, csv bytes.Buffer
	if err := errors.Join(ledgerfile.WriteJSONL(&jsonl, each(calls...)), ledgerfile.WriteCSV(&csv, each(calls...))); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() ([]cost.Call, ledgerfile.Report){
		"jsonl": func() ([]cost.Call, ledgerfile.Report) { return readAll(t, ledgerfile.ReadJSONL, jsonl.String()) },
		"csv":   func() ([]cost.Call, ledgerfile.Report) { return readAll(t, ledgerfile.ReadCSV, csv.String()) },
	} {
		got, _ := read()
		var book cost.Book
		book.Add(got...)
		q := cost.Query{Wave: "3", Window: cost.Window{From: noon().Add(100 * time.Hour)}}
		if !reflect.DeepEqual(book.Groups(q, cost.ByDay), want.Groups(q, cost.ByDay)) {
			t.Errorf("%s: the groups differ", name)
		}
	}
}
