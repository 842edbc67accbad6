package job

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThePageHasTheTable: docs/JOBS.md shows every row, in the table's order, and no other.
func TestThePageHasTheTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "JOBS.md"))
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 4 && strings.HasPrefix(line, "| `") {
			shown = append(shown, strings.Join([]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])}, " | "))
		}
	}
	var want []string
	for _, r := range table() {
		var from []string
		for _, s := range r.from {
			if s == none {
				s = "none"
			}
			from = append(from, string(s))
		}
		want = append(want, fmt.Sprintf("`%s` | %s | %s", r.request, strings.Join(from, ", "), r.to))
	}
	if got, want := strings.Join(shown, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("the page shows\n%s\nand the table is\n%s", got, want)
	}
}
