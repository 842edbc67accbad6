package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aesop/examples/internal/cli"
	"aesop/redact/hook"
)

type hookCommand struct {
	Install hookInstallCommand `cmd:"" help:"Make git refuse pushes that have secrets in them, or go to protected branches."`
	Verify  hookVerifyCommand  `cmd:"" help:"Look at the installed hook, and try it in a repository of its own."`
	Run     hookRunCommand     `cmd:"" help:"What the installed hook calls."`
	Audit   hookAuditCommand   `cmd:"" help:"Check the chain of the audit log."`
}

// hookPlace are the flags by which commands of the hook find what they work on.
type hookPlace struct {
	Repo  string  `help:"A folder of the repository." default:"." placeholder:"DIR"`
	State *string `env:"AESOP_STATE" help:"Folder of the audit log and of approvals (default: by repository, below the user's state folder)." placeholder:"DIR"`
}

type hookInstallCommand struct {
	Repo    string   `help:"A folder of the repository." default:"." placeholder:"DIR"`
	State   string   `help:"Folder that the hook is to use for the audit log and for approvals (default: it finds it at each push)." placeholder:"DIR"`
	Protect []string `sep:"none" help:"Protected branch, or pattern of several, instead of main, master and release/* (repeatable). The default branches of the remotes are protected too." placeholder:"PATTERN"`
	JSON    bool     `name:"json" help:"Print one JSON document on standard output."`
}

func (hookInstallCommand) Help() string {
	return `Examples:

  redact hook install
  redact hook install --protect main --protect 'stable-*'

The hook goes where git looks for it (core.hooksPath), and calls this very program. One that is there already, and not from here, stays; of
one from here, what is not said anew stays. To be rid of it, remove the file.
Exit 0 also if it was there, 4 if something stands in its way.`
}

type installDocument struct {
	SchemaVersion int         `json:"schemaVersion"`
	Outcome       hook.Change `json:"outcome"`
	Path          string      `json:"path"`
	Version       int         `json:"version"`
	hook.Settings
}

func (cmd hookInstallCommand) Run(c *cli.Context) error {
	c, release := c.UntilSignal()
	defer release()
	binary, err := os.Executable()
	if err == nil {
		binary, err = filepath.EvalSymlinks(binary)
	}
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	settings := hook.Settings{Binary: binary, Command: []string{"hook", "run"}, Protect: cmd.Protect}
	if cmd.State != "" {
		if settings.State, err = filepath.Abs(cmd.State); err != nil {
			return err
		}
	}
	installed, err := hook.Install(c, cmd.Repo, settings)
	if err != nil {
		return refusal(err)
	}
	c.Print(installDocument{schemaVersion, installed.Change, installed.Path, hook.Version, installed.Settings}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n", installed.Change, installed.Path)
	})
	return nil
}

// refusal gives errors of the hook their code and exit.
func refusal(err error) error {
	e, ok := errors.AsType[*hook.Error](err)
	if !ok {
		return err
	}
	problem := &cli.Problem{Code: e.Code, Message: e.Message, Hint: e.Hint}
	switch e.Code {
	case "foreign_hook", "changed_hook", "symlink", "not_a_file", "hooks_in_work_tree", "state_inside":
		return &cli.Exit{Code: cli.Refused, Err: problem}
	}
	return problem
}

type hookVerifyCommand struct {
	Repo string `help:"A folder of the repository." default:"." placeholder:"DIR"`
	JSON bool   `name:"json" help:"Print one JSON document on standard output."`
}

func (hookVerifyCommand) Help() string {
	return `Example:

  redact hook verify

It pushes a made-up secret from a repository in a temporary folder, which has to be refused, and something clean, which has to pass.
Exit 0 if all is as it should be, else 1.`
}

func (cmd hookVerifyCommand) Run(c *cli.Context) error {
	c, release := c.UntilSignal()
	defer release()
	report, err := hook.Verify(c, cmd.Repo)
	if err != nil {
		return refusal(err)
	}
	c.Print(report, func(w io.Writer) {
		for _, check := range report.Checks {
			fmt.Fprintf(w, "%-8s %s\n", check.Status, check.Code)
			if check.Detail != "" {
				fmt.Fprintf(w, "         %s\n", check.Detail)
			}
		}
	})
	return verdict(report.Outcome)
}

func verdict(outcome string) error {
	if outcome != "good" {
		return &cli.Exit{Code: cli.NotGood}
	}
	return nil
}

type hookRunCommand struct {
	hookPlace
	Protect []string `sep:"none" help:"Protected branch, or pattern of several (repeatable; default: main, master and release/*)." placeholder:"PATTERN"`
	remoteArguments
}

func (hookRunCommand) Help() string {
	return `Git's hook gives it its own arguments and standard input. It prints "` + hook.Allowed + `" and exits with 0 to let a push pass; everything else
refuses it: exit 1 for secrets and protected branches, 2 where it could not be evaluated.`
}

func (cmd hookRunCommand) Run(c *cli.Context) error {
	c, release := c.UntilSignal()
	defer release()
	state, err := stateFolder(c, cmd.Repo, cmd.State)
	if err != nil {
		return err
	}
	decision := hook.Run(c, hook.Push{Dir: cmd.Repo, GitDir: os.Getenv("GIT_DIR"), State: state, Protect: cmd.Protect, Remote: cmd.remote(), Stdin: os.Stdin})
	if decision.Result != nil && len(decision.Result.Findings) > 0 { // also what is exempt or approved
		if err := decision.Result.WriteText(c.Stderr); err != nil {
			return err
		}
	}
	if decision.Allowed {
		fmt.Fprintln(c.Stdout, hook.Allowed)
		return nil
	}
	problem := &cli.Problem{Code: string(decision.Reason), Message: decision.Message}
	if decision.Reason == hook.SecretFound {
		problem.Hint = "for what is none: redact scan approve --help"
	}
	if decision.Reason == hook.ProtectedBranch || decision.Reason == hook.SecretFound {
		return &cli.Exit{Code: cli.NotGood, Err: problem}
	}
	return problem
}

type hookAuditCommand struct {
	hookPlace
	JSON bool `name:"json" help:"Print one JSON document on standard output."`
}

func (hookAuditCommand) Help() string {
	return `Example:

  redact hook audit --json

Every push that the hook decided about has an entry, which carries the hash of the one before. Exit 0 if none is missing or changed, else 1.`
}

func (cmd hookAuditCommand) Run(c *cli.Context) error {
	c, release := c.UntilSignal()
	defer release()
	state, err := stateFolder(c, cmd.Repo, cmd.State)
	if err != nil {
		return err
	}
	report, err := hook.OpenLog(state).Check(c)
	if err != nil {
		return err
	}
	c.Print(report, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d entries\n", report.Path, report.Entries)
		for _, p := range report.Problems {
			fmt.Fprintf(w, "line %d: %s: %s\n", p.Line, p.Code, p.Message)
		}
	})
	return verdict(report.Outcome)
}
