//go:build unix

package aesop_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"aesop"
	"aesop/driver/drivertest/modelserver"
	"aesop/redact/redacttest"
	"aesop/wave"
	"aesop/wave/journal"
)

// TestRealAgentsLeaveNoSecrets: not in what they say, not in what their tools print, and not in the bodies of HTTP errors that they tell of.
func TestRealAgentsLeaveNoSecrets(t *testing.T) {
	for _, driver := range []string{"claude", "codex"} {
		t.Run(driver, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			known, shaped := redacttest.Fill(rng, "{alnum:26}"), redacttest.Fill(rng, "ghp_{alnum:36}")
			t.Setenv("DEPLOY_TOKEN", known)
			const control = "marigold-lighthouse"
			said := control + " " + known + " and " + shaped
			f := newFleet(t, driver, "echo "+control+"; grep -q hello FILE", "says", "refused")
			f.talk("says", modelserver.Step{Text: said, Calls: f.says("/dev/null", "hello >says.txt; echo "+said+" >&2; echo")}, modelserver.Step{Text: "Done: " + said})
			f.talk("refused", modelserver.Step{Status: 403, Message: "not with " + said})
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: f.repo, Settings: aesop.Settings{Driver: f.driver}, Observers: []wave.Observer{f.ended}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = engine.Close() })
			report, err := engine.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			states := map[string]journal.State{}
			for _, i := range report.Items {
				states[i.ID] = i.State
			}
			if states["says"] != journal.StateShipped || states["refused"] != journal.StateDriverFailed {
				t.Errorf("states %v", states)
			}
			printed, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			all := map[string][]byte{"the report": printed}
			theirs := regexp.MustCompile(`^/trees/[^/]+/items|^/waves/[^/]+/attempts|^/git/[^/]+/objects`)
			err = filepath.WalkDir(engine.State, func(path string, d fs.DirEntry, err error) error {
				if err != nil || theirs.MatchString(path[len(engine.State):]) || !d.Type().IsRegular() {
					return err
				}
				all[path], err = os.ReadFile(path)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			for place, text := range all {
				for _, secret := range []string{known, shaped, modelserver.Key} {
					if bytes.Contains(text, []byte(secret)) {
						t.Errorf("%s… is in %s", secret[:4], place)
					}
				}
				told += bytes.Count(text, []byte("with "+control)) + bytes.Count(text, []byte("Done: "+control))
			}
			if told < 3 {
				t.Errorf("what was said is found %d times, so nobody knows what else was not", told)
			}
		})
	}
}
