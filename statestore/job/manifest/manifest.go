// Package manifest is how an agent that is done says so, and how whoever hears it finds out what holds.
//
// The agent writes its report and calls Finalize, which puts two files into the folder of its attempt (AESOP_ATTEMPT_DIR): the report
// under a fixed name, and only once that is on disk, a manifest with the report's size and hash and a list of what the agent says it
// did elsewhere, its side effects:
//
//	m, err := manifest.Finalize(ctx, manifest.Draft{Dir: attemptDir, Staged: "report.new", Job: job, Attempt: attempt,
//		SideEffects: []manifest.SideEffect{{Kind: manifest.File, Ref: "out/notes.md"}}})
//
// Who judges the attempt believes none of it. Read measures and hashes the report itself; any rewrite voids the manifest until the report
// is finalised again. Prove then opens every side effect with a Resolver that the judge set up:
//
//	v, err := manifest.Read(ctx, attemptDir, manifest.Want{Job: job, Attempt: attempt})
//	switch {
//	case errors.Is(err, manifest.ErrNone): // not finished yet
//	case errors.Is(err, manifest.ErrVoid): // the report is not the one that was declared
//	case err != nil: // ErrDamaged, ErrOther, or nobody could look
//	}
//	proof := manifest.Prove(ctx, v, manifest.Resolvers{manifest.File: manifest.Files{Root: tree}})
//
// The files are an agent's, so that a reader expects anything: links, fifos and devices, huge files, files that change while they are read.
// It never blocks on one, holds at most a few megabytes, and follows no path that the manifest names.
//
// What holds, holds for the moment of the look. That a report says true things is nobody's promise here.
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// The names of the two files in the folder of an attempt.
const (
	Name       = "manifest.json"
	ReportName = "report"
)

// SchemaVersion is the only version of the format that there is.
const SchemaVersion = 1

// Bounds of what is read and written. MaxReport and MaxManifest are bytes.
const (
	MaxReport      = 64 << 20
	MaxManifest    = 2 << 20
	MaxSideEffects = 100
	maxText        = 4096 // bytes of a name, a reference or a path
)

// Kinds of side effects that this package has a Resolver for. Adopters add their own.
const (
	File    = "file"    // Files
	Commit  = "commit"  // Commits
	URL     = "url"     // URLs
	Command = "command" // Commands
)

// SideEffect is something that an agent says it did outside of its report.
type SideEffect struct {
	Kind string `json:"kind"`
	Ref  string `json:"ref"` // what to look at, in the words of the kind's Resolver; never empty
}

// Manifest is what the file says: a declaration, of which nothing is proven.
type Manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	Job           string       `json:"job"`
	Attempt       string       `json:"attempt"`
	Session       string       `json:"session"` // of the agent's program; "" where it has none
	Report        string       `json:"report"`  // absolute path
	SHA256        string       `json:"sha256"`  // of the report, 64 digits of lower-case hex
	Size          int64        `json:"size"`    // of the report, in bytes
	FinalizedAt   time.Time    `json:"finalizedAt"`
	SideEffects   []SideEffect `json:"sideEffects"`
}

func (m Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(m)
	return b.Bytes(), err
}

// defect says what is wrong with a text of a manifest, or "".
func defect(text string) string {
	switch {
	case text == "":
		return "is empty"
	case len(text) > maxText:
		return fmt.Sprintf("has more than %d bytes", maxText)
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return "has a control character"
		}
	}
	return ""
}
