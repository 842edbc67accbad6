package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/wave"
	"aesop/wave/journal"
)

// waves are the ids of all waves of a state, oldest first.
func waves(ctx context.Context, store statestore.Store) (ids []string, err error) {
	err = store.View(ctx, func(r statestore.Reader) error {
		ids, err = journal.List(r)
		return err
	})
	return ids, err
}

// withStore opens the place's store for reading. A state that does not exist yet has no waves.
func withStore(c *cli.Context, common cli.Common, do func(*cli.Context, aesop.Place, statestore.Store) error) error {
	c, release := c.UntilSignal()
	defer release()
	_, place, err := common.Locate(c)
	if err != nil {
		return err
	}
	store, err := place.OpenStore(c)
	if err != nil {
		return err
	}
	return errors.Join(do(c, place, store), store.Close())
}

// unfinished are the waves of a place that a resume would take up.
func unfinished(c *cli.Context, common cli.Common) (ids []string, err error) {
	err = withStore(c, common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		name, err := wave.Place(place.State)
		if err != nil {
			return err
		}
		return store.View(c, func(r statestore.Reader) error {
			ids, err = journal.Open(r, name)
			return err
		})
	})
	return ids, err
}

type statusCommand struct{ cli.Common }

type statusDocument struct {
	SchemaVersion int          `json:"schemaVersion"`
	State         string       `json:"state"`
	Halted        bool         `json:"halted"`
	HaltReason    *string      `json:"haltReason"`
	Unfinished    []waveStatus `json:"unfinished"`
	Waiting       []waitingRow `json:"waiting"` // for a person's decision
	News          []owedRow    `json:"news"`    // that receivers are owed
	Waves         int          `json:"waves"`
	Last          *string      `json:"last"` // newest wave
}

type waveStatus struct {
	Wave      string            `json:"wave"`
	StartedAt time.Time         `json:"startedAt"`
	Alive     bool              `json:"alive"`   // a process runs it
	Owner     string            `json:"owner"`   // of that process
	Outcome   *journal.Outcome  `json:"outcome"` // null while it runs
	Items     map[string]string `json:"items"`   // state by id
}

type waitingRow struct {
	Wave    string    `json:"wave"`
	Item    string    `json:"item"`
	Commit  string    `json:"commit"`
	Since   time.Time `json:"since"`
	Decided string    `json:"decided"` // approve, reject or correct, where that is not carried out yet
	Note    string    `json:"note"`    // what came of the newest correction
}

// waiting is what waits for decisions.
func waiting(ctx context.Context, store statestore.Store) ([]waitingRow, error) {
	rows := []waitingRow{}
	all, err := wave.Desk{Store: store}.Pending(ctx)
	for _, p := range all {
		row := waitingRow{Wave: p.Wave, Item: p.Item, Commit: p.Commit, Since: p.Since.UTC(), Decided: p.Decided}
		if n := len(p.Corrected); n > 0 {
			row.Note = correctionCame(p.Corrected[n-1])
		}
		rows = append(rows, row)
	}
	return rows, err
}

func (cmd statusCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		document := statusDocument{SchemaVersion: wave.SchemaVersion, State: place.State, Unfinished: []waveStatus{}}
		note, err := place.Halt().Note()
		if err != nil {
			return err
		}
		if note != nil {
			document.Halted, document.HaltReason = true, &note.Reason
		}
		ids, err := waves(c, store)
		if err != nil {
			return err
		}
		if document.Waves = len(ids); len(ids) > 0 {
			document.Last = &ids[len(ids)-1]
		}
		name, err := wave.Place(place.State)
		if err != nil {
			return err
		}
		err = store.View(c, func(r statestore.Reader) error {
			open, err := journal.Open(r, name)
			if err != nil {
				return err
			}
			for _, id := range open {
				fold, err := journal.Fold(r, id)
				if err != nil {
					return err
				}
				document.Unfinished = append(document.Unfinished, statusOf(fold))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if document.Waiting, err = waiting(c, store); err != nil {
			return err
		}
		if document.News, err = owedNews(c, store); err != nil {
			return err
		}
		for n := range document.Unfinished {
			u := &document.Unfinished[n]
			if u.Owner, u.Alive, err = wave.Alive(place.State, u.Wave); err != nil {
				return err
			}
			if u.Alive {
				u.Outcome = nil
			}
		}
		c.Print(document, func(w io.Writer) { printStatus(w, document) })
		return nil
	})
}

func statusOf(fold *journal.Wave) waveStatus {
	report := wave.NewReport(fold)
	row := waveStatus{Wave: fold.ID, StartedAt: fold.StartedAt.UTC(), Outcome: &report.Outcome, Items: map[string]string{}}
	for _, i := range report.Items {
		row.Items[i.ID] = string(i.State)
	}
	return row
}

func printStatus(w io.Writer, d statusDocument) {
	if d.Halted {
		fmt.Fprintf(w, "halted: %s\n", cli.OneLine(*d.HaltReason))
	}
	for _, u := range d.Unfinished {
		if u.Alive {
			fmt.Fprintf(w, "running: %s, %s (%s)\n", u.Wave, items(len(u.Items)), cli.OneLine(u.Owner))
		} else {
			fmt.Fprintf(w, "unfinished: %s, %s; wave resume %s goes on with the driver's flags\n", u.Wave, items(len(u.Items)), u.Wave)
		}
	}
	printOwed(w, d.News)
	for _, row := range d.Waiting {
		fmt.Fprintf(w, "waits for approval: %s at %s in wave %s", cli.OneLine(row.Item), short(row.Commit), row.Wave)
		if row.Decided != "" {
			fmt.Fprintf(w, "; decided: %s", row.Decided)
		}
		if row.Note != "" {
			fmt.Fprintf(w, "; %s", cli.OneLine(row.Note))
		}
		fmt.Fprintln(w)
	}
	if len(d.Waiting) > 0 {
		fmt.Fprintln(w, "next: wave diff ITEM, then wave approve ITEM, wave reject ITEM REASON, or wave correct ITEM")
	}
	if d.Last != nil {
		fmt.Fprintf(w, "waves: %d, the newest is %s\n", d.Waves, *d.Last)
	} else {
		fmt.Fprintln(w, "no waves yet")
	}
}

type reportCommand struct {
	cli.Common
	Wave string `arg:"" optional:"" help:"The wave (default: the newest)."`
}

func (cmd reportCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		fold, err := foldOf(c, store, cmd.Wave)
		if err != nil {
			return err
		}
		report := wave.NewReport(fold)
		c.Print(report, func(w io.Writer) { printReport(w, place.State, report) })
		return nil
	})
}

// foldOf is the state of a wave, or of the newest one.
func foldOf(ctx context.Context, store statestore.Store, id string) (fold *journal.Wave, err error) {
	ids, err := waves(ctx, store)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, &cli.Problem{Code: "no_waves", Message: "there are no waves in this state yet", Hint: "wave run makes one"}
	}
	if id == "" {
		id = ids[len(ids)-1]
	}
	if !slices.Contains(ids, id) {
		return nil, &cli.Problem{Code: "unknown_wave", Message: fmt.Sprintf("there is no wave %q", id), Hint: "the newest is " + ids[len(ids)-1]}
	}
	err = store.View(ctx, func(r statestore.Reader) error {
		fold, err = journal.Fold(r, id)
		return err
	})
	return fold, err
}

type showCommand struct {
	cli.Common
	Item string `arg:"" help:"Id or slug of the item."`
	Wave string `help:"The wave (default: the newest that has the item)." placeholder:"WAVE"`
}

// showDocument is an item's row of the report of its wave.
type showDocument struct {
	SchemaVersion int    `json:"schemaVersion"`
	Wave          string `json:"wave"`
	wave.ItemReport
}

func (cmd showCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		id, item, err := wave.Archive{State: place.State, Store: store}.Item(c, cmd.Wave, cmd.Item)
		if err != nil {
			return err
		}
		c.Print(showDocument{wave.SchemaVersion, id, item}, func(w io.Writer) { printItem(w, place.State, id, item) })
		return nil
	})
}

func printItem(w io.Writer, state, id string, i wave.ItemReport) {
	fmt.Fprintf(w, "%s (%s) in wave %s: %s\n", cli.OneLine(i.ID), cli.OneLine(i.Slug), id, i.State)
	if i.Reason != "" {
		fmt.Fprintf(w, "reason: %s\n", cli.OneLine(i.Reason))
	}
	fmt.Fprintf(w, "test: %s\n", cli.OneLine(i.TestCmd))
	for n, a := range i.Attempts {
		fmt.Fprintf(w, "attempt %d (%s): %s\n", n+1, a.Attempt, a.Outcome)
		if a.Parked != nil {
			fmt.Fprintf(w, "  its folder is kept: %s/%s\n", state, *a.Parked)
		}
		if said := saidText(a.Said); said != "" {
			fmt.Fprintf(w, "  %s\n", said)
		}
		if a.Said != nil && a.Said.Report != nil {
			fmt.Fprintf(w, "  its report: %s/%s\n", state, *a.Said.Report)
		}
	}
	if len(i.Attempts) > 0 {
		fmt.Fprintf(w, "used: %s\n", usedText(i))
	}
	printPeople(w, i)
	if f := i.Failure; f != nil {
		fmt.Fprintf(w, "failed at: %s\n", f.Step)
		if f.Command != "" {
			fmt.Fprintf(w, "command: %s\n", cli.OneLine(f.Command))
		}
		if f.Exit != nil {
			fmt.Fprintf(w, "exit: %d\n", *f.Exit)
		}
		if f.Tail != "" {
			fmt.Fprintf(w, "output:\n  %s\n", indented(f.Tail))
		}
	}
	if i.Commit != nil {
		fmt.Fprintf(w, "commit: %s on %s\n", *i.Commit, *i.Branch)
	}
	fmt.Fprintf(w, "log: %s/%s\n", state, i.Log)
}

// usedText is what an item's agents used, and what that cost, as far as it is known.
func usedText(i wave.ItemReport) string {
	if i.Usage.Metered && i.Usage.Tokens() == 0 {
		return "nothing"
	}
	text := "nobody knows how many tokens"
	if i.Usage.Metered {
		text = fmt.Sprintf("%d tokens", i.Usage.Tokens())
	}
	if i.CostUSD != nil {
		return text + ", $" + *i.CostUSD
	}
	return text + "; what it cost is not known in full"
}

// printPeople says what seats said of an item, what people changed, and whether it waits for them.
func printPeople(w io.Writer, i wave.ItemReport) {
	for _, c := range i.Corrected {
		fmt.Fprintf(w, "correction%s of %s", by(cli.OneLine(c.By)), cli.OneLine(strings.Join(c.Files, ", ")))
		if c.Reason != "" {
			fmt.Fprintf(w, ": %s", cli.OneLine(c.Reason))
		}
		if c.Verified {
			fmt.Fprintf(w, "\n  its tests pass: %s\n", *c.Commit)
		} else {
			fmt.Fprintf(w, "\n  not taken: %s\n", indented(c.Detail))
		}
	}
	for _, j := range i.Judgements {
		fmt.Fprintln(w, judged(journal.Judged{Seat: j.Seat, OK: j.OK, By: cli.OneLine(j.By), Reason: j.Reason}))
	}
	if i.Waiting != nil {
		fmt.Fprintf(w, "waits for approval since %s at %s\n", i.Waiting.Since.Format(time.RFC3339), i.Waiting.Commit)
		fmt.Fprintf(w, "next: wave diff %s, then wave approve %s, wave reject %s REASON, or wave correct %s\n", cli.OneLine(i.ID), cli.OneLine(i.ID), cli.OneLine(i.ID), cli.OneLine(i.ID))
	}
}

func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(cli.Lines(text), "\n"), "\n", "\n  ")
}

type configCommand struct{ cli.Common }

type configDocument struct {
	SchemaVersion int             `json:"schemaVersion"`
	Settings      []aesop.Setting `json:"settings"`
}

func (cmd configCommand) Run(c *cli.Context) error {
	_, rows, err := cmd.Load(nil)
	if err != nil {
		return err
	}
	c.Print(configDocument{wave.SchemaVersion, rows}, func(w io.Writer) {
		for _, row := range rows {
			fmt.Fprintf(w, "%-18s %-12s ", row.Key, row.Source)
			cli.WriteJSON(w, row.Value)
		}
	})
	return nil
}

type haltCommand struct {
	Set    haltSet    `cmd:"" help:"Stop all waves of this repository, also those under way."`
	Clear  haltClear  `cmd:"" help:"Let waves go on."`
	Status haltStatus `cmd:"" help:"Say whether waves are stopped: exit 1 if they are."`
}

type haltDocument struct {
	SchemaVersion int        `json:"schemaVersion"`
	Halted        bool       `json:"halted"`
	Reason        *string    `json:"reason"`
	At            *time.Time `json:"at"`
	By            *string    `json:"by"`
}

func printHalt(c *cli.Context, note *wave.HaltNote) {
	document := haltDocument{SchemaVersion: wave.SchemaVersion, Halted: note != nil}
	if note != nil {
		document.Reason, document.At, document.By = &note.Reason, &note.At, &note.By
	}
	c.Print(document, func(w io.Writer) {
		if note == nil {
			fmt.Fprintln(w, "not halted")
			return
		}
		fmt.Fprintf(w, "halted: %s\n", cli.OneLine(note.Reason))
	})
}

type haltSet struct {
	cli.Common
	Reason string `arg:"" help:"Why; shown in reports."`
}

func (cmd haltSet) Run(c *cli.Context) error {
	if strings.TrimSpace(cmd.Reason) == "" {
		return &cli.Problem{Code: "usage", Message: "the reason is empty", Hint: "say why, for who finds it"}
	}
	_, place, err := cmd.Locate(c)
	if err != nil {
		return err
	}
	note := wave.HaltNote{Reason: cmd.Reason, At: time.Now().UTC().Truncate(time.Second), By: os.Getenv("USER")}
	halt := place.Halt()
	halt.Redactor = c.Redactor
	if err := halt.Set(note); err != nil {
		return err
	}
	printHalt(c, &note)
	return nil
}

type haltClear struct{ cli.Common }

func (cmd haltClear) Run(c *cli.Context) error {
	_, place, err := cmd.Locate(c)
	if err != nil {
		return err
	}
	if err := place.Halt().Clear(); err != nil {
		return err
	}
	printHalt(c, nil)
	return nil
}

type haltStatus struct{ cli.Common }

func (cmd haltStatus) Run(c *cli.Context) error {
	_, place, err := cmd.Locate(c)
	if err != nil {
		return err
	}
	note, err := place.Halt().Note()
	if err != nil {
		return err
	}
	printHalt(c, note)
	if note != nil {
		return &cli.Exit{Code: cli.NotGood}
	}
	return nil
}
