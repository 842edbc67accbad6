package main

import (
	"fmt"
	"io"
	"strings"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/wave"
)

type diffCommand struct {
	cli.Common
	Item string `arg:"" help:"Id or slug of the item."`
	Wave string `help:"The wave (default: the newest that has the item)." placeholder:"WAVE"`
}

type diffDocument struct {
	SchemaVersion int      `json:"schemaVersion"`
	Wave          string   `json:"wave"`
	Item          string   `json:"item"`
	Base          string   `json:"base"`
	Commit        *string  `json:"commit"` // null: what is shown is a parked tree
	Parked        *string  `json:"parked"` // its folder below the state directory
	Left          []string `json:"left"`   // of a parked tree, what could be no part of a commit
	Diff          string   `json:"diff"`
}

func (cmd diffCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) error {
		diff, err := wave.Archive{State: place.State, Store: store}.Diff(c, cmd.Wave, cmd.Item)
		if err != nil {
			return err
		}
		document := diffDocument{SchemaVersion: wave.SchemaVersion, Wave: diff.Wave, Item: diff.Item, Base: diff.Base, Left: append([]string{}, diff.Left...), Diff: diff.Text}
		if diff.Commit != "" {
			document.Commit = &diff.Commit
		} else {
			document.Parked = &diff.Parked
			fmt.Fprintf(c.Stderr, "no commit was made of it: this is the agent's parked folder, %s/%s\n", place.State, diff.Parked)
			for _, path := range diff.Left {
				fmt.Fprintf(c.Stderr, "not shown: %s\n", path)
			}
		}
		print := c.Print
		if diff.Scanned {
			document.Diff, print = c.WithoutCredentials(diff.Text), c.PrintAsIs
		}
		print(document, func(w io.Writer) { fmt.Fprint(w, document.Diff) })
		return nil
	})
}

type logsCommand struct {
	cli.Common
	Item   string `arg:"" help:"Id or slug of the item."`
	Wave   string `help:"The wave (default: the newest that has the item)." placeholder:"WAVE"`
	Follow bool   `help:"Go on until the item ends, or its wave stops."`
}

type logsDocument struct {
	SchemaVersion int    `json:"schemaVersion"`
	Wave          string `json:"wave"`
	Item          string `json:"item"`
	Log           string `json:"log"` // its file, below the state directory
	Text          string `json:"text"`
}

func (cmd logsCommand) Run(c *cli.Context) error {
	return withStore(c, cmd.Common, func(c *cli.Context, place aesop.Place, store statestore.Store) (err error) {
		archive := wave.Archive{State: place.State, Store: store}
		if !c.JSON {
			_, err = archive.Log(c, cmd.Wave, cmd.Item, cmd.Follow, c.Follow())
			return err
		}
		var text strings.Builder
		log, err := archive.Log(c, cmd.Wave, cmd.Item, cmd.Follow, &text)
		if err != nil {
			return err
		}
		c.Print(logsDocument{wave.SchemaVersion, log.Wave, log.Item, log.Path, text.String()}, nil)
		return nil
	})
}
