package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2/maybe"

	"aesop/internal/document"
	"aesop/internal/filelock"
)

const approvalsName = "scan-approvals.json"

// Approval says that the user of this machine accepts what one rule finds in one content at one path. It is kept in Config.State.
type Approval struct {
	Path       string    `json:"path"`
	Rule       string    `json:"rule"`
	SHA256     string    `json:"sha256"`
	Reason     string    `json:"reason"`
	ApprovedAt time.Time `json:"approvedAt"`
	Expires    time.Time `json:"expires"`
}

func (a Approval) subject() subject { return subject{a.Path, a.Rule, a.SHA256} }

type approvalsDocument struct {
	SchemaVersion int        `json:"schemaVersion"`
	Approvals     []Approval `json:"approvals"`
}

// addApproval keeps an approval, in the place of an older one of the same.
func addApproval(ctx context.Context, state string, a Approval) error {
	unlock, err := filelock.Lock(ctx, filepath.Join(state, "locks", "scan-approvals"))
	if err != nil {
		return err
	}
	d, err := loadApprovals(state)
	if err == nil {
		d.Approvals = slices.DeleteFunc(d.Approvals, func(old Approval) bool {
			return old.subject() == a.subject()
		})
		d.Approvals = append(d.Approvals, a)
		var text []byte
		if text, err = json.MarshalIndent(d, "", "  "); err == nil {
			err = maybe.WriteFile(filepath.Join(state, approvalsName), append(text, '\n'), 0o600)
		}
	}
	return errors.Join(err, unlock())
}

func loadApprovals(state string) (approvalsDocument, error) {
	d := approvalsDocument{SchemaVersion: SchemaVersion, Approvals: []Approval{}}
	name := filepath.Join(state, approvalsName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, &document.Error{Code: "syntax", File: name, Message: err.Error(), Hint: "remove it, and approve again what you still accept", Err: err}
	}
	if d.SchemaVersion != SchemaVersion {
		return d, &document.Error{Code: "schema_version", File: name, Message: fmt.Sprintf("schemaVersion is %d, and this program reads %d", d.SchemaVersion, SchemaVersion)}
	}
	return d, nil
}

func readApprovals(state string) (map[subject]Approval, error) {
	d, err := loadApprovals(state)
	all := map[subject]Approval{}
	for _, a := range d.Approvals {
		all[a.subject()] = a
	}
	return all, err
}
