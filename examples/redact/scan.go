package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"aesop/examples/internal/cli"
	"aesop/redact/scan"
	"aesop/wave"
)

type scanCommand struct {
	Staged  stagedCommand  `cmd:"" help:"What the next commit adds, from the index."`
	Range   rangeCommand   `cmd:"" help:"What the commits of a range add."`
	Push    pushCommand    `cmd:"" help:"What a push adds to a remote, in a pre-push hook."`
	History historyCommand `cmd:"" help:"Everything that any ref reaches."`
	Paths   pathsCommand   `cmd:"" help:"Files as they are on disk."`
	Approve approveCommand `cmd:"" help:"Accept, on this machine, what a rule finds in one content of one file."`
}

// place are the flags of every command that looks into a repository. The repository's own aesop.json has no say: a branch could name a
// folder of its own for approvals there.
type place struct {
	Repo      string  `help:"A folder of the repository." default:"." placeholder:"DIR"`
	State     *string `env:"AESOP_STATE" help:"The engine's own folder, which has the approvals (default: by repository, below the user's state folder)." placeholder:"DIR"`
	Protected string  `help:"Remote-tracking branch whose rules and exemptions hold (default: origin's HEAD, main or master)." placeholder:"REF"`
	BuiltIn   bool    `help:"For a repository without a remote: the built-in rules, and those of what is scanned; no exemption or approval holds."`
	JSON      bool    `name:"json" xor:"format" help:"Print one JSON document on standard output."`
}

// output are the flags of commands that print findings.
type output struct {
	place
	SARIF bool `name:"sarif" xor:"format" help:"Print a SARIF 2.1.0 document on standard output."`
}

const exits = `

Exit 0 if nothing is fatal, 1 for findings, 2 if it could not be evaluated.`

// scanner opens the place. c ends at a signal.
func (p place) scanner(c *cli.Context) (*scan.Scanner, error) {
	state, err := p.state(c)
	if err != nil {
		return nil, err
	}
	config := scan.Config{Dir: p.Repo, Protected: p.Protected, BuiltIn: p.BuiltIn, State: state, Progress: progress(c)}
	config.Index = os.Getenv("GIT_INDEX_FILE") // a commit of some files only has its hook look at an index of its own
	if p.Repo == "." {
		config.Told = os.Getenv("GIT_DIR")
	}
	return scan.New(config)
}

// state is the folder with approvals, or empty where there can be none: outside of a repository, and without a home.
func (p place) state(ctx context.Context) (string, error) {
	state, err := stateFolder(ctx, p.Repo, p.State)
	if setup, ok := errors.AsType[*wave.SetupError](err); ok && (setup.Code == "no_state" || setup.Code == "not_a_repository") {
		return "", nil
	}
	return state, err
}

// progress draws on a terminal how far a scan has come.
func progress(c *cli.Context) func(scan.Progress) {
	if c.Screen == nil {
		return nil
	}
	var last time.Time
	return func(p scan.Progress) {
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			c.Screen.Draw([]string{fmt.Sprintf("scanning: %d of %d commits, %d blobs", p.Commits, p.OfCommits, p.Blobs)})
		}
	}
}

// run scans, and prints what is found.
func (o output) run(c *cli.Context, do func(context.Context, *scan.Scanner) (*scan.Result, error)) error {
	c, release := c.UntilSignal()
	defer release()
	scanner, err := o.scanner(c)
	if err != nil {
		return explained(err)
	}
	result, err := do(c, scanner)
	if c.Screen != nil {
		c.Screen.Draw(nil)
	}
	if err != nil {
		return explained(err)
	}
	if o.SARIF {
		err = result.WriteSARIF(c.Stdout)
	} else {
		c.Print(result, func(w io.Writer) { err = result.WriteText(w) })
	}
	if err == nil && result.Outcome == scan.Found {
		err = &cli.Exit{Code: cli.NotGood}
	}
	return err
}

// explained puts the errors of a scan in words that name flags.
func explained(err error) error {
	if errors.Is(err, scan.ErrNotRepository) {
		return &cli.Problem{Code: "not_a_repository", Message: err.Error()}
	}
	e, ok := errors.AsType[*scan.Error](err)
	if !ok {
		return err
	}
	hint := e.Hint
	if e.Code == "no_protected_branch" {
		hint = "git fetch brings it; name another with --protected, or use --built-in where there is no remote"
	}
	return &cli.Problem{Code: e.Code, Message: e.Message, Hint: hint}
}

type stagedCommand struct{ output }

func (stagedCommand) Help() string {
	return `Example, as .git/hooks/pre-commit:

  #!/bin/sh
  exec redact scan staged` + exits
}

func (cmd stagedCommand) Run(c *cli.Context) error {
	return cmd.run(c, func(ctx context.Context, s *scan.Scanner) (*scan.Result, error) { return s.Staged(ctx) })
}

type rangeCommand struct {
	output
	Range string `arg:"" help:"A..B: the commits that B reaches and A does not."`
}

func (rangeCommand) Help() string {
	return `Examples:

  redact scan range origin/main..HEAD
  redact scan range v1.0..v1.1 --sarif >findings.sarif` + exits
}

func (cmd rangeCommand) Run(c *cli.Context) error {
	return cmd.run(c, func(ctx context.Context, s *scan.Scanner) (*scan.Result, error) { return s.Range(ctx, cmd.Range) })
}

type pushCommand struct {
	output
	remoteArguments
}

func (pushCommand) Help() string {
	return `Example, as .git/hooks/pre-push:

  #!/bin/sh
  exec redact scan push "$@"

Standard input is what git gives the hook: a line for each ref.` + exits
}

func (cmd pushCommand) Run(c *cli.Context) error {
	if c.Interactive {
		return &cli.Problem{Code: "usage", Message: "standard input is a terminal", Hint: "git gives the refs of a push there, to its pre-push hook"}
	}
	return cmd.run(c, func(ctx context.Context, s *scan.Scanner) (*scan.Result, error) {
		return s.Push(ctx, cmd.remote(), c.Stdin)
	})
}

type historyCommand struct{ output }

func (historyCommand) Help() string {
	return `Example, before a repository is made public:

  redact scan history && redact scan staged` + exits
}

func (cmd historyCommand) Run(c *cli.Context) error {
	return cmd.run(c, func(ctx context.Context, s *scan.Scanner) (*scan.Result, error) { return s.History(ctx) })
}

type pathsCommand struct {
	output
	Paths []string `arg:"" name:"path" help:"File, or folder with all below it."`
}

func (pathsCommand) Help() string {
	return `Examples:

  redact scan paths .
  redact scan paths build/app.js --json

Of a folder in a repository, what git ignores is left out; of any other, nothing is. Outside of repositories the built-in rules
hold alone.` + exits
}

func (cmd pathsCommand) Run(c *cli.Context) error {
	return cmd.run(c, func(ctx context.Context, s *scan.Scanner) (*scan.Result, error) { return s.Paths(ctx, cmd.Paths...) })
}
