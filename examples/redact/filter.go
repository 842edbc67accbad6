package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"aesop/examples/internal/cli"
	"aesop/redact"
)

const schemaVersion = 1

type filterCommand struct {
	Profile  string   `enum:"logs,transcripts,public-dataset" default:"logs" help:"What goes: credentials (logs), email addresses too (transcripts), and names in paths too (public-dataset)." placeholder:"logs"`
	ValueEnv []string `sep:"none" help:"Variable whose value is a secret (repeatable)." placeholder:"NAME"`
	Explain  bool     `help:"Print what would go and where, never the values, instead of the text."`
	JSON     bool     `name:"json" help:"With --explain: print one JSON document on standard output."`
}

func (filterCommand) Help() string {
	return `Examples:

  deploy 2>&1 | redact filter --value-env DEPLOY_TOKEN
  redact filter --profile transcripts <session.log >clean.log
  redact filter --explain --json <session.log

Exit 0, whether there was something to take out or not.`
}

type explainDocument struct {
	SchemaVersion int              `json:"schemaVersion"`
	Findings      []redact.Finding `json:"findings"`
}

func (cmd filterCommand) Run(c *cli.Context) error {
	if cmd.JSON && !cmd.Explain {
		return &cli.Problem{Code: "usage", Message: "the text itself is no JSON document", Hint: "add --explain"}
	}
	r, err := cmd.redactor()
	if err != nil {
		return err
	}
	if cmd.Explain {
		return explain(c, r)
	}
	w := r.NewWriter(c.Stdout)
	_, err = io.Copy(w, c.Stdin)
	return errors.Join(err, w.Close())
}

func (cmd filterCommand) redactor() (*redact.Redactor, error) {
	profiles := map[string]redact.Profile{"logs": redact.Logs, "transcripts": redact.Transcripts, "public-dataset": redact.PublicDataset}
	r, err := redact.New(redact.Config{Profile: profiles[cmd.Profile]})
	if err != nil {
		return nil, err
	}
	for _, name := range cmd.ValueEnv {
		value := os.Getenv(name)
		if value == "" {
			return nil, &cli.Problem{Code: "usage", Message: fmt.Sprintf("the variable %s is not set, so its value cannot be taken out", name)}
		}
		if err := r.Register(value); err != nil {
			return nil, &cli.Problem{Code: "usage", Message: fmt.Sprintf("the variable %s: %v", name, err)}
		}
	}
	return r, nil
}

func explain(c *cli.Context, r *redact.Redactor) error {
	text, err := io.ReadAll(c.Stdin)
	if err != nil {
		return err
	}
	findings := append([]redact.Finding{}, r.Explain(text)...) // never null
	c.Print(explainDocument{schemaVersion, findings}, func(w io.Writer) {
		for _, f := range findings {
			fmt.Fprintf(w, "bytes %d to %d: %s\n", f.Start, f.End, f.Rule)
		}
	})
	return nil
}
