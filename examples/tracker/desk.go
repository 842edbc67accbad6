package main

import (
	"errors"
	"fmt"
	"io"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/tracker"
)

// desk is what a command works on: the backlog file, and the backlog as it was when the command began.
type desk struct {
	*cli.Context // ends at a signal
	settings     aesop.Settings
	place        aesop.Place
	file         *tracker.File
	backlog      tracker.Backlog
}

// withBacklog opens and reads the backlog. lease is the command's flag, or nil.
func withBacklog(c *cli.Context, common cli.Common, lease *string, do func(*desk) error) error {
	settings, _, err := common.Load(map[string]*string{"lease": lease})
	if err != nil {
		return err
	}
	if settings.Store != "" {
		return &cli.Problem{Code: "unsupported_setting", Message: "store is set, and this version keeps backlogs in files only",
			Hint: "remove the key; nothing is changed in a place that others do not look at"}
	}
	c, release := c.UntilSignal()
	defer release()
	place, err := aesop.Locate(c, common.Repo, settings)
	if err != nil {
		return err
	}
	d := &desk{Context: c, settings: settings, place: place}
	if d.file, err = place.OpenBacklog(); err != nil {
		return cli.BeginWith("write [] into it for an empty one, or name another with --tracker", err)
	}
	if err := d.read(); err != nil {
		return err
	}
	return do(d)
}

func (d *desk) read() (err error) {
	d.backlog, err = d.file.Backlog(d)
	return err
}

// find is the item with an id, or else a slug.
func (d *desk) find(name string) (tracker.Item, error) {
	item, err := d.backlog.Find(name)
	if unknown, ok := errors.AsType[*tracker.NotFoundError](err); ok {
		hint := "tracker list shows all"
		if unknown.Near != "" {
			hint = fmt.Sprintf("did you mean %q?", unknown.Near)
		}
		return item, &cli.Problem{Code: "unknown_item", Message: fmt.Sprintf("there is no item %q", name), Hint: hint}
	}
	return item, err
}

// printNow reads the item again and says how it stands.
func (d *desk) printNow(id string) error {
	item, err := d.again(id)
	if err != nil {
		return err
	}
	d.Print(oneItem{schemaVersion, newItem(item)}, func(w io.Writer) { fmt.Fprintln(w, standing(item)) })
	return nil
}

// again is the item as it stands now.
func (d *desk) again(id string) (tracker.Item, error) {
	if err := d.read(); err != nil {
		return tracker.Item{}, err
	}
	return d.find(id)
}
