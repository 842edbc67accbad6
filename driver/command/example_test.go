//go:build unix

package command_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aesop/driver"
	"aesop/driver/command"
)

// Any program can be an agent: it reads the prompt and changes files.
func Example() {
	d, err := command.New(command.Config{Line: `
		read prompt
		echo "$prompt" >prompt.txt
		echo '{"input": 12, "output": 3}' >"$AESOP_ATTEMPT_DIR/usage.json"
		echo "worked on $AESOP_SLUG"`})
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, _ := os.MkdirTemp("", "tree")
	attempt, _ := os.MkdirTemp("", "attempt")
	defer os.RemoveAll(tree)
	defer os.RemoveAll(attempt)

	result, err := d.Run(context.Background(), driver.Task{
		Item: "greet", Slug: "add-greeting", Prompt: "Say hello.\n", Dir: tree, AttemptDir: attempt,
		Mark: fmt.Sprint("example-", os.Getpid()), Environment: []string{"PATH=" + os.Getenv("PATH")},
	}, nil)
	text, _ := os.ReadFile(filepath.Join(tree, "prompt.txt"))
	fmt.Printf("%s; %d tokens; wrote %q; %v\n", result.Summary, result.Usage().Input+result.Usage().Output, text, err)
	// Output: worked on add-greeting; 15 tokens; wrote "Say hello.\n"; <nil>
}
