//go:build unix

package script_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aesop/driver"
	"aesop/driver/script"
)

// A script plays an agent that gets it right at the second attempt.
func Example() {
	d, err := script.Parse("script.json", []byte(`{
		"add-greeting": [
			{"files": {"greeting.txt": "good day\n"}, "say": "done", "usage": {"input": 900, "output": 40}},
			{"files": {"greeting.txt": "hello\n"}, "say": "fixed", "usage": {"input": 1300, "output": 42}},
		],
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := os.MkdirTemp("", "tree")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(tree)

	for round := 1; round <= 2; round++ {
		task := driver.Task{Slug: "add-greeting", Round: round, Dir: tree}
		result, err := d.Run(context.Background(), task, nil)
		text, _ := os.ReadFile(filepath.Join(tree, "greeting.txt"))
		fmt.Printf("%s: %q, %d tokens out, %v\n", result.Summary, text, result.Usage().Output, err)
	}
	// Output:
	// done: "good day\n", 40 tokens out, <nil>
	// fixed: "hello\n", 42 tokens out, <nil>
}
