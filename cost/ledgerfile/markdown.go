package ledgerfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"aesop/cost"
)

// markdownHeader begins a table. Readers know it, and its rule, wherever they stand: older rotations left tables without them.
const markdownHeader = "| timestamp | agent_type | model | duration_sec | tokens_in | tokens_out | verdict | phase | wave |\n" +
	"|---|---|---|---|---|---|---|---|---|\n"

// Columns of the table; the last two are missing in its oldest form.
const (
	mdTime = iota
	mdAgent
	mdModel
	mdSeconds
	mdInput
	mdOutput
	mdVerdict
	mdPhase
	mdWave
	mdColumns
)

// WriteMarkdown writes the table that readers of the older outcomes ledger know. It has no columns for ids, items, caches and prices:
// tokens_in is all that was read, from caches or not. Pipes become slashes and control characters spaces, so that a name cannot begin
// another cell or row.
func WriteMarkdown(w io.Writer, calls iter.Seq2[cost.Call, error]) error {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(markdownHeader); err != nil {
		return err
	}
	for c, err := range calls {
		if err != nil {
			return err
		}
		u := c.Usage
		cells := []string{c.At.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.999999Z"), cell(c.Agent), cell(u.Model),
			strconv.FormatFloat(float64(c.DurationMs)/1000, 'f', -1, 64), strconv.FormatInt(u.Input+u.CacheRead+u.CacheWrite5m+u.CacheWrite1h, 10),
			strconv.FormatInt(u.Output, 10), cell(string(c.Verdict)), cell(c.Phase), cell(c.Wave)}
		if _, err := fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")); err != nil {
			return err
		}
	}
	return out.Flush()
}

// cell makes a name fit for a cell.
func cell(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '|':
			return '/'
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd")))
}

// ReadMarkdown gives the calls of an older outcomes ledger to add, one by one in their order, until add returns an error, which comes
// back as it is. Tables of seven, eight and nine columns are read, with their headers or without; lines that are no rows of a table are
// nothing, and rows that are no calls are counted. A row without a line end is torn, unless it has all columns and its last pipe.
//
// An id is made from what a row says, and from how many rows before it say the same, so that reading a file twice adds nothing and two
// equal rows are two calls. The tokens are not metered in full: the table has no place for caches.
func ReadMarkdown(r io.Reader, add func(cost.Call) error) (Report, error) {
	var report Report
	var failed error
	seen := map[[16]byte]int{}
	err := lines(r, func(l line) bool {
		text := strings.TrimSpace(string(l.text))
		if !strings.HasPrefix(text, "|") && l.err == nil {
			return true
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "|"), "|"), "|")
		for n := range cells {
			cells[n] = strings.TrimSpace(cells[n])
		}
		if l.err == nil && (isHeader(cells) || isRule(cells)) {
			return true
		}
		if !l.ended && (len(cells) < mdColumns || !strings.HasSuffix(text, "|")) { // columns may be missing, and the last be cut
			report.Torn = true
			return false
		}
		call, err := fromMarkdown(cells)
		if err = errors.Join(l.err, err); err == nil {
			call.ID = derive(call, seen)
		}
		failed = report.take(l.number, call, err, add)
		return failed == nil
	})
	return report, errors.Join(failed, err)
}

func isHeader(cells []string) bool {
	name := strings.ToLower(cells[mdTime])
	return name == "timestamp" || name == "iso timestamp" || name == "ts" || name == "time"
}

func isRule(cells []string) bool {
	for _, c := range cells {
		if c == "" || strings.Trim(c, ":-") != "" {
			return false
		}
	}
	return true
}

func fromMarkdown(cells []string) (c cost.Call, err error) {
	if len(cells) < mdPhase || len(cells) > mdColumns {
		return c, fmt.Errorf("there are %d columns, must be 7 to 9", len(cells))
	}
	cells = append(cells, make([]string, mdColumns-len(cells))...)
	if c.At, err = ParseTime(cells[mdTime]); err != nil {
		return c, err
	}
	if c.DurationMs, err = milliseconds(cells[mdSeconds]); err != nil {
		return c, err
	}
	for _, n := range []struct {
		to *int64
		at int
	}{{&c.Usage.Input, mdInput}, {&c.Usage.Output, mdOutput}} {
		if *n.to, err = strconv.ParseInt(cells[n.at], 10, 64); err != nil {
			return c, fmt.Errorf("%.40q is no number of tokens", cells[n.at])
		}
	}
	switch c.Verdict = cost.Verdict(cells[mdVerdict]); c.Verdict {
	case "", cost.OK, cost.Failed, cost.Empty, cost.Hung:
	default:
		return c, fmt.Errorf("verdict %.40q is not known", cells[mdVerdict])
	}
	c.Agent, c.Usage.Model, c.Phase, c.Wave, c.Source = cells[mdAgent], cells[mdModel], cells[mdPhase], cells[mdWave], "import"
	c.ID = "md/"
	return c, c.Check()
}

func milliseconds(seconds string) (int64, error) {
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1e9 {
		return 0, fmt.Errorf("%.40q is no number of seconds", seconds)
	}
	return int64(math.Round(n * 1000)), nil
}

// derive makes the id of a call that has none.
func derive(c cost.Call, seen map[[16]byte]int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%d\x00%d\x00%d\x00%s\x00%s\x00%s", c.At.UnixNano(), c.Agent, c.Usage.Model, c.DurationMs,
		c.Usage.Input, c.Usage.Output, c.Verdict, c.Phase, c.Wave))
	short := [16]byte(sum[:16])
	seen[short]++
	return fmt.Sprintf("md/%s/%d", hex.EncodeToString(short[:]), seen[short])
}
