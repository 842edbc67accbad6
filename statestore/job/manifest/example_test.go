package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aesop/statestore/job/manifest"
)

// An agent finalises its report and says that it wrote a file. Whoever judges it reads both; then the report is changed.
func Example() {
	attempt, err := os.MkdirTemp("", "attempt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(attempt)
	ctx := context.Background()

	// The agent.
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(attempt, name), []byte(text), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	write("notes.md", "what I did\n")
	write("report.new", "all is done\n")
	if _, err := manifest.Finalize(ctx, manifest.Draft{Dir: attempt, Staged: "report.new", Job: "w1/greet", Attempt: "a1",
		SideEffects: []manifest.SideEffect{{Kind: manifest.File, Ref: "notes.md"}, {Kind: manifest.File, Ref: "more.md"}}}); err != nil {
		fmt.Println(err)
	}

	// The judge.
	v, err := manifest.Read(ctx, attempt, manifest.Want{Job: "w1/greet", Attempt: "a1"})
	fmt.Println(v.Size, "bytes,", len(v.SideEffects), "side effects,", err)
	proof := manifest.Prove(ctx, v, manifest.Resolvers{manifest.File: manifest.Files{Root: attempt}})
	fmt.Println(proof.Verdict, "because of", proof.Reason)

	write("report", "all is well\n")
	_, err = manifest.Read(ctx, attempt, manifest.Want{Job: "w1/greet", Attempt: "a1"})
	fmt.Println("void:", errors.Is(err, manifest.ErrVoid))
	// Output:
	// 12 bytes, 2 side effects, <nil>
	// unproven because of file more.md: there is no such file
	// void: true
}
