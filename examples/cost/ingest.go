package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"aesop/cost/transcript"
	"aesop/examples/internal/cli"
	"aesop/statestore/ledger"
)

type ingestCommand struct {
	located
	Ledger string   `hidden:""` // to say why there is none
	Claude []string `help:"Folder of Claude Code, with projects in it (default: where it keeps them)." placeholder:"DIR"`
	Codex  []string `help:"Folder of Codex, with sessions in it (default: where it keeps them)." placeholder:"DIR"`
}

func (ingestCommand) Help() string {
	return `Examples:

  cost ingest
  cost ingest --claude ~/.claude --codex /mnt/other/.codex

It reads the sessions that the programs keep on disk, of all folders and not only of this repository, and goes on where it ended the last time.
Sessions of agents that waves ran are left out: the ledger has what they used. Where one of --claude and --codex is given, only what is given is
read. Lines that cannot be counted are told, and make the exit code 1.`
}

type ingestDocument struct {
	SchemaVersion int `json:"schemaVersion"`
	ledger.Ingested
}

func (cmd ingestCommand) Run(c *cli.Context) error {
	if cmd.Ledger != "" {
		return &cli.Problem{Code: "usage", Message: "ingest has no --ledger", Hint: "how far sessions were read is kept beside the calls, in the engine's folder; cost export writes them to a file"}
	}
	for _, folder := range slices.Concat(cmd.Claude, cmd.Codex) {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return &cli.Problem{Code: "missing", Message: fmt.Sprintf("--claude, --codex: there is no folder %s that can be read", folder), Hint: "name the folder that the program keeps its own files in"}
		}
	}
	return common{located: cmd.located}.with(c, true, func(c *cli.Context, b *books) error {
		done, err := b.own.Ingest(c, ledger.Ingest{Transcripts: cmd.sessions(c), Prices: b.prices, Clean: c.Redactor.String})
		if c.Screen != nil {
			c.Screen.Draw(nil)
		}
		if errors.Is(err, ledger.ErrBusy) {
			return &cli.Exit{Code: cli.Refused, Err: &cli.Problem{Code: "conflict", Message: err.Error(), Hint: "wait for it, then run cost ingest again; nothing is lost"}}
		}
		if err != nil {
			return err
		}
		for _, p := range done.List {
			fmt.Fprintln(c.Stderr, p)
		}
		if done.List == nil {
			done.List = []transcript.Problem{}
		}
		c.Print(ingestDocument{schemaVersion, done}, func(w io.Writer) { printIngested(w, done) })
		if corrupt(done) > 0 {
			return &cli.Exit{Code: cli.NotGood}
		}
		return nil
	})
}

func (cmd ingestCommand) sessions(c *cli.Context) transcript.Config {
	config := transcript.Find(os.Getenv)
	if len(cmd.Claude)+len(cmd.Codex) > 0 {
		config = transcript.Config{Claude: cmd.Claude, Codex: cmd.Codex}
	}
	if c.Screen == nil {
		return config
	}
	var last time.Time
	config.Progress = func(p transcript.Progress) {
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			c.Screen.Draw([]string{fmt.Sprintf("reading: %d of %d files, %d of %d MB", p.Files, p.AllFiles, p.Bytes>>20, p.AllBytes>>20)})
		}
	}
	return config
}

// corrupt counts what is in no sum, or at a time that had to be guessed.
func corrupt(done ledger.Ingested) int {
	n := done.Refused
	for _, kind := range []transcript.Kind{transcript.Corrupt, transcript.TooLong, transcript.Invalid, transcript.Future, transcript.NoTime, transcript.Unreadable} {
		n += done.Problems[kind]
	}
	return n
}

func printIngested(w io.Writer, done ledger.Ingested) {
	fmt.Fprintf(w, "%d of %d files had something new\n", done.Read, done.Files)
	fmt.Fprintf(w, "%s recorded, %d unpriced; %d known; %d left out, of sessions that waves recorded; %d may still grow\n",
		counted(done.Added, "call"), done.Unpriced, done.Known, done.OfWaves, done.Pending)
	if done.Left > 0 {
		fmt.Fprintf(w, "%s left for the next time: agents of a wave that has not ended may be at work there\n", counted(done.Left, "file"))
	}
	if done.Differ > 0 || done.Refused > 0 {
		fmt.Fprintf(w, "in the ledger otherwise, and left as it is there: %s; %d could not be calls\n", counted(done.Differ, "call"), done.Refused)
	}
	for _, kind := range slices.Sorted(maps.Keys(done.Problems)) {
		fmt.Fprintf(w, "%s: %d\n", kind, done.Problems[kind])
	}
}
