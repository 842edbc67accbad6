//go:build unix

package script_test

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"aesop/driver"
	"aesop/driver/drivertest"
	"aesop/driver/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		if play.Prompt != "" {
			t.Skip("not applicable: a script does not read its prompt")
		}
		data, err := json.Marshal(map[string]any{"slug": []any{attempt(play)}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := script.Parse("play.json", data)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// TestSuiteSleeping lets the silent hang be a sleep of the script instead of a program.
func TestSuiteSleeping(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		if play.Hang != drivertest.Silent {
			t.Skip("not applicable: shown by TestSuite")
		}
		d, err := script.Parse("play.json", []byte(`{"slug": [{"sleep": "1h"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

func attempt(play drivertest.Play) map[string]any {
	a := map[string]any{"say": play.Say}
	if play.Files != nil {
		a["files"] = play.Files
	}
	if u := play.Usage; u != nil {
		a["usage"] = map[string]any{"model": u.Model, "input": u.Input, "cacheRead": u.CacheRead, "output": u.Output, "reasoning": u.Reasoning}
	}
	switch play.Hang {
	case drivertest.Silent:
		a["exec"] = "sleep 3600"
	case drivertest.Talking:
		a["exec"] = "while :; do echo still here; sleep 0.1; done"
	}
	if play.Fail != "" {
		a["fail"] = play.Fail
	}
	return a
}
