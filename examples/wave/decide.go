package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/wave"
	"aesop/wave/journal"
)

// deskOf is the desk of a store, for the person who runs this program.
func deskOf(c *cli.Context, store statestore.Store) wave.Desk {
	return wave.Desk{Store: store, By: os.Getenv("USER"), Redactor: c.Redactor}
}

type decisionDocument struct {
	SchemaVersion int            `json:"schemaVersion"`
	Decisions     []decisionMade `json:"decisions"`
}

type decisionMade struct {
	Wave     string `json:"wave"`
	Item     string `json:"item"`
	Commit   string `json:"commit"`
	Decision string `json:"decision"`
}

func printDecisions(c *cli.Context, state, word, done string, made ...wave.Decided) error {
	document := decisionDocument{SchemaVersion: wave.SchemaVersion}
	for _, d := range made {
		document.Decisions = append(document.Decisions, decisionMade{d.Wave, d.Item, d.Commit, word})
	}
	c.Print(document, func(w io.Writer) {
		for _, d := range made {
			fmt.Fprintf(w, "%s %s at %s in wave %s\n", done, cli.OneLine(d.Item), short(d.Commit), d.Wave)
		}
	})
	return sayWhoCarriesOut(c, state, made...)
}

// sayWhoCarriesOut tells where no process runs the wave that was decided about.
func sayWhoCarriesOut(c *cli.Context, state string, made ...wave.Decided) error {
	told := map[string]bool{}
	for _, d := range made {
		_, alive, err := wave.Alive(state, d.Wave)
		if err != nil {
			return err
		}
		if !alive && !told[d.Wave] {
			fmt.Fprintf(c.Stderr, "wave %s is not running: wave resume %s goes on with the driver's flags\n", d.Wave, d.Wave)
		}
		told[d.Wave] = true
	}
	return nil
}

type seenFlags struct {
	Wave   string `help:"The wave (default: the one in which the item waits)." placeholder:"WAVE"`
	Commit string `help:"Refuse unless this commit, or one that begins so, is what waits." placeholder:"SHA"`
}

func (s seenFlags) of(item string) wave.Seen {
	return wave.Seen{Wave: s.Wave, Item: item, Commit: s.Commit}
}

type approveCommand struct {
	cli.Common
	seenFlags
	Items []string `arg:"" name:"item" help:"Ids or slugs of items that wait."`
}

func (cmd approveCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		var seen []wave.Seen
		for _, item := range cmd.Items {
			seen = append(seen, cmd.of(item))
		}
		made, err := deskOf(c, store).Approve(c, seen...)
		if err != nil {
			return err
		}
		return printDecisions(c, place.State, "approve", "approved", made...)
	})
}

type rejectCommand struct {
	cli.Common
	seenFlags
	Item   string `arg:"" help:"Id or slug of an item that waits."`
	Reason string `arg:"" help:"Why; shown in the report and in the backlog."`
}

func (cmd rejectCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		made, err := deskOf(c, store).Reject(c, cmd.of(cmd.Item), cmd.Reason)
		if err != nil {
			return err
		}
		return printDecisions(c, place.State, "reject", "rejected", made)
	})
}

type correctCommand struct {
	cli.Common
	seenFlags
	Item   string   `arg:"" help:"Id or slug of an item that waits."`
	From   string   `help:"A folder with corrected files, at their places in the repository; those that are as in the commit, or missing, stay." placeholder:"DIR"`
	File   []string `help:"A file of the repository, and where its new content is." placeholder:"PATH=SOURCE" sep:"none"`
	Delete []string `help:"A file of the repository to delete." placeholder:"PATH" sep:"none"`
	Reason string   `help:"Why; shown in the report." placeholder:"TEXT"`
}

func (cmd correctCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		seen := cmd.of(cmd.Item)
		correction, err := cmd.correction(c, wave.Archive{State: place.State, Store: store}, &seen)
		if err != nil {
			return err
		}
		return correct(c, place.State, deskOf(c, store), seen, correction, cmd.Reason)
	})
}

// correction reads the files. Those of a folder are compared with a commit, which is then the one that was seen.
func (cmd correctCommand) correction(ctx context.Context, archive wave.Archive, seen *wave.Seen) (wave.Correction, error) {
	var correction wave.Correction
	if cmd.From != "" {
		compared, commit, err := archive.Compare(ctx, cmd.Wave, cmd.Item, cmd.From)
		if err != nil {
			return correction, err
		}
		if !strings.HasPrefix(commit, seen.Commit) {
			return correction, &wave.RefusedError{Code: "older_commit", Message: fmt.Sprintf("%s waits with commit %s", cmd.Item, commit), Hint: "look at that one first"}
		}
		correction, seen.Commit = compared, commit
	}
	for _, pair := range cmd.File {
		path, source, ok := strings.Cut(pair, "=")
		if !ok {
			return correction, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--file %s names no source", pair), Hint: "write --file PATH=SOURCE"}
		}
		info, err := os.Stat(source)
		if err != nil {
			return correction, err
		}
		if info.Size() > wave.MaxCorrectionBytes {
			return correction, &cli.Problem{Code: "usage", Message: fmt.Sprintf("%s has %d bytes, more than %d", source, info.Size(), wave.MaxCorrectionBytes), Hint: "correct less by hand"}
		}
		data, err := os.ReadFile(source)
		if err != nil {
			return correction, err
		}
		correction.Write = append(correction.Write, wave.File{Path: filepath.ToSlash(path), Data: data, Executable: info.Mode()&0o100 != 0})
	}
	correction.Delete = append(correction.Delete, cmd.Delete...)
	return correction, nil
}

type correctionDocument struct {
	SchemaVersion int     `json:"schemaVersion"`
	Wave          string  `json:"wave"`
	Item          string  `json:"item"`
	Of            string  `json:"of"`       // the commit that was corrected
	Commit        *string `json:"commit"`   // the one that waits now; null where none was made, or that is not known yet
	Made          bool    `json:"made"`     // false: the wave does not run, and makes it when it is resumed
	Verified      bool    `json:"verified"` // its test passed, and it took the other's place
	Detail        string  `json:"detail"`
}

// correct hands a correction in and, where the wave runs, says what came of it.
func correct(c *cli.Context, state string, desk wave.Desk, seen wave.Seen, correction wave.Correction, reason string) error {
	made, err := desk.Correct(c, seen, correction, reason)
	if err != nil {
		return err
	}
	document := correctionDocument{SchemaVersion: wave.SchemaVersion, Wave: made.Wave, Item: made.Item, Of: made.Commit}
	came, err := outcome(c, state, desk, made)
	switch {
	case errors.Is(err, errNotRunning):
		c.Print(document, func(w io.Writer) {
			fmt.Fprintf(w, "to correct: %s at %s in wave %s\n", cli.OneLine(made.Item), short(made.Commit), made.Wave)
		})
		return sayWhoCarriesOut(c, state, made)
	case err != nil:
		return err
	}
	document.Made, document.Verified, document.Detail = true, came.Passed(), came.Why()
	if came.Commit != "" {
		document.Commit = &came.Commit
	}
	c.Print(document, func(w io.Writer) { printCorrection(w, document) })
	switch {
	case document.Verified:
		return nil
	case came.Refused != "":
		return &cli.Exit{Code: cli.Refused}
	}
	return &cli.Exit{Code: cli.NotGood}
}

func printCorrection(w io.Writer, d correctionDocument) {
	if d.Verified {
		fmt.Fprintf(w, "corrected: %s is at %s now, its tests pass, and it waits again\n", cli.OneLine(d.Item), short(*d.Commit))
		return
	}
	fmt.Fprintf(w, "not corrected: %s\n", indented(d.Detail))
	fmt.Fprintf(w, "%s still waits at %s; next: wave show %s\n", cli.OneLine(d.Item), short(d.Of), cli.OneLine(d.Item))
}

// errNotRunning says that nobody carries a decision out now.
var errNotRunning = errors.New("the wave is not running")

// outcome waits for what comes of a correction while a process runs the wave.
func outcome(c *cli.Context, state string, desk wave.Desk, made wave.Decided) (journal.Corrected, error) {
	ctx, cancel := context.WithCancelCause(c.Context)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if _, alive, err := wave.Alive(state, made.Wave); err != nil || !alive {
				cancel(errors.Join(errNotRunning, err))
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	came, err := desk.Outcome(ctx, made)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-done
	return came, err
}
