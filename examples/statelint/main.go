// Statelint keeps programs from going around the packages that own the engine's files. It is a vet tool: it reports each call that opens,
// changes or looks for a file such as tracker.json, state.db, HALT or report.json in a package that does not own it, and names what to call
// instead. internal/reads has the rules and the table of owners.
//
//	go vet -vettool=$(which statelint) ./...
//
// reports all of them. Called by itself, it compares them with what is known:
//
//	statelint [--baseline FILE] [--json] [--update [--allow-growth]] [PACKAGES]
//
// The packages (default ./...) are those of the module around the current folder; other modules are looked at one by one, from their own.
// The baseline (default statelint.baseline; one that is missing is empty) has a row for each file and each thing that it touches, sorted,
// with the number of calls; files are named from the folder of the baseline:
//
//	internal/old/import.go tracker.json 2
//
// A third call fails, and so does a row whose calls are gone or fewer until it is removed or lowered; --update does that. It never allows
// more unless --allow-growth is there, which is refused where the environment has CI. No comment hides a call.
//
// Exit codes, with --json as without: 0 the baseline is exact; 1 it is not; 2 nobody can tell: a wrong flag, a damaged baseline, a package
// that does not compile, a row of a file that was not looked at (its package was not named, or it is for another system).
//
// A file of one's own that has the name of one of these is found like it, and belongs into the baseline.
package main

import (
	"context"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"aesop/examples/statelint/internal/reads"
)

func main() {
	if asked(os.Args[1:]) {
		unitchecker.Main(reads.Analyzer)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// asked says whether the arguments are those of go vet.
func asked(args []string) bool {
	if len(args) == 0 {
		return false
	}
	return args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg")
}
