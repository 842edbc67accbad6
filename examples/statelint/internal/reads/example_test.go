package reads_test

import (
	"fmt"

	"aesop/examples/statelint/internal/reads"
)

// Who may read the report of a wave, and what everybody else asks.
func Example() {
	file, _ := reads.Lookup("report.json")
	fmt.Println(file.Owners)
	fmt.Println(file.Instead)
	// Output:
	// [aesop/wave]
	// wave.NewReport of journal.Fold, which the file is a copy of
}
