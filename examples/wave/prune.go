package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/wave"
)

type pruneCommand struct {
	cli.Common
	OlderThan string   `default:"14d" help:"Only waves that ended longer ago than this, such as 12h (14d); 0 for all that ended." placeholder:"D"`
	Keep      int      `help:"Keep the newest finished waves, however old." placeholder:"N"`
	DryRun    bool     `help:"Only say what would be done."`
	Discard   []string `help:"Throw away what is kept of an item that did not ship." placeholder:"WAVE/ITEM" sep:"none"`
	Abandon   []string `help:"End a wave that was left and cannot be resumed, and give its items back, uncounted." placeholder:"WAVE" sep:"none"`
}

type pruneDocument struct {
	SchemaVersion int          `json:"schemaVersion"`
	DryRun        bool         `json:"dryRun"`
	Abandoned     []string     `json:"abandoned"`
	Waves         []prunedWave `json:"waves"`
	Discarded     []keptPiece  `json:"discarded"`
	Kept          []keptPiece  `json:"kept"`
	Leftovers     []string     `json:"leftovers"` // of processes that died, below the state directory
	Survivors     []string     `json:"survivors"` // processes of finished waves, which were ended
	Files         int          `json:"files"`
	Bytes         int64        `json:"bytes"`
	Collected     bool         `json:"collected"` // git's own files were tidied up
}

type prunedWave struct {
	Wave    string    `json:"wave"`
	EndedAt time.Time `json:"endedAt"`
}

type keptPiece struct {
	Wave  string `json:"wave"`
	Item  string `json:"item"` // empty: the whole wave
	Why   string `json:"why"`
	Place string `json:"place"` // folder below the state directory, or commit
}

func pieces(kept []wave.Kept) []keptPiece {
	rows := []keptPiece{}
	for _, k := range kept {
		rows = append(rows, keptPiece(k))
	}
	return rows
}

// Run abandons what is named, then prunes.
func (cmd pruneCommand) Run(c *cli.Context) error {
	options, err := cmd.options()
	if err != nil {
		return err
	}
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		archive := wave.Archive{State: place.State, Store: store, Redactor: c.Redactor}
		document := pruneDocument{SchemaVersion: wave.SchemaVersion, DryRun: cmd.DryRun, Abandoned: append([]string{}, cmd.Abandon...), Waves: []prunedWave{}}
		if !cmd.DryRun {
			if err := abandon(c, place, archive, cmd.Abandon); err != nil {
				return err
			}
		}
		pruned, err := archive.Prune(c, options)
		if err != nil {
			return err
		}
		for _, w := range pruned.Waves {
			document.Waves = append(document.Waves, prunedWave{w.Wave, w.EndedAt.UTC()})
		}
		document.Discarded, document.Kept = pieces(pruned.Discarded), pieces(pruned.Kept)
		document.Leftovers, document.Survivors = append([]string{}, pruned.Leftovers...), append([]string{}, pruned.Survivors...)
		document.Files, document.Bytes, document.Collected = pruned.Files, pruned.Bytes, pruned.Collected
		c.Print(document, func(w io.Writer) { printPruned(w, place.State, document) })
		return nil
	})
}

func (cmd pruneCommand) options() (wave.PruneOptions, error) {
	age, err := parseAge(cmd.OlderThan)
	if err != nil {
		return wave.PruneOptions{}, err
	}
	if age == 0 {
		age = -1 // all that ended
	}
	options := wave.PruneOptions{OlderThan: age, Keep: cmd.Keep, DryRun: cmd.DryRun}
	for _, piece := range cmd.Discard {
		id, item, ok := strings.Cut(piece, "/")
		if !ok || id == "" || item == "" {
			return options, &cli.Problem{Code: "usage", Message: fmt.Sprintf("%q names no piece of work", piece), Hint: "write --discard WAVE/ITEM, as wave prune lists it"}
		}
		options.Discard = append(options.Discard, wave.Piece{Wave: id, Item: item})
	}
	return options, nil
}

// parseAge reads a duration, in which days may stand.
func parseAge(text string) (time.Duration, error) {
	bad := &cli.Problem{Code: "usage", Message: fmt.Sprintf("%q is no age", text), Hint: "write one such as 14d, 36h or 0"}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 100_000 {
			return 0, bad
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, bad
	}
	return age, nil
}

func abandon(c *cli.Context, place aesop.Place, archive wave.Archive, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	backlog, err := place.OpenBacklog()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := archive.Abandon(c, backlog, id, "by "+deskOf(c, archive.Store).By); err != nil {
			return err
		}
	}
	return nil
}

func printPruned(w io.Writer, state string, d pruneDocument) {
	verb := func(done, would string) string {
		if d.DryRun {
			return would
		}
		return done
	}
	for _, id := range d.Abandoned {
		fmt.Fprintf(w, "%s %s: its items are free again\n", verb("abandoned", "would abandon"), id)
	}
	for _, p := range d.Discarded {
		fmt.Fprintf(w, "%s %s/%s: %s %s\n", verb("discarded", "would discard"), p.Wave, cli.OneLine(p.Item), whatKept(p.Why), p.Place)
	}
	for _, p := range d.Waves {
		fmt.Fprintf(w, "%s %s, ended %s\n", verb("removed", "would remove"), p.Wave, p.EndedAt.Format(time.RFC3339))
	}
	for _, name := range d.Leftovers {
		fmt.Fprintf(w, "%s %s, left by a process that died\n", verb("removed", "would remove"), cli.OneLine(name))
	}
	for _, name := range d.Survivors {
		fmt.Fprintf(w, "ended %s, left by a finished wave\n", cli.OneLine(name))
	}
	fmt.Fprintf(w, "%s: %d files, %d bytes; waves: %d\n", verb("removed", "would be removed"), d.Files, d.Bytes, len(d.Waves))
	for _, p := range d.Kept {
		printKept(w, state, p)
	}
}

func whatKept(why string) string {
	switch why {
	case wave.KeptTree:
		return "the parked folder"
	case wave.KeptCommit:
		return "the verified commit"
	case wave.KeptBuilt:
		return "the commit that did not pass"
	}
	return why
}

// printKept says what stays, and what to do about it.
func printKept(w io.Writer, state string, p keptPiece) {
	switch p.Why {
	case wave.KeptRunning:
		fmt.Fprintf(w, "kept: %s, which is running\n", p.Wave)
	case wave.KeptUnfinished:
		fmt.Fprintf(w, "kept: %s, which is not finished; wave resume %s goes on with the driver's flags, wave prune --abandon %s gives it up\n", p.Wave, p.Wave, p.Wave)
	case wave.KeptUnknown:
		fmt.Fprintf(w, "kept: %s, which this store does not know; look at %s/waves/%s and remove it by hand if nothing else uses it\n", p.Wave, state, p.Wave)
	default:
		item := cli.OneLine(p.Item)
		fmt.Fprintf(w, "kept: %s of %s in %s, not pushed: %s; wave diff %s --wave %s shows it, wave prune --discard %s/%s throws it away\n", whatKept(p.Why), item, p.Wave, p.Place, item, p.Wave, p.Wave, item)
	}
}
