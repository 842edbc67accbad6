package cost_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/cost"
)

// memory is Marks that can fail.
type memory struct {
	mu        sync.Mutex
	marked    map[string]bool
	failRead  error
	failWrite error
}

func (m *memory) Marked(_ context.Context, key string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marked[key], m.failRead
}

func (m *memory) Mark(_ context.Context, key string, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failWrite == nil {
		m.marked[key] = true
	}
	return m.failWrite
}

// sink collects alerts as kind, measure and threshold.
type sink struct {
	given []string
	fail  error
}

func (s *sink) Alert(_ context.Context, a cost.Alert) error {
	if s.fail == nil {
		s.given = append(s.given, fmt.Sprint(a.Kind, " ", a.Measure, " ", a.Threshold))
	}
	return s.fail
}

func tokensOf(n int64) cost.Amount { return cost.Amount{Tokens: n} }

func states(results []cost.AlertResult) string {
	var all []string
	for _, r := range results {
		all = append(all, fmt.Sprint(r.Kind, " ", r.Measure, " ", r.Threshold, " ", r.State))
	}
	return strings.Join(all, ", ")
}

func TestAlerts(t *testing.T) {
	forecast := func(middle int64) *cost.Projection {
		return &cost.Projection{Tokens: &cost.Forecast[int64]{Middle: middle, High: 1 << 40}}
	}
	to, marks := &sink{}, &memory{marked: map[string]bool{}}
	alerts := cost.Alerts{Sink: to, Marks: marks}
	limit := tokensOf(1000)
	broken := errors.New("broken")
	for n, step := range []struct {
		gauge           cost.Gauge
		sink, read, set error // what fails
		want            string
		given           int
	}{
		{cost.Gauge{Spent: tokensOf(699), Ceiling: limit}, nil, nil, nil, "", 0},
		{cost.Gauge{Spent: tokensOf(700), Ceiling: limit}, broken, nil, nil, "spend tokens 70 failed", 0},
		{cost.Gauge{Spent: tokensOf(700), Ceiling: limit}, nil, nil, nil, "spend tokens 70 fired", 1},
		{cost.Gauge{Spent: tokensOf(700), Ceiling: limit}, nil, nil, nil, "spend tokens 70 already", 0},
		{cost.Gauge{Spent: tokensOf(1000), Ceiling: limit}, nil, nil, broken, "spend tokens 70 already, spend tokens 90 fired, spend tokens 100 fired", 2},
		{cost.Gauge{Spent: tokensOf(5000), Ceiling: limit}, nil, nil, nil, "spend tokens 70 already, spend tokens 90 fired, spend tokens 100 fired", 2},
		{cost.Gauge{Spent: tokensOf(10), Ceiling: limit}, nil, nil, nil, "", 0},
		{cost.Gauge{Spent: tokensOf(10), Ceiling: limit, Projection: forecast(900)}, nil, nil, nil, "projection tokens 70 fired, projection tokens 90 fired", 2},
		{cost.Gauge{Spent: tokensOf(10), Ceiling: limit, Projection: &cost.Projection{State: cost.Insufficient}}, nil, nil, nil, "", 0},
		{cost.Gauge{Spent: tokensOf(10), Projection: forecast(900)}, nil, nil, nil, "", 0},
		{cost.Gauge{Wave: "w2", Spent: tokensOf(700), Ceiling: limit}, nil, broken, nil, "spend tokens 70 fired", 1},
		{cost.Gauge{Wave: "w2", Spent: tokensOf(700), Ceiling: limit}, nil, broken, nil, "spend tokens 70 fired", 1}, // it cannot tell
		{cost.Gauge{Wave: "w2", Limit: "day", Spent: tokensOf(700), Ceiling: limit}, nil, nil, nil, "spend tokens 70 fired", 1},
		{cost.Gauge{Wave: "w2", Spent: cost.Amount{Tokens: 700, Money: 9 * cost.Dollar}, Ceiling: cost.Amount{Tokens: 1000, Money: 10 * cost.Dollar}}, nil, nil, nil,
			"spend tokens 70 already, spend usd 70 fired, spend usd 90 fired", 2},
		{cost.Gauge{Wave: "w3", Spent: tokensOf(1<<63 - 1), Ceiling: tokensOf(1<<63 - 1)}, nil, nil, nil, "spend tokens 70 fired, spend tokens 90 fired, spend tokens 100 fired", 3},
	} {
		to.given, to.fail, marks.failRead, marks.failWrite = nil, step.sink, step.read, step.set
		results, err := alerts.Check(t.Context(), step.gauge)
		if got := states(results); got != step.want || len(to.given) != step.given {
			t.Errorf("%d: %s, given %q; want %s", n, got, to.given, step.want)
		}
		failing := step.sink != nil || step.read != nil || step.set != nil
		if failing != errors.Is(err, broken) {
			t.Errorf("%d: error is %v", n, err)
		}
		for _, r := range results {
			if wantError := failing && r.State != cost.Already; wantError != (r.Error != "") {
				t.Errorf("%d: %+v", n, r)
			}
		}
	}
}

func TestThresholds(t *testing.T) {
	to := &sink{}
	alerts := cost.Alerts{Thresholds: []int{50, 150}, Sink: to, Marks: &memory{marked: map[string]bool{}}}
	for spent, want := range map[int64]string{49: "", 50: "spend tokens 50 fired", 149: "spend tokens 50 already", 150: "spend tokens 50 already, spend tokens 150 fired"} {
		alerts.Marks = &memory{marked: map[string]bool{}}
		if strings.Contains(want, "already") {
			_, _ = alerts.Check(t.Context(), cost.Gauge{Spent: tokensOf(50), Ceiling: tokensOf(100)})
		}
		if results, err := alerts.Check(t.Context(), cost.Gauge{Spent: tokensOf(spent), Ceiling: tokensOf(100)}); err != nil || states(results) != want {
			t.Errorf("%d: %s, %v", spent, states(results), err)
		}
	}
	alerts.Thresholds = []int{}
	if results, err := alerts.Check(t.Context(), cost.Gauge{Spent: tokensOf(100), Ceiling: tokensOf(100)}); err != nil || len(results) != 0 {
		t.Errorf("no thresholds: %v, %v", results, err)
	}
}

// TestKeysDoNotMeet: no names of waves and limits make the key of another alert.
func TestKeysDoNotMeet(t *testing.T) {
	seen := map[string]cost.Alert{}
	for _, wave := range []string{"", "a", "a/b", "a%2Fb"} {
		for _, limit := range []string{"", "b", "a", "b/tokens"} {
			for _, measure := range []cost.Measure{cost.InTokens, cost.InMoney} {
				for _, kind := range []cost.AlertKind{cost.SpendAlert, cost.ProjectionAlert} {
					a := cost.Alert{Wave: wave, Limit: limit, Measure: measure, Kind: kind, Threshold: 70}
					if other, twice := seen[a.Key()]; twice {
						t.Errorf("%+v has the key of %+v", a, other)
					}
					seen[a.Key()] = a
				}
			}
		}
	}
}

const alertFileVariable = "AESOP_TEST_ALERT_FILE"

const alertsOfAProcess = 20

// TestMain makes this binary a writer of alerts when a test runs it again.
func TestMain(m *testing.M) {
	path := os.Getenv(alertFileVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	for n := range alertsOfAProcess {
		a := cost.Alert{At: noon(), Wave: fmt.Sprint(os.Getpid(), "/", n), Limit: strings.Repeat("long", 500)}
		if err := cost.AlertFile(path).Alert(context.Background(), a); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(0)
}

func TestProcessesWriteToOneAlertFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alerts.jsonl")
	if err := os.WriteFile(path, []byte(`{"torn`), 0o600); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env, cmd.Stderr = append(os.Environ(), alertFileVariable+"="+path), os.Stderr
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]int{}
	torn := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var a struct {
			SchemaVersion int
			cost.Alert
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			torn += min(1, len(lines.Bytes()))
			continue
		}
		if a.SchemaVersion != 1 {
			t.Errorf("line %s", lines.Text())
		}
		seen[a.Wave]++
	}
	for wave, times := range seen {
		if times != 1 {
			t.Errorf("%s is there %d times", wave, times)
		}
	}
	if len(seen) != 4*alertsOfAProcess || torn != 1 {
		t.Errorf("%d alerts and %d torn lines", len(seen), torn)
	}
}

func TestAlertFileThatCannotBeWritten(t *testing.T) {
	if err := cost.AlertFile(t.TempDir()).Alert(t.Context(), cost.Alert{}); err == nil {
		t.Error("a folder was written to")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "alerts.jsonl")
	if err := cost.AlertFile(path).Alert(ended, cost.Alert{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was made though nobody waits")
	}
}
