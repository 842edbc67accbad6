//go:build unix

package price_test

import (
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/driver/drivertest/modelserver"
	"aesop/internal/agentproc/agenttest"
)

// TestRealClaude compares the embedded rows of Claude's models with what claude itself says that calls cost, by its own list
// of prices, where it is installed: each class of tokens alone, all together, and around the size at which a prompt is
// dearer.
func TestRealClaude(t *testing.T) {
	program := agenttest.Installed(t, "claude")
	m := func(n int64) int64 { return n * 1_000_000 }
	usages := map[string]cost.Usage{
		"input": {Input: m(1)}, "read": {CacheRead: m(1)}, "write 5m": {CacheWrite5m: m(1)}, "write 1h": {CacheWrite1h: m(1)}, "output": {Output: m(1)},
		"all":      {Input: 1003, CacheRead: 30011, CacheWrite5m: 501, CacheWrite1h: 207, Output: 4321, Reasoning: 1000},
		"at 100k":  {Input: 60_000, CacheRead: 30_000, CacheWrite5m: 6_000, CacheWrite1h: 4_000, Output: 999},
		"over100k": {Input: 60_001, CacheRead: 30_000, CacheWrite5m: 6_000, CacheWrite1h: 4_000, Output: 999},
	}
	table := price.Default()
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	newest := []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-2"}
	models := []string{"opus", "sonnet", "haiku", "fable"}
	for _, r := range table.Rates() {
		if strings.HasPrefix(r.Model, "claude-") {
			models = append(models, r.Model)
		}
	}
	server := modelserver.New()
	t.Cleanup(server.Close)
	for name, usage := range usages {
		usage.Metered = true
		usages[name] = usage
		server.Talk("case "+name+".", modelserver.Step{Text: "done", Usage: usage})
	}
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for name, usage := range usages {
				if !slices.Contains(newest, model) && name != "over100k" {
					continue // a call that has all classes tells as much of the others
				}
				command := exec.CommandContext(t.Context(), program, "-p", "--bare", "--tools", "", "--output-format=json", "--model="+model)
				command.Dir, command.Stdin = home, strings.NewReader("case "+name+".")
				command.Env = append(server.Claude(), "PATH="+os.Getenv("PATH"), "HOME="+home, "DISABLE_AUTOUPDATER=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=0")
				text, err := command.Output()
				if err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				var said struct {
					Total      json.Number `json:"total_cost_usd"`
					ModelUsage map[string]struct {
						CostUSD   json.Number `json:"costUSD"`
						CostBasis string      `json:"costBasis"`
					} `json:"modelUsage"`
					Usage json.RawMessage `json:"usage"`
				}
				if err := json.Unmarshal(text, &said); err != nil || len(said.ModelUsage) != 1 {
					t.Fatalf("%v: %s", err, text)
				}
				for answered, of := range said.ModelUsage {
					call := cost.Call{Usage: usage, At: now}
					call.Usage.Model = answered
					if of.CostBasis != "list" {
						t.Fatalf("claude does not know %s: %s", answered, of.CostBasis)
					}
					if err := table.Charge(&call); err != nil {
						t.Fatal(err)
					}
					if r, _ := table.Price(model, now); r.Model != answered {
						t.Errorf("%s is %s here, and claude asked %s", model, r.Model, answered)
					}
					if want := nano(t, of.CostUSD); *call.Cost != want || nano(t, said.Total) != want {
						t.Errorf("%s, %s: %s, and claude says %s", answered, name, call.Cost, want)
					}
					if read, err := cost.Anthropic(answered, said.Usage); err != nil || read != call.Usage {
						t.Errorf("%s: its usage is read as %+v, %v", name, read, err)
					}
				}
			}
		})
	}
}

// nano rounds a decimal number of dollars to the nano-dollar.
func nano(t *testing.T, number json.Number) cost.Money {
	t.Helper()
	dollars, ok := new(big.Rat).SetString(number.String())
	if !ok {
		t.Fatalf("%q is no number", number)
	}
	money, err := cost.ParseMoney(dollars.FloatString(9))
	if err != nil {
		t.Fatal(err)
	}
	return money
}
