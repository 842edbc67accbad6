package ledgerfile_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

func complete(c *cost.Call) error {
	if c.At.IsZero() {
		c.At = noon()
	}
	if c.ID == "" {
		c.ID = ledgerfile.ContentID(*c)
	}
	return nil
}

func readGiven(t *testing.T, text string) ([]cost.Call, ledgerfile.Report) {
	t.Helper()
	return readAll(t, func(r io.Reader, add func(cost.Call) error) (ledgerfile.Report, error) {
		return ledgerfile.ReadGiven(r, complete, add)
	}, text)
}

func TestReadGiven(t *testing.T) {
	calls, report := readGiven(t, `{"usage": {"model": "m", "input": 1, "output": 2, "metered": true}}

{"id": "x", "at": "2026-05-01T14:00:00+02:00", "usage": {"input": 7}}`)
	if report.Rows != 2 || report.Corrupt != 0 || len(calls) != 2 {
		t.Fatalf("%+v, %+v", report, calls)
	}
	if c := calls[0]; c.ID == "" || !c.At.Equal(noon()) || c.Usage != (cost.Usage{Model: "m", Input: 1, Output: 2, Metered: true}) {
		t.Errorf("%+v", c)
	}
	if c := calls[1]; c.ID != "x" || !c.At.Equal(noon()) || c.Usage != (cost.Usage{Input: 7}) {
		t.Errorf("%+v", c)
	}
	for line, says := range map[string]string{
		`{"usage": {"input": 1, "metered": true}}`:  "usage.output is missing",
		`{"usage": {"output": 1, "metered": true}}`: "usage.input or",
		`{"usage": {"inputs": 1}}`:                  `no such key "inputs"; did you mean "input"?`,
		`{"wafe": "w"}`:                             `no such key "wafe"; did you mean "wave"?`,
		`{"at": "0001-01-01T00:00:00Z"}`:            "is no time of a call",
		`{"at": 5}`:                                 "at is a number, must be a string",
		`{"usage": {"input": 1e30}}`:                "usage.input is 1e30, must be a whole number",
		`{"usage": {"input": 1.5}}`:                 "usage.input is 1.5, must be a whole number",
		`{"usage": {"metered": "yes"}}`:             "usage.metered is a string, must be true or false",
		`{"estimate": {"tokens": true}}`:            "estimate.tokens is true or false, must be a whole number",
		`{"wave": {}}`:                              "wave is an object, must be a string",
		`{"usage": []}`:                             "usage is an array, must be an object",
		`[]`:                                        "it is an array, must be an object",
		`{"usd": 5}`:                                `a decimal in a string, such as "0.25", and not 5`,
		`{"zzzzzz": 5}`:                             `no such key "zzzzzz"; cost export`,
		`x`:                                         "it is no JSON from character 1 on",
		`{"id"`:                                     "it is no whole JSON object",
		`{} {}`:                                     "more than one value",
		`{"schemaVersion": 2}`:                      "use a newer one",
		`{"usd": "-1"}`:                             "usd is -1.00",
		strings.Repeat("x", 2<<20):                  "longer than a mebibyte",
	} {
		_, report := readGiven(t, "\n"+line+"\n")
		if report.Corrupt != 1 || report.Rows != 0 || report.Lines[0].Line != 2 || !strings.Contains(report.Lines[0].Text, says) {
			t.Errorf("%.50s: %+v", line, report)
		}
	}
	full := errors.New("full")
	if _, err := ledgerfile.ReadGiven(strings.NewReader("{}\n{}\n"), complete, func(cost.Call) error { return full }); !errors.Is(err, full) {
		t.Errorf("a failure became %v", err)
	}
}

// TestGivenIsWhatIsExported: every key of a line that this package writes is one that may be given.
func TestGivenIsWhatIsExported(t *testing.T) {
	var text bytes.Buffer
	if err := ledgerfile.WriteJSONL(&text, each(rich()...)); err != nil {
		t.Fatal(err)
	}
	calls, report := readGiven(t, text.String())
	if report.Corrupt > 0 {
		t.Fatalf("%+v", report)
	}
	for n, c := range rich() {
		var book cost.Book
		book.Add(c)
		if got := book.Add(calls[n]); got.Known != 1 {
			t.Errorf("%+v became %+v", c, calls[n])
		}
	}
}

// TestErrorsOfLinesAreInWords: also where a ledger is read that others wrote, nothing is said in the words of a Go program.
func TestErrorsOfLinesAreInWords(t *testing.T) {
	for line, says := range map[string]string{
		`{"at": 5}`:                          "at must be a time in a string",
		`{"at": "noon"}`:                     `at is "noon", which is no time`,
		`{"usage": {"input": "x"}}`:          "usage.input is a string, must be a whole number",
		`{"estimate": {"tokens": "x"}}`:      "estimate.tokens is a string, must be a whole number",
		`{"record": "x"}`:                    "record is a string, must be a whole number",
		`{"usage": {"metered": "yes"}}`:      "usage.metered is a string, must be true or false",
		`{"usd": true}`:                      "an amount of money is a decimal in a string",
		`[]`:                                 "it is an array, must be an object",
		`{"id"`:                              "it is no JSON from character",
		`{"usage": {"input": 1, "model": 2}`: "it is no JSON from character",
	} {
		_, report := readAll(t, ledgerfile.ReadJSONL, line+"\n")
		if report.Corrupt != 1 || !strings.Contains(report.Lines[0].Text, says) {
			t.Errorf("%s: %+v", line, report)
		}
	}
}

// TestContentID: the same again has the same id, and so has it at another price; anything else has another.
func TestContentID(t *testing.T) {
	c := call("", 7)
	same := c
	same.ID, same.Cost, same.Prices, same.Estimate = "other", money(5), "2026-01-01", &cost.Amount{Tokens: 1}
	same.At = c.At.In(noon().Add(1).Location())
	if ledgerfile.ContentID(c) != ledgerfile.ContentID(same) {
		t.Error("the same call has two ids")
	}
	for name, change := range map[string]func(*cost.Call){"time": func(c *cost.Call) { c.At = c.At.Add(1) }, "item": func(c *cost.Call) { c.Item = "x" },
		"counts": func(c *cost.Call) { c.Usage.Reasoning++ }, "metered": func(c *cost.Call) { c.Usage.Metered = false }, "service": func(c *cost.Call) { c.Service = "batch" }} {
		other := c
		change(&other)
		if ledgerfile.ContentID(c) == ledgerfile.ContentID(other) {
			t.Errorf("another %s is the same call", name)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, format := range []ledgerfile.Format{ledgerfile.JSONL, ledgerfile.CSV, ledgerfile.Markdown} {
		var text bytes.Buffer
		if err := ledgerfile.Write(format, &text, each(call("a", 1), call("b", 2))); err != nil {
			t.Fatal(err)
		}
		found, r := ledgerfile.Detect("plain", bytes.NewReader(text.Bytes()))
		n := 0
		report, err := ledgerfile.Read(found, r, func(cost.Call) error { n++; return nil })
		if found != format || err != nil || report.Rows != 2 || n != 2 {
			t.Errorf("%s was taken for %s: %+v, %v", format, found, report, err)
		}
	}
	for name, want := range map[string]ledgerfile.Format{"a.JSONL": ledgerfile.JSONL, "a.ndjson": ledgerfile.JSONL, "a.csv": ledgerfile.CSV, "A.md": ledgerfile.Markdown} {
		if got, _ := ledgerfile.Detect(name, strings.NewReader("?")); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	for text, want := range map[string]ledgerfile.Format{"": ledgerfile.JSONL, "\ufeff\n {": ledgerfile.JSONL, "# Outcomes": ledgerfile.Markdown, "id,at": ledgerfile.CSV} {
		if got, _ := ledgerfile.Detect("", strings.NewReader(text)); got != want {
			t.Errorf("%q is %s", text, got)
		}
	}
	if _, err := ledgerfile.Read("yaml", nil, nil); err == nil {
		t.Error("there is no such format to read")
	}
	if err := ledgerfile.Write("yaml", nil, nil); err == nil {
		t.Error("there is no such format to write")
	}
}
