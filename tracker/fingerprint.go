package tracker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Fingerprint is a hash of what an attempt at the item depends on. Status, claim, notes and the like do not change it, nor
// does the order of ownsFiles.
func (i Item) Fingerprint() string {
	text, _ := json.Marshal(struct { // strings only: cannot fail
		ID, Slug, Prompt              string
		OwnsFiles                     []string
		Shell                         string
		Argv                          []string
		WorkDir, Repo                 string
		DependsOn, AcceptanceCriteria []string
		Model                         string
	}{
		i.ID, i.Slug, i.Prompt, slices.Sorted(slices.Values(i.OwnsFiles)), i.TestCmd.Shell, i.TestCmd.Argv,
		i.WorkDir, i.Repo, i.DependsOn, i.AcceptanceCriteria, i.Model,
	})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
