package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"

	"aesop"
	"aesop/cost"
	"aesop/cost/ledgerfile"
	"aesop/cost/price"
	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/ledger"
)

const schemaVersion = 1

// located are the flags of every command.
type located struct {
	Repo   string  `help:"A folder of the repository." default:"." placeholder:"DIR"`
	State  *string `help:"The engine's own folder (default: by repository, below the user's state folder)." placeholder:"DIR"`
	Config string  `help:"The configuration, for limits and prices (default: aesop.json in the repository)." placeholder:"FILE"`
	JSON   bool    `name:"json" help:"Print one JSON document on standard output."`
}

// common are the flags of the commands that may look at a ledger file.
type common struct {
	located
	Ledger string `help:"A JSONL file that is the ledger, in place of the one in the engine's folder." placeholder:"FILE"`
}

func (f located) shared() cli.Common {
	return cli.Common{Repo: f.Repo, State: f.State, Config: f.Config, JSON: f.JSON}
}

// books is an opened ledger.
type books struct {
	settings aesop.Settings
	prices   price.Table
	place    func(context.Context) (aesop.Place, error) // only needed for what lies in the state folder
	cost.Ledger
	store statestore.Store // of the place, or nil
	own   *ledger.Ledger   // in store
	file  *ledgerfile.Ledger
	path  string // of file
	close func() error
}

// look is one view of a ledger: all that is asked of it has one time and one content.
type look struct {
	Now    time.Time
	Book   *cost.Book
	Health health
	Calls  iter.Seq2[cost.Call, error]
	Judge  func(limits []cost.Limit) (cost.Judge, error)
}

// health is what of a ledger is in no total, or in one and in doubt.
type health struct {
	Rows    int                    `json:"rows"`
	Corrupt int                    `json:"corrupt"` // rows that cannot be read
	Differ  int                    `json:"differ"`  // rows under the id of another
	Future  int                    `json:"future"`  // rows later than now; they count
	Torn    bool                   `json:"torn"`    // the file ends within a line that is being written, or was not
	Lines   []ledgerfile.LineError `json:"lines"`
}

// lines is the list of a document: never null.
func lines(all []ledgerfile.LineError) []ledgerfile.LineError {
	if all == nil {
		return []ledgerfile.LineError{}
	}
	return all
}

// unread is how many rows have an unknown part in no total.
func (h health) unread() int { return h.Corrupt + h.Differ }

// warn says on standard error what of the ledger is not counted, or is odd.
func (h health) warn(c *cli.Context) {
	for _, l := range h.Lines {
		fmt.Fprintf(c.Stderr, "ledger, %v\n", l)
	}
	if h.Corrupt > 0 {
		fmt.Fprintf(c.Stderr, "%s of the ledger cannot be read: what is not known of that is in no total\n", counted(h.Corrupt, "row"))
	}
	if h.Differ > 0 {
		fmt.Fprintf(c.Stderr, "not in any total: %s of the ledger under the id of another call\n", counted(h.Differ, "row"))
	}
	if h.Torn {
		fmt.Fprintln(c.Stderr, "the ledger ends within a line: a writer is at work, or died; that line is in no total")
	}
	if h.Future > 0 {
		fmt.Fprintf(c.Stderr, "later than now: %s; is a clock wrong?\n", counted(h.Future, "call"))
	}
}

// open opens the ledger of the flags. Only who writes makes what is missing.
func (f common) open(c *cli.Context, write bool) (*books, error) {
	settings, _, err := f.shared().Load(nil)
	if err != nil {
		return nil, err
	}
	b := &books{settings: settings, close: func() error { return nil }}
	if b.prices, err = settings.Limits.Table(); err != nil {
		return nil, err
	}
	b.place = func(ctx context.Context) (aesop.Place, error) { return aesop.Locate(ctx, f.Repo, settings) }
	if f.Ledger != "" {
		b.path, b.file = f.Ledger, ledgerfile.New(f.Ledger)
		if _, err := os.Stat(f.Ledger); !write && errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(c.Stderr, "--ledger: there is no file %s; it is taken for an empty ledger\n", f.Ledger)
		}
		b.Ledger = b.file
		return b, nil
	}
	place, err := b.place(c)
	if err != nil {
		return nil, err
	}
	if b.store, err = openStore(c, place, write); err != nil {
		return nil, unreadable(err)
	}
	b.own = ledger.New(b.store)
	b.Ledger, b.close = b.own, b.store.Close
	return b, nil
}

func openStore(ctx context.Context, place aesop.Place, write bool) (statestore.Store, error) {
	if write {
		return place.OpenStore(ctx)
	}
	return place.ReadStore(ctx)
}

// unreadable says what to do about a ledger that cannot be read.
func unreadable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		return &cli.Problem{Code: "unreadable", Message: err.Error(), Hint: "let this user read it, or name another place"}
	}
	return err
}

// with opens a ledger, and closes it when do is done or a signal came.
func (f common) with(c *cli.Context, write bool, do func(*cli.Context, *books) error) error {
	c, release := c.UntilSignal()
	defer release()
	b, err := f.open(c, write)
	if err != nil {
		return err
	}
	return errors.Join(do(c, b), b.close())
}

// look reads the ledger once.
func (b *books) look(ctx context.Context, do func(look) error) error {
	if b.file != nil {
		return unreadable(b.lookIntoFile(ctx, do))
	}
	state, err := b.own.Health(ctx)
	if err != nil {
		return unreadable(err)
	}
	return unreadable(b.store.View(ctx, func(r statestore.Reader) error {
		book, err := b.own.In(r)
		if err != nil {
			return err
		}
		return do(look{Now: r.Now(), Book: book, Calls: ledger.Calls(r), Health: health{Rows: book.Len(), Corrupt: state.Corrupt, Differ: state.Differ, Future: state.Future, Lines: lines(nil)},
			Judge: func(limits []cost.Limit) (cost.Judge, error) { return b.own.Judge(r, limits, "", b.prices.Name) }})
	}))
}

func (b *books) lookIntoFile(ctx context.Context, do func(look) error) error {
	book, err := b.file.Book(ctx)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	state, err := b.file.Health(ctx, now)
	if err != nil {
		return err
	}
	return do(look{Now: now, Book: book, Calls: b.callsOfFile(),
		Health: health{Rows: state.Rows, Corrupt: state.Corrupt, Differ: state.Differ, Future: state.Future, Torn: state.Torn, Lines: lines(state.Lines)},
		Judge: func(limits []cost.Limit) (cost.Judge, error) {
			return cost.Judge{Limits: limits, Spending: book, Now: now, Same: b.prices.Name}, nil
		}})
}

// kept yields the calls of the ledger.
func (b *books) kept(ctx context.Context) iter.Seq2[cost.Call, error] {
	if b.file != nil {
		return b.callsOfFile()
	}
	return func(yield func(cost.Call, error) bool) {
		over := false
		err := b.store.View(ctx, func(r statestore.Reader) error {
			for call, err := range ledger.Calls(r) {
				if over = !yield(call, err); over {
					return nil
				}
			}
			return nil
		})
		if err != nil && !over {
			yield(cost.Call{}, err)
		}
	}
}

// callsOfFile yields the calls of the ledger file, those of one id once.
func (b *books) callsOfFile() iter.Seq2[cost.Call, error] {
	return func(yield func(cost.Call, error) bool) {
		file, err := os.Open(b.path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(cost.Call{}, err)
			return
		}
		defer func() { _ = file.Close() }() // it was only read
		var seen cost.Book
		enough := errors.New("enough")
		_, err = ledgerfile.ReadJSONL(file, func(c cost.Call) error {
			if seen.Add(c).Added == 1 && !yield(c, nil) {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			yield(cost.Call{}, err)
		}
	}
}

// question are the flags by which a part of the ledger is asked about.
type question struct {
	Period string `help:"Only a wave (the newest, if none is named), or today in UTC." enum:"wave,daily," default:"" placeholder:"wave|daily"`
	Window *int   `help:"Only the calls of the last MIN minutes." placeholder:"MIN"`
	Wave   string `help:"Only this wave." placeholder:"WAVE"`
}

// ask is the question of the flags. names is what else is asked for. Without a name, AESOP_WAVE is the wave of --period wave.
func (q question) ask(now time.Time, names cost.Query) (cost.Question, error) {
	last := time.Duration(0)
	if q.Window != nil {
		if *q.Window < 1 || *q.Window > 100*366*24*60 {
			return cost.Question{}, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--window is %d", *q.Window), Hint: "give a number of minutes above 0"}
		}
		last = time.Duration(*q.Window) * time.Minute
	}
	names.Wave = q.Wave
	if q.Period == string(cost.WavePeriod) && names.Wave == "" {
		names.Wave = os.Getenv("AESOP_WAVE")
	}
	return cost.Question{Query: names, Period: cost.Period(q.Period), Last: last, Now: now}, nil
}

// names says whether one wave was asked for, and not only the newest found.
func (q question) names() bool {
	return q.Wave != "" || q.Period == string(cost.WavePeriod) || os.Getenv("AESOP_WAVE") != ""
}

// limited is the question about limits: it names a wave, unless there is none.
func (q question) limited(l look) (cost.Question, error) {
	named := q
	if named.Period == "" {
		named.Period = string(cost.WavePeriod)
	}
	asked, err := named.ask(l.Now, cost.Query{})
	if err != nil {
		return asked, err
	}
	selected, _ := asked.Select(l.Book)
	asked.Wave, asked.Period = selected.Wave, cost.Period(q.Period)
	return asked, nil
}

// ceilings are the limits of the configuration that a question asks about.
func (b *books) ceilings(l look, q cost.Question) ([]cost.Ceiling, error) {
	judge, err := l.Judge(b.settings.Limits.Limits)
	if err != nil {
		return nil, err
	}
	return judge.Ceilings(q, b.settings.Limits.Budget, l.Health.unread()), nil
}

// asked tells in a document what was asked, as it was understood.
type asked struct {
	Period string     `json:"period"` // wave, daily or all
	Wave   string     `json:"wave"`
	From   *time.Time `json:"from"`
	To     *time.Time `json:"to"`
}

func askedOf(q cost.Question, selected cost.Query) asked {
	out := asked{Period: string(q.Period), Wave: selected.Wave}
	if out.Period == "" {
		out.Period = "all"
	}
	if w := selected.Window; !w.From.IsZero() {
		out.From = &w.From
	}
	if w := selected.Window; !w.To.IsZero() {
		out.To = &w.To
	}
	return out
}

func (a asked) String() string {
	text := "all calls"
	switch {
	case a.Wave != "":
		text = "wave " + cli.OneLine(a.Wave)
	case a.Period == string(cost.WavePeriod):
		text = "no wave yet"
	}
	if a.From != nil && a.To != nil {
		text += fmt.Sprintf(", from %s until %s", a.From.UTC().Format(time.RFC3339), a.To.UTC().Format(time.RFC3339))
	}
	return text
}

// columns writes rows with their cells under each other. Behind the first columns, which are names, figures stand at the right.
func columns(w io.Writer, names int, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for n, cell := range row {
			if n == len(widths) {
				widths = append(widths, 0)
			}
			widths[n] = max(widths[n], cli.Columns(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for n, cell := range row {
			pad := strings.Repeat(" ", widths[n]-cli.Columns(cell))
			if n > 0 {
				line.WriteString("  ")
			}
			if n >= names && figure(cell) {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

func figure(cell string) bool {
	plain := strings.TrimPrefix(strings.TrimPrefix(cell, "-"), "$")
	return cell == "-" || plain != "" && strings.Trim(plain, "0123456789.%") == ""
}

// counted is a number of things for people.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// money is an amount for people.
func money(m cost.Money) string {
	if m < 0 {
		return "-$" + (-m).String()
	}
	return "$" + m.String()
}
