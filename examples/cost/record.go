package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"aesop/cost"
	"aesop/cost/ledgerfile"
	"aesop/examples/internal/cli"
)

type recordCommand struct {
	common
	ID           string        `name:"id" help:"Names the call; a ledger has each once (default: made from what the call says)." placeholder:"ID"`
	Model        string        `help:"The model that answered." placeholder:"MODEL"`
	Input        *int64        `help:"Tokens of the prompt that no cache had or took." placeholder:"N"`
	CacheRead    int64         `help:"Tokens of the prompt from a cache." placeholder:"N"`
	CacheWrite5m int64         `name:"cache-write-5m" help:"Tokens written to a cache of five minutes, or of a length that is not known." placeholder:"N"`
	CacheWrite1h int64         `name:"cache-write-1h" help:"Tokens written to a cache of an hour." placeholder:"N"`
	Output       *int64        `help:"Tokens of the answer, reasoning included." placeholder:"N"`
	Reasoning    int64         `help:"Tokens of the answer that were not shown." placeholder:"N"`
	Unmetered    bool          `help:"The counts are not known, or only the part that is given."`
	Wave         string        `help:"The wave that it belongs to." env:"AESOP_WAVE" placeholder:"WAVE"`
	Item         string        `help:"The item that it was for." placeholder:"ITEM"`
	Attempt      string        `help:"The attempt." placeholder:"ATTEMPT"`
	Phase        string        `help:"build, repair, review, verify or other, or a word of your own." placeholder:"PHASE"`
	Backend      string        `help:"The driver or program." placeholder:"NAME"`
	Agent        string        `help:"The seat or kind of agent." placeholder:"NAME"`
	Session      string        `help:"The program's session." placeholder:"ID"`
	Service      string        `help:"batch or fast; the standard one has no name." enum:"batch,fast," default:"" placeholder:"batch|fast"`
	Verdict      string        `help:"What came of it: OK, FAILED, EMPTY or HUNG." enum:"OK,FAILED,EMPTY,HUNG," default:"" placeholder:"VERDICT"`
	Duration     time.Duration `help:"How long it took, as 90s or 2m." placeholder:"D"`
	At           string        `help:"When it ended, as 2026-05-01T12:00:00Z; without a zone it is UTC (default: now)." placeholder:"TIME"`
	Stdin        bool          `help:"Read calls from standard input, a JSON object a line, with the keys of an exported ledger."`
}

func (recordCommand) Help() string {
	return `Examples:

  cost record --model claude-opus-5-5 --input 900 --cache-read 12000 --output 40 --item tax
  cost record --model my-model --unmetered --id run-17 --at 2026-05-01T12:00:00Z
  my-agent --usage | cost record --stdin

It is priced at its time. Without --id, one is made from what the call says, its time included and its price not: so the same command with the
same --at is one call, however often it is run, and without --at each run is a call of its own, since nothing tells a second call from a repeat.
Who repeats what may have failed gives --id or --at; with --id alone a repeat has the time of the first. A repeat says "known"; another call
under a known id is refused with exit 4, and the first stays.`
}

type recordDocument struct {
	SchemaVersion int `json:"schemaVersion"`
	cost.Recorded
	Outcome  string                 `json:"outcome"` // recorded, known, differs or corrupt
	IDs      []string               `json:"ids"`     // of a call by flags
	Unpriced int                    `json:"unpriced"`
	Corrupt  int                    `json:"corrupt"` // lines of standard input that are no calls
	Lines    []ledgerfile.LineError `json:"lines"`
}

func (cmd recordCommand) Run(c *cli.Context) error {
	return cmd.with(c, true, func(c *cli.Context, b *books) error {
		r := newRecording(c, b)
		var report ledgerfile.Report
		var err error
		if cmd.Stdin {
			if c.Interactive {
				return &cli.Problem{Code: "usage", Message: "standard input is a terminal", Hint: "give calls there, a JSON object a line, or flags in place of --stdin"}
			}
			report, err = ledgerfile.ReadGiven(c.Stdin, r.complete, r.add)
		} else {
			var call cost.Call
			if call, err = cmd.call(); err == nil {
				err = r.one(call)
			}
		}
		if err = errors.Join(err, r.end()); err != nil {
			return err
		}
		return r.tell(report, !cmd.Stdin)
	})
}

// call is the one of the flags.
func (cmd recordCommand) call() (c cost.Call, err error) {
	if !cmd.Unmetered && (cmd.Input == nil || cmd.Output == nil) {
		return c, &cli.Problem{Code: "usage", Message: "--input and --output are needed", Hint: "give --unmetered where they are not known; what is not known is not 0"}
	}
	count := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	for _, flag := range []struct {
		name string
		n    int64
	}{{"input", count(cmd.Input)}, {"cache-read", cmd.CacheRead}, {"cache-write-5m", cmd.CacheWrite5m}, {"cache-write-1h", cmd.CacheWrite1h},
		{"output", count(cmd.Output)}, {"reasoning", cmd.Reasoning}} {
		if flag.n < 0 {
			return c, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--%s is %d, must not be negative", flag.name, flag.n), Hint: "give a number of tokens"}
		}
	}
	c = cost.Call{ID: cmd.ID, Wave: cmd.Wave, Item: cmd.Item, Attempt: cmd.Attempt, Phase: cmd.Phase, Backend: cmd.Backend, Agent: cmd.Agent, Session: cmd.Session,
		Service: cmd.Service, Verdict: cost.Verdict(cmd.Verdict), DurationMs: cmd.Duration.Milliseconds(),
		Usage: cost.Usage{Model: cmd.Model, Input: count(cmd.Input), CacheRead: cmd.CacheRead, CacheWrite5m: cmd.CacheWrite5m, CacheWrite1h: cmd.CacheWrite1h,
			Output: count(cmd.Output), Reasoning: cmd.Reasoning, Metered: !cmd.Unmetered}}
	if cmd.At != "" {
		if c.At, err = ledgerfile.ParseTime(cmd.At); err != nil {
			return c, &cli.Problem{Code: "usage", Message: "--at: " + err.Error()}
		}
	}
	return c, nil
}

// recording is the recording of calls into a ledger.
type recording struct {
	ctx      context.Context
	c        *cli.Context
	b        *books
	to       cost.Recorder
	ids      []string
	unpriced int
	book     *cost.Book // what the ledger had when a time was first looked for, and what was given since; nil: none was
}

func newRecording(c *cli.Context, b *books) *recording {
	return &recording{ctx: c, c: c, b: b, to: cost.Recorder{Ledger: b.Ledger, Kept: b.kept}}
}

// complete fills in what a call does not say.
func (r *recording) complete(call *cost.Call) error {
	if call.Source == "" {
		call.Source = "record"
	}
	*call = call.Clean(r.c.Redactor.String)
	if call.At.IsZero() {
		var err error
		if call.At, err = r.when(call.ID); err != nil {
			return err
		}
	}
	if call.ID == "" {
		call.ID = ledgerfile.ContentID(*call)
	}
	if call.Cost == nil {
		_ = r.b.prices.Charge(call) // else it is unpriced, and counted so
	}
	return nil
}

// when is the time of a call that says none: that of the call that has its id, or else now.
func (r *recording) when(id string) (time.Time, error) {
	if r.book == nil && id != "" {
		var err error
		if r.book, err = r.b.Book(r.ctx); err != nil {
			return time.Time{}, err
		}
	}
	if r.book != nil {
		if at, known := r.book.When(id); known {
			return at, nil
		}
	}
	return time.Now().UTC(), nil
}

func (r *recording) add(call cost.Call) error {
	if r.book != nil {
		r.book.Add(call)
	}
	if call.Cost == nil {
		r.unpriced++
	}
	return r.to.Add(r.ctx, call)
}

// one records a single call.
func (r *recording) one(call cost.Call) error {
	if err := r.complete(&call); err != nil {
		return err
	}
	if err := call.Check(); err != nil {
		return &cli.Problem{Code: "usage", Message: err.Error(), Hint: "correct the flag"}
	}
	r.ids = []string{call.ID}
	if err := r.add(call); err != nil {
		return err
	}
	return r.end()
}

func (r *recording) end() error { return r.to.Flush(r.ctx) }

// tell says what became of it all.
func (r *recording) tell(report ledgerfile.Report, byFlags bool) error {
	done := r.to.Done
	document := recordDocument{SchemaVersion: schemaVersion, Recorded: done, Outcome: "recorded", IDs: r.ids, Unpriced: r.unpriced, Corrupt: report.Corrupt, Lines: lines(report.Lines)}
	if document.IDs == nil {
		document.IDs = []string{}
	}
	code := cli.OK
	switch {
	case done.Differ > 0:
		document.Outcome, code = "differs", cli.Refused
	case report.Corrupt > 0:
		document.Outcome, code = "corrupt", cli.NotGood
	case done.Added == 0 && done.Known > 0:
		document.Outcome = "known"
	}
	for _, l := range report.Lines {
		fmt.Fprintf(r.c.Stderr, "%v\n", l)
	}
	if done.Differ > 0 {
		fmt.Fprintf(r.c.Stderr, "not recorded: %s; the ledger has another under such an id and keeps that; give an id of its own\n", counted(done.Differ, "call"))
	}
	r.c.Print(document, func(w io.Writer) { document.print(w, byFlags) })
	if code != cli.OK {
		return &cli.Exit{Code: code}
	}
	return nil
}

func (d recordDocument) print(w io.Writer, byFlags bool) {
	if byFlags {
		fmt.Fprintf(w, "%s %s", d.Outcome, d.IDs[0])
		if d.Unpriced > 0 {
			fmt.Fprint(w, ", unpriced")
		}
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintf(w, "%d recorded, %d known, %d refused, %s; %d unpriced\n", d.Added, d.Known, d.Differ, counted(d.Corrupt, "corrupt line"), d.Unpriced)
}
