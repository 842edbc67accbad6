package wave

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// ReportPath is where the report of a wave is, below a state directory.
func ReportPath(state, wave string) string { return filepath.Join(state, "waves", wave, "report.json") }

func (r *run) writeReport(report Report) error {
	data, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	data = r.s.config.Redactor.JSON(data)
	path := ReportPath(r.s.config.State, r.id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := maybe.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fail("report")
	return nil
}

// cleanUp removes the trees of a finished wave that are not parked.
func (r *run) cleanUp() {
	wave := r.journal.Wave()
	parked := false
	for _, id := range wave.Order {
		for _, a := range wave.Items[id].Attempts {
			parked = parked || a.Ended != nil && a.Ended.Parked != ""
		}
	}
	r.cleanBeside()
	if !parked {
		r.discard(filepath.Join(r.s.config.State, "trees", r.id))
	}
}

// cleanBeside removes what a wave keeps beside its trees: caches, and what is carried. What resists is left for prune.
func (r *run) cleanBeside() {
	kept, _ := pathsIn(filepath.Join(r.s.config.State, "trees"), r.id+".", "")
	for _, dir := range kept {
		r.discard(dir)
	}
}
