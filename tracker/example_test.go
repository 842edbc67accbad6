package tracker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aesop/tracker"
)

// A worker selects an item, claims it, and says how it ended. The file keeps its comment and its layout.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tracker.json")
	backlog := `[
  {
    "id": "greet", // the first of many
    "slug": "add-greeting",
    "ownsFiles": ["greeting.txt"],
    "prompt": "Write a greeting.",
    "testCmd": "grep -q hello greeting.txt"
  }
]
`
	if err := os.WriteFile(path, []byte(backlog), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := work(path, filepath.Join(dir, "locks")); err != nil {
		fmt.Println(err)
		return
	}
	after, _ := os.ReadFile(path)
	fmt.Print(string(after))
	// Output:
	// selected greet
	// [
	//   {
	//     "id": "greet", // the first of many
	//     "slug": "add-greeting",
	//     "ownsFiles": ["greeting.txt"],
	//     "prompt": "Write a greeting.",
	//     "testCmd": "grep -q hello greeting.txt",
	//     "status": "done",
	//     "epoch": 1,
	//     "shipped": {"wave": "w1", "branch": "aesop/w1", "commit": "0123abc"}
	//   }
	// ]
}

func work(path, locks string) error {
	ctx := context.Background()
	file, err := tracker.OpenFile(tracker.FileConfig{Path: path, LockDir: locks})
	if err != nil {
		return err
	}
	backlog, err := file.Backlog(ctx)
	if err != nil {
		return err
	}
	selection := tracker.Intake(backlog, tracker.IntakeOptions{Now: time.Now(), Max: 1})
	item := selection.Items[0]
	fmt.Println("selected", item.ID)
	claims, err := file.Claim(ctx, tracker.Holder{Wave: "w1", Owner: "ann"}, 15*time.Minute,
		tracker.Want{ID: item.ID, Fingerprint: item.Fingerprint()})
	if err != nil {
		return err
	}
	return file.Settle(ctx, tracker.Settlement{
		ID: item.ID, Token: claims[0].Token, Request: tracker.Complete,
		Shipped: &tracker.Shipped{Wave: "w1", Branch: "aesop/w1", Commit: "0123abc"},
	})
}

func ExampleOwnership() {
	docs, err := tracker.ParseOwnership([]string{"docs/", "README.md"})
	if err != nil {
		fmt.Println(err)
		return
	}
	code, err := tracker.ParseOwnership([]string{"**/*.go", "docs/index.html"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(docs.Contains("docs/guide/start.md"), docs.Contains("readme.md"), docs.Contains("main.go"))
	fmt.Println(docs.Overlaps(code))
	// Output:
	// true true false
	// docs/ and **/*.go true
}
