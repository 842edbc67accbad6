package ledgerfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"aesop/cost"
)

// column is one of a CSV file: how it is written, and how it is read. An empty cell is what is not known.
type column struct {
	name string
	get  func(cost.Call) string
	set  func(*cost.Call, string) error // of a cell that is not empty
}

func columns() []column {
	return []column{
		text("id", func(c *cost.Call) *string { return &c.ID }),
		{"at", func(c cost.Call) string { return c.At.UTC().Format(time.RFC3339Nano) }, func(c *cost.Call, cell string) (err error) {
			c.At, err = ParseTime(cell)
			return err
		}},
		text("wave", func(c *cost.Call) *string { return &c.Wave }),
		text("item", func(c *cost.Call) *string { return &c.Item }),
		text("attempt", func(c *cost.Call) *string { return &c.Attempt }),
		text("phase", func(c *cost.Call) *string { return &c.Phase }),
		text("backend", func(c *cost.Call) *string { return &c.Backend }),
		text("agent", func(c *cost.Call) *string { return &c.Agent }),
		text("session", func(c *cost.Call) *string { return &c.Session }),
		text("source", func(c *cost.Call) *string { return &c.Source }),
		text("model", func(c *cost.Call) *string { return &c.Usage.Model }),
		text("service", func(c *cost.Call) *string { return &c.Service }),
		text("verdict", func(c *cost.Call) *string { return (*string)(&c.Verdict) }),
		count("durationMs", func(c *cost.Call) *int64 { return &c.DurationMs }),
		count("input", func(c *cost.Call) *int64 { return &c.Usage.Input }),
		count("cacheRead", func(c *cost.Call) *int64 { return &c.Usage.CacheRead }),
		count("cacheWrite5m", func(c *cost.Call) *int64 { return &c.Usage.CacheWrite5m }),
		count("cacheWrite1h", func(c *cost.Call) *int64 { return &c.Usage.CacheWrite1h }),
		count("output", func(c *cost.Call) *int64 { return &c.Usage.Output }),
		count("reasoning", func(c *cost.Call) *int64 { return &c.Usage.Reasoning }),
		truth("metered", func(c *cost.Call) *bool { return &c.Usage.Metered }),
		truth("summed", func(c *cost.Call) *bool { return &c.Summed }),
		{"usd", func(c cost.Call) string {
			if c.Cost == nil {
				return ""
			}
			return c.Cost.String()
		}, func(c *cost.Call, cell string) error {
			m, err := cost.ParseMoney(cell)
			c.Cost = &m
			return err
		}},
		text("prices", func(c *cost.Call) *string { return &c.Prices }),
		{"estimateTokens", func(c cost.Call) string {
			if c.Estimate == nil {
				return ""
			}
			return strconv.FormatInt(c.Estimate.Tokens, 10)
		}, func(c *cost.Call, cell string) (err error) {
			c.Estimate = estimateOf(c)
			c.Estimate.Tokens, err = strconv.ParseInt(cell, 10, 64)
			return err
		}},
		{"estimateUsd", func(c cost.Call) string {
			if c.Estimate == nil {
				return ""
			}
			return c.Estimate.Money.String()
		}, func(c *cost.Call, cell string) (err error) {
			c.Estimate = estimateOf(c)
			c.Estimate.Money, err = cost.ParseMoney(cell)
			return err
		}},
	}
}

func estimateOf(c *cost.Call) *cost.Amount {
	if c.Estimate == nil {
		return new(cost.Amount)
	}
	return c.Estimate
}

// text is a column of names. A spreadsheet would run a cell that begins like a formula, so that such a name is written behind a ',
// and so is one that begins with a '.
func text(name string, of func(*cost.Call) *string) column {
	return column{name, func(c cost.Call) string {
		value := *of(&c)
		if value != "" && strings.ContainsRune("=+-@'", rune(value[0])) {
			return "'" + value
		}
		return value
	}, func(c *cost.Call, cell string) error {
		*of(c) = strings.TrimPrefix(cell, "'")
		return nil
	}}
}

// truth is a column of true and false.
func truth(name string, at func(*cost.Call) *bool) column {
	return column{name, func(c cost.Call) string { return strconv.FormatBool(*at(&c)) }, func(c *cost.Call, cell string) (err error) {
		*at(c), err = strconv.ParseBool(cell)
		return err
	}}
}

// count is a column of numbers; 0 is written as such only where the usage is metered, or it is not of the usage.
func count(name string, of func(*cost.Call) *int64) column {
	return column{name, func(c cost.Call) string {
		if *of(&c) == 0 && !c.Usage.Metered {
			return ""
		}
		return strconv.FormatInt(*of(&c), 10)
	}, func(c *cost.Call, cell string) (err error) {
		*of(c), err = strconv.ParseInt(cell, 10, 64)
		return err
	}}
}

// WriteCSV writes calls with a header. Nothing but header and rows is in it: no name of a call can begin another line, or a formula.
func WriteCSV(w io.Writer, calls iter.Seq2[cost.Call, error]) error {
	all := columns()
	out := csv.NewWriter(w)
	cells := make([]string, len(all))
	for n, c := range all {
		cells[n] = c.name
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	for call, err := range calls {
		if err != nil {
			return err
		}
		if err := call.Check(); err != nil {
			return fmt.Errorf("write CSV: %w", err)
		}
		for n, c := range all {
			cells[n] = c.get(call)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// ReadCSV gives the calls of r to add, one by one in their order, until add returns an error, which comes back as it is. The header says
// which columns there are: at least id and at, in any order; one that is not known is an error. A row without a line end is torn.
func ReadCSV(r io.Reader, add func(cost.Call) error) (Report, error) {
	var report Report
	var header []column
	var failed error
	err := lines(r, func(l line) bool {
		if len(bytes.TrimSpace(l.text)) == 0 && l.err == nil {
			return true
		}
		cells, err := splitCSV(l)
		if header == nil {
			header, failed = headerOf(cells, err)
			return failed == nil
		}
		if !l.ended { // its last cell may be cut within a number
			report.Torn = true
			return false
		}
		var call cost.Call
		if err == nil {
			call, err = fromCells(header, cells)
		}
		failed = report.take(l.number, call, err, add)
		return failed == nil
	})
	return report, errors.Join(failed, err)
}

// splitCSV reads a line by itself: a call has no line breaks, and a quote that is not closed must not swallow the lines behind it.
func splitCSV(l line) ([]string, error) {
	if l.err != nil {
		return nil, l.err
	}
	in := csv.NewReader(bufio.NewReader(bytes.NewReader(l.text)))
	in.FieldsPerRecord = -1
	cells, err := in.Read()
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		err = syntax.Err // without its line, which is always 1
	}
	return cells, err
}

func headerOf(cells []string, err error) ([]column, error) {
	if err != nil {
		return nil, fmt.Errorf("read the header of the CSV file: %w", err)
	}
	known := map[string]column{}
	for _, c := range columns() {
		known[c.name] = c
	}
	var header []column
	seen := map[string]bool{}
	for _, cell := range cells {
		name := strings.TrimSpace(cell)
		c, ok := known[name]
		if !ok || seen[name] {
			return nil, fmt.Errorf("read the header of the CSV file: column %.40q is not known or is there twice", name)
		}
		seen[name] = true
		header = append(header, c)
	}
	if !seen["id"] || !seen["at"] {
		return nil, errors.New("read the header of the CSV file: columns id and at must be there")
	}
	return header, nil
}

func fromCells(header []column, cells []string) (cost.Call, error) {
	var call cost.Call
	if len(cells) != len(header) {
		return call, fmt.Errorf("there are %d cells, must be %d", len(cells), len(header))
	}
	said := map[string]bool{}
	for n, cell := range cells {
		if cell == "" {
			continue
		}
		said[header[n].name] = true
		if err := header[n].set(&call, cell); err != nil {
			return call, fmt.Errorf("%s: %w", header[n].name, err)
		}
	}
	if call.Usage.Metered && (!said["input"] || !said["output"]) {
		return call, errors.New("metered is true, but input or output is missing")
	}
	return call, call.Check()
}
