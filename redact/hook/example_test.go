package hook_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"aesop/redact/hook"
)

func ExampleLog() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log := hook.OpenLog(dir)
	for _, reason := range []hook.Reason{hook.Clean, hook.SecretFound} {
		if err := log.Append(context.Background(), hook.Entry{At: time.Now(), Repo: "/src/app", Event: hook.PushBlocked, Reason: string(reason)}); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := os.Truncate(log.Path(), 0); err != nil {
		fmt.Println(err)
		return
	}
	report, err := log.Check(context.Background())
	fmt.Println(report.Outcome, report.Problems[0].Code, err)
	// Output: problems truncated <nil>
}
