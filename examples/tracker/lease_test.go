package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLeaseComesFromFlagEnvironmentAndFile looks at how long claims are held; the scripts do not see times.
func TestLeaseComesFromFlagEnvironmentAndFile(t *testing.T) {
	for name, test := range map[string]struct {
		config, environment, flag string
		want                      time.Duration
	}{
		"default":     {want: 15 * time.Minute},
		"file":        {config: "2h", want: 2 * time.Hour},
		"environment": {config: "2h", environment: "4h", want: 4 * time.Hour},
		"flag":        {config: "2h", environment: "4h", flag: "8h", want: 8 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "tracker.json", `[{"id": "a", "slug": "a", "ownsFiles": ["a"], "prompt": "x", "testCmd": "true"}]`)
			if test.config != "" {
				write(t, dir, "aesop.json", `{"lease": "`+test.config+`"}`)
			}
			var flags []string
			if test.flag != "" {
				flags = []string{"--lease", test.flag}
			}
			ask := func(answer any, args ...string) {
				t.Helper()
				cmd := play(t.Context(), dir, append(append(args, "--json"), flags...)...)
				cmd.Env = append(cmd.Env, "AESOP_LEASE="+test.environment)
				out, err := cmd.Output()
				if err == nil {
					err = json.Unmarshal(out, answer)
				}
				if err != nil {
					t.Fatalf("%v: %v: %s", args, err, out)
				}
			}
			near := func(until time.Time) bool { return (time.Until(until) - test.want).Abs() < 5*time.Minute }
			var claimed claimsDocument
			ask(&claimed, "claim", "a", "--owner", "ann")
			if len(claimed.Claims) != 1 || !near(claimed.Claims[0].LeaseUntil) {
				t.Errorf("claimed %+v, want %s", claimed, test.want)
			}
			var renewed oneItem
			ask(&renewed, "renew", "a", "--token", claimed.Claims[0].Token)
			if !near(renewed.Item.Claim.LeaseUntil) {
				t.Errorf("renewed until %s, want %s", renewed.Item.Claim.LeaseUntil, test.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
