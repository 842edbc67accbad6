//go:build unix

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/statestore/job/manifest"
)

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	sh := func(line string) []string { return []string{"sh", "-c", line} }
	commands := manifest.Commands{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "CODE=4"}, Timeout: time.Minute, Argv: map[string][]string{
		"good": {"true"}, "smoke test": sh(`exit "$CODE"`), "killed": sh("kill -9 $$"), "missing": {"no-such-program"}, "where": sh(`pwd >seen`)}}
	for ref, want := range map[string]manifest.Verdict{
		"good 0":       manifest.Proven,
		"smoke test 4": manifest.Proven,
		"where 0":      manifest.Proven,
		"smoke test 0": manifest.Unproven,
		"good 1":       manifest.Unproven,
		"good":         manifest.Unproven,
		"good 256":     manifest.Unproven,
		"good -1":      manifest.Unproven,
		"unknown 0":    manifest.Unproven,
		"true 0":       manifest.Unproven,
		"killed 0":     manifest.Unknown,
		"killed 137":   manifest.Unknown,
		"missing 127":  manifest.Unknown,
	} {
		if got, reason := look(t, manifest.Command, commands, ref); got != want {
			t.Errorf("%s: %s, %s; want %s", ref, got, reason, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "seen")); err != nil {
		t.Error(err)
	}
	commands.Timeout, commands.Argv = 100*time.Millisecond, map[string][]string{"slow": {"sleep", "3600"}}
	if got, reason := look(t, manifest.Command, commands, "slow 0"); got != manifest.Unknown || !strings.Contains(reason, "timeout") {
		t.Errorf("slow: %s, %s", got, reason)
	}
}
