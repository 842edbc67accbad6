package main

import (
	"fmt"
	"io"
	"time"

	"aesop/examples/internal/cli"
	"aesop/redact/scan"
)

type approveCommand struct {
	place
	Path    string `arg:"" help:"The file, from the root of the repository, as findings have it."`
	Rule    string `arg:"" help:"The rule, as findings have it."`
	Reason  string `required:"" help:"Why it is no secret, or may go out." placeholder:"TEXT"`
	At      string `help:"Commit that has the content (default: the index)." placeholder:"COMMIT"`
	Expires string `help:"Last day on which it holds (default: in 90 days)." placeholder:"YYYY-MM-DD"`
}

func (approveCommand) Help() string {
	return `Example:

  redact scan approve docs/tokens.md aws-access-key-id --reason "the key of the vendor's own documentation"

It holds for this content of this file and for this rule, on this machine, and each scan that uses it says so. For everybody it is an
exemption in aesop-scan.json on the protected branch. Exit 2 where the rule finds nothing there.`
}

type approvalDocument struct {
	SchemaVersion int           `json:"schemaVersion"`
	Approval      scan.Approval `json:"approval"`
}

func (cmd approveCommand) Run(c *cli.Context) error {
	c, release := c.UntilSignal()
	defer release()
	request := scan.ApproveRequest{Path: cmd.Path, Rule: cmd.Rule, Reason: cmd.Reason, At: cmd.At}
	if cmd.Expires != "" {
		last, err := time.Parse(time.DateOnly, cmd.Expires)
		if err != nil {
			return &cli.Problem{Code: "usage", Message: fmt.Sprintf("%q is no day", cmd.Expires), Hint: "write it as 2027-01-31"}
		}
		request.Expires = last.AddDate(0, 0, 1)
	}
	scanner, err := cmd.scanner(c)
	if err != nil {
		return explained(err)
	}
	approval, err := scanner.Approve(c, request)
	if err != nil {
		return explained(err)
	}
	c.Print(approvalDocument{schemaVersion, approval}, func(w io.Writer) {
		fmt.Fprintf(w, "approved %s in %s, sha256 %s, until %s\n", cli.OneLine(approval.Rule), cli.OneLine(approval.Path), approval.SHA256,
			approval.Expires.Format(time.RFC3339))
	})
	return nil
}
