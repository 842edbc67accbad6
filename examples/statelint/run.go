package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
)

// Exit codes.
const (
	exact   = 0
	differs = 1
	unknown = 2
)

type options struct {
	baseline    string
	json        bool
	update      bool
	allowGrowth bool
	packages    []string
	ci          bool
	stdout      io.Writer
}

// run is the program when go vet did not call it.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	o := options{stdout: stdout, ci: getenv("CI") != "" && getenv("CI") != "false"}
	switch err := o.parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exact
	case err != nil:
		return fail(o, stderr, err)
	}
	found, err := o.check(ctx)
	if err != nil {
		return fail(o, stderr, err)
	}
	found.print(o)
	if found.Outcome == outcomeExact {
		return exact
	}
	return differs
}

func (o *options) parse(args []string) error {
	flags := flag.NewFlagSet("statelint", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.baseline, "baseline", "statelint.baseline", "the `FILE` with the calls that are known; one that is missing is empty")
	flags.BoolVar(&o.json, "json", false, "print one JSON document on standard output")
	flags.BoolVar(&o.update, "update", false, "remove and lower rows whose calls are gone")
	flags.BoolVar(&o.allowGrowth, "allow-growth", false, "with --update, add and raise rows too; never where the environment has CI")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(o.stdout, "usage: statelint [flags] [packages]\n       go vet -vettool=$(which statelint) [packages]")
		fmt.Fprint(o.stdout, "\nFinds calls that touch state files outside the packages that own them, and compares them with a baseline.\n",
			"Exit codes: 0 the baseline is exact, 1 it is not, 2 nobody can tell.\n\n")
		flags.SetOutput(o.stdout)
		flags.PrintDefaults()
	}
	if err != nil {
		return err
	}
	if o.packages = flags.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	switch {
	case o.allowGrowth && !o.update:
		return errors.New("--allow-growth is for --update")
	case o.allowGrowth && o.ci:
		return errors.New("--allow-growth is not for CI: a person decides which calls are allowed")
	}
	return nil
}

// check looks at the packages, compares, and writes the baseline where that is asked for.
func (o *options) check(ctx context.Context) (document, error) {
	rows, err := readBaseline(o.baseline)
	if err != nil {
		return document{}, err
	}
	root, err := folderOf(o.baseline)
	if err != nil {
		return document{}, err
	}
	files, err := list(ctx, root, o.packages)
	if err != nil {
		return document{}, err
	}
	for row := range rows {
		if err := row.lookedAt(root, files); err != nil {
			return document{}, fmt.Errorf("%s: %w", o.baseline, err)
		}
	}
	found, err := vet(ctx, root, o.packages)
	if err != nil {
		return document{}, err
	}
	counts := count(found)
	if o.update {
		rows = updated(rows, counts, o.allowGrowth)
		if err := writeBaseline(o.baseline, rows); err != nil {
			return document{}, err
		}
	}
	return newDocument(found, compare(rows, counts)), nil
}

// folderOf is the folder of a file, absolute and without links.
func folderOf(file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(abs))
}
