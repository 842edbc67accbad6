//go:build unix

package process_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"aesop/driver/process"
)

func ExampleRun() {
	result, err := process.Run(context.Background(), process.Command{
		Argv: []string{"sh", "-c", "wc -w; echo not good >&2; exit 3"},
		Dir:  os.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
		Stdin: strings.NewReader("three short words"), Mark: fmt.Sprint("example-run-", os.Getpid()),
	})
	if err != nil {
		fmt.Println("no child:", err)
		return
	}
	fmt.Println(result.Reason, result.Code, strings.TrimSpace(string(result.Stdout.Text)), strings.TrimSpace(string(result.Stderr.Text)))
	// Output: exited 3 3 not good
}

// What a program leaves in the background ends with it, and so does a program that is not heard of any more.
func ExampleRun_idle() {
	result, err := process.Run(context.Background(), process.Command{
		Argv: []string{"sh", "-c", "sleep 3600 & echo started; sleep 3600"},
		Dir:  os.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Mark: fmt.Sprint("example-idle-", os.Getpid()),
		Timeout: time.Hour, Idle: 500 * time.Millisecond,
	})
	fmt.Printf("%s, said %q, %d left, %v\n", result.Reason, result.Stdout.Text, len(result.Survivors), err)
	// Output: idle, said "started\n", 0 left, <nil>
}
