// Redact is the example binary that takes secrets out of text, and finds them in git repositories.
package main

import (
	"os"

	"aesop/examples/internal/cli"
)

func main() { os.Exit(run()) }

const description = `Take secrets out of text, and keep them out of git.

	In a pipe:         program | redact filter
	Before a commit:   redact scan staged
	Before each push:  redact hook install
	Before a release:  redact scan history`

type grammar struct {
	Filter filterCommand `cmd:"" help:"Copy standard input to standard output, without secrets."`
	Scan   scanCommand   `cmd:"" help:"Find secrets in a git repository."`
	Hook   hookCommand   `cmd:"" help:"Keep pushes with secrets from leaving."`
}

func run() int { return cli.Main("redact", description, &grammar{}, os.Args[1:]) }
