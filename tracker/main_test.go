package tracker_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/tracker"
	"aesop/tracker/trackertest"
)

// TestMain plays the part of another process when a test runs this binary again.
func TestMain(m *testing.M) {
	if part := os.Getenv(childPart); part != "" {
		os.Exit(playChild(part))
	}
	goleak.VerifyTestMain(m)
}

// jsonItem is an item as a program other than ours would write it.
type jsonItem struct {
	ID           string     `json:"id"`
	Slug         string     `json:"slug"`
	Title        string     `json:"title,omitempty"`
	Status       string     `json:"status,omitempty"`
	StatusReason string     `json:"statusReason,omitempty"`
	Priority     string     `json:"priority,omitempty"`
	CreatedAt    time.Time  `json:"createdAt,omitzero"`
	OwnsFiles    []string   `json:"ownsFiles,omitempty"`
	Prompt       string     `json:"prompt,omitempty"`
	TestCmd      any        `json:"testCmd,omitempty"`
	DependsOn    []string   `json:"dependsOn,omitempty"`
	Attempts     int        `json:"attempts,omitempty"`
	Epoch        int        `json:"epoch,omitempty"`
	Claim        *jsonClaim `json:"claim,omitempty"`
	Shipped      *jsonShip  `json:"shipped,omitempty"`
}

type jsonClaim struct {
	Wave       string    `json:"wave"`
	Owner      string    `json:"owner"`
	Attempt    string    `json:"attempt"`
	LeaseUntil time.Time `json:"leaseUntil"`
}

type jsonShip struct {
	Wave   string `json:"wave"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

func encode(t testing.TB, items ...tracker.Item) []byte {
	t.Helper()
	list := make([]jsonItem, len(items))
	for i, item := range items {
		list[i] = jsonItem{
			ID: item.ID, Slug: item.Slug, Title: item.Title, Status: string(item.Status), StatusReason: item.StatusReason,
			Priority: item.Priority, CreatedAt: item.CreatedAt, OwnsFiles: item.OwnsFiles, Prompt: item.Prompt,
			TestCmd: item.TestCmd.Shell, DependsOn: item.DependsOn, Attempts: item.Attempts, Epoch: item.Epoch,
			Claim: (*jsonClaim)(item.Claim), Shipped: (*jsonShip)(item.Shipped),
		}
		if item.TestCmd.Argv != nil {
			list[i].TestCmd = item.TestCmd.Argv
		}
	}
	data, err := json.MarshalIndent(map[string]any{"items": list}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// openAt opens the backlog tracker.json in dir.
func openAt(t testing.TB, dir string, clock func() time.Time) *tracker.File {
	t.Helper()
	f, err := tracker.OpenFile(tracker.FileConfig{
		Path: filepath.Join(dir, "tracker.json"), LockDir: filepath.Join(dir, "locks"), Clock: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileKeepsTheContract(t *testing.T) {
	trackertest.Run(t, func(t *testing.T, clock *trackertest.Clock, items ...tracker.Item) tracker.Tracker {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "tracker.json"), encode(t, items...))
		return openAt(t, dir, clock.Now)
	})
}
