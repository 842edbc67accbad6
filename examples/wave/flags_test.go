package main

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// settingFlags are the flags that set a key of the configuration: the key, and a value.
var settingFlags = map[string]struct{ key, value, shown string }{
	"tracker": {"tracker", "/t.json", "/t.json"}, "state": {"state", "/s", "/s"}, "store": {"store", "u", "u"},
	"driver": {"driver", "script", "script"}, "agent-cmd": {"agentCmd", "a b", "a b"}, "model": {"model", "m", "m"},
	"agent-timeout": {"agentTimeout", "11m", "11m"}, "idle-timeout": {"idleTimeout", "12m", "12m"}, "test-timeout": {"testTimeout", "13m", "13m"},
	"lease": {"lease", "14m", "14m"}, "parallel": {"parallel", "7", "7"}, "max-items": {"maxItems", "8", "8"},
	"allow-red-base": {"allowRedBase", "", "true"}, "ship": {"ship", "local", "local"}, "supervise": {"supervise", "", "true"},
}

// otherFlags are for the command itself; the scripts in testdata use each.
var otherFlags = map[string]bool{"help": true, "repo": true, "config": true, "json": true, "script": true, "dry-run": true, "drain": true, "manifest": true}

// TestEveryFlagOfRunSetsItsKey, and there is no flag that sets nothing.
func TestEveryFlagOfRunSetsItsKey(t *testing.T) {
	for name, want := range settingFlags {
		var g grammar
		parser, err := kong.New(&g, kong.Vars{"drivers": "any"})
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"run", "--" + name}
		if want.value != "" {
			args = append(args, want.value)
		}
		parsed, err := parser.Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		keys := g.Run.driverFlags.keys()
		maps.Copy(keys, g.Run.selectFlags.keys())
		g.Run.Repo = t.TempDir()
		_, rows, err := g.Run.Common.Load(keys)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Key == want.key {
				if r.Source != "flag" || fmt.Sprint(r.Value) != want.shown {
					t.Errorf("--%s: %+v, want %s", name, r, want.shown)
				}
			} else if r.Source == "flag" {
				t.Errorf("--%s sets %s", name, r.Key)
			}
		}
		for _, flag := range parsed.Flags() {
			if _, sets := settingFlags[flag.Name]; !sets && !otherFlags[flag.Name] {
				t.Errorf("--%s is not in the test's tables", flag.Name)
			}
		}
	}
}

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0d": 0, "14d": 14 * 24 * time.Hour, "36h": 36 * time.Hour, "1h30m": 90 * time.Minute} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-1h", "soon", "1.5d", "999999999d", "3 d"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
