package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"aesop/examples/internal/cli"
	"aesop/tracker"
	"aesop/wave"
)

//go:embed init/aesop.json
var initConfig []byte

//go:embed init/tracker.json
var initBacklog []byte

type initCommand struct{ cli.Common }

type initDocument struct {
	SchemaVersion int      `json:"schemaVersion"`
	Written       []string `json:"written"`
	Kept          []string `json:"kept"` // were there already
}

func (cmd initCommand) Run(c *cli.Context) error {
	_, place, err := cmd.Locate(c)
	if err != nil {
		return err
	}
	document := initDocument{SchemaVersion: wave.SchemaVersion, Written: []string{}, Kept: []string{}}
	config := cmd.Config
	if config == "" {
		config = filepath.Join(place.Repo, "aesop.json")
	}
	_, backlogErr := tracker.Create(place.Backlog, initBacklog)
	for _, file := range []struct {
		path string
		err  error
	}{{config, cli.Create(config, initConfig)}, {place.Backlog, backlogErr}} {
		switch {
		case errors.Is(file.err, fs.ErrExist):
			document.Kept = append(document.Kept, file.path)
		case file.err != nil:
			return file.err
		default:
			document.Written = append(document.Written, file.path)
		}
	}
	c.Print(document, func(w io.Writer) {
		for _, path := range document.Written {
			fmt.Fprintln(w, "wrote", path)
		}
		for _, path := range document.Kept {
			fmt.Fprintln(w, "kept", path)
		}
		fmt.Fprintln(w, "next: describe your first item there and set it to todo; push the branch that work starts from to a remote;")
		fmt.Fprintln(w, "      then wave plan --driver command --agent-cmd 'my-agent'. Formats: docs/BACKLOG.md and docs/CONFIG.md of aesop")
	})
	return nil
}
