package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aesop/cost"
)

// TestSummaryShowsWhatAWaveSpent: the rows that wave run writes are those that are added up, and a limit that they reach is reached.
func TestSummaryShowsWhatAWaveSpent(t *testing.T) {
	dir := place(t)
	program := filepath.Join(dir, "wave")
	if out, err := exec.Command("go", "build", "-o", program, "../wave").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, dir, "tracker.json", `[{"id": "greet", "slug": "greet", "ownsFiles": ["greeting.txt"], "prompt": "Greet.", "testCmd": "grep -q hello greeting.txt"}]`)
	write(t, dir, "script.json", `{"greet": [{"files": {"greeting.txt": "hello\n"}, "usage": {"model": "small", "input": 900, "output": 40}}]}`)
	write(t, dir, ".gitignore", "*\n")
	write(t, dir, "prices.json", `{"schemaVersion": 1, "checked": "2026-05-01", "rows": [{"model": "small", "source": "a contract", "input": "1", "output": "5"}]}`)
	write(t, dir, "aesop.json", `{"ship": "local", "limits": {"waveTokens": 1000, "prices": "prices.json"}}`)
	for _, line := range [][]string{{"git", "init", "--quiet", "--initial-branch=main"},
		{"git", "-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--allow-empty", "--message=Begin"},
		{program, "run", "--driver", "script", "--script", "script.json", "--json"}} {
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Dir = dir
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "AESOP_") }),
			"AESOP_STATE="+filepath.Join(dir, "state"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	var sum struct {
		Asked  asked
		Groups []cost.Group
	}
	document(t, &sum, dir, []int{0}, "summary", "--period", "wave", "--by", "item,model,backend,verdict")
	if len(sum.Groups) != 1 || sum.Asked.Wave == "" {
		t.Fatalf("%+v", sum)
	}
	g := sum.Groups[0]
	want := map[cost.Dimension]string{cost.ByItem: "greet", cost.ByModel: "small", cost.ByBackend: "script", cost.ByVerdict: "OK"}
	for d, value := range want {
		if g.Key[d] != value {
			t.Errorf("%s is %q, want %q", d, g.Key[d], value)
		}
	}
	if g.Total.Calls != 1 || g.Total.Usage.Input != 900 || g.Total.Usage.Output != 40 || g.Total.Cost != 1_100_000 || g.Total.Unpriced != 0 {
		t.Errorf("%+v", g.Total)
	}
	var ceiling ceilingDocument
	document(t, &ceiling, dir, []int{0}, "ceiling", "--check")
	if len(ceiling.Limits) != 1 || ceiling.Limits[0].Spent != "940" || ceiling.Asked.Wave != sum.Asked.Wave {
		t.Errorf("%+v", ceiling)
	}
	if got, err := play(t.Context(), dir, "record", "--model", "small", "--input", "60", "--output", "0", "--wave", sum.Asked.Wave); err != nil || got.code != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	document(t, &ceiling, dir, []int{1}, "ceiling", "--check", "--period", "wave")
	if !ceiling.Tripped {
		t.Errorf("%+v", ceiling)
	}
}
