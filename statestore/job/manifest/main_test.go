package manifest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary be a process that finalises and is killed on the way.
func TestMain(m *testing.M) {
	if dir := os.Getenv("AESOP_TEST_FINALIZE"); dir != "" {
		on := &recorder{}
		fmt.Sscan(os.Getenv("AESOP_TEST_KILL"), &on.killAt, &on.half)
		if _, err := finalize(context.Background(), draft(dir), on); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// draft is the one that the tests of the steps use; the report is staged as "staged".
func draft(dir string) Draft {
	return Draft{Dir: dir, Staged: "staged", Job: "w1/greet", Attempt: "a1", SideEffects: []SideEffect{{Kind: File, Ref: "x"}}}
}
