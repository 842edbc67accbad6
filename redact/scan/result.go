package scan

import "aesop/redact"

// SchemaVersion is that of a Result as JSON, and of aesop-scan.json.
const SchemaVersion = 1

// Outcome is what a scan says in one word.
type Outcome string

// Outcomes.
const (
	Clean   Outcome = "clean"   // nothing fatal
	Nothing Outcome = "nothing" // there was nothing to look at
	Found   Outcome = "found"   // at least one fatal finding
)

// Status is what a finding means.
type Status string

// Statuses. Only Fatal makes a scan Found.
const (
	Fatal          Status = "fatal"
	Warning        Status = "warning"                  // a name of the kind that files with secrets have, or personal data
	AllowedSource  Status = "allowed_redaction_source" // exempt: content that tests or defines redaction
	AllowedDoc     Status = "allowed_doc"              // exempt: documentation
	ApprovedByUser Status = "approved_by_user"         // by the user of this machine
)

// Place says which text a finding is in.
type Place string

// Places. The usual headers of commits and tags go by their own names: author, committer, tagger, tag, encoding, gpgsig, mergetag.
const (
	InContent Place = "content"
	InName    Place = "name" // of the path, or the name alone
	InRef     Place = "ref"  // the name of a branch or tag
	InMessage Place = "message"
	InHeader  Place = "header" // another one
)

// Finding is one secret, or what looks like one, at one place.
type Finding struct {
	Status   Status          `json:"status"`
	Severity redact.Severity `json:"severity"`
	Rule     string          `json:"rule"`
	Place    Place           `json:"place"`
	Path     string          `json:"path"`   // slash-separated, or the name of a ref; without any secret in it; "" for texts of commits and tags
	Commit   string          `json:"commit"` // that adds it, or the object whose text it is in; "" where there is none yet
	Line     int             `json:"line"`   // 1-based; 0 for names
	Column   int             `json:"column"` // in characters, 1-based; 0 for names
	Length   int             `json:"length"` // bytes; 0 where only the name tells
	// Fingerprint is equal for equal secrets within one Result. Its key is drawn anew for each, and told nobody.
	Fingerprint string `json:"fingerprint"`
	SHA256      string `json:"sha256"`  // of the whole content, as exemptions name it; "" outside of contents
	Checked     bool   `json:"checked"` // the secret carries a checksum, and it is right
	Note        string `json:"note"`    // why the status is what it is, where that takes words
}

// Counts are of what was looked at, each thing once.
type Counts struct {
	Blobs   int   `json:"blobs"` // contents, or files where files are read
	Commits int   `json:"commits"`
	Tags    int   `json:"tags"` // annotated ones
	Names   int   `json:"names"`
	Bytes   int64 `json:"bytes"` // of contents
}

// Totals are counts of findings.
type Totals struct {
	Fatal         int `json:"fatal"`
	Warnings      int `json:"warnings"`
	AllowedSource int `json:"allowedRedactionSource"`
	AllowedDoc    int `json:"allowedDoc"`
	Approved      int `json:"approvedByUser"`
}

// Result is what a scan found.
type Result struct {
	SchemaVersion int       `json:"schemaVersion"`
	Mode          string    `json:"mode"` // staged, range, push, history, paths or added
	Outcome       Outcome   `json:"outcome"`
	Protected     string    `json:"protected"` // commit whose rules and exemptions hold; "": none
	Counts        Counts    `json:"counts"`
	Totals        Totals    `json:"totals"`
	Findings      []Finding `json:"findings"` // never null
}

func (r *Result) sum() {
	for _, f := range r.Findings {
		switch f.Status {
		case Fatal:
			r.Totals.Fatal++
		case Warning:
			r.Totals.Warnings++
		case AllowedSource:
			r.Totals.AllowedSource++
		case AllowedDoc:
			r.Totals.AllowedDoc++
		case ApprovedByUser:
			r.Totals.Approved++
		}
	}
	switch {
	case r.Totals.Fatal > 0:
		r.Outcome = Found
	case r.Counts.Blobs == 0 && r.Counts.Commits == 0 && r.Counts.Tags == 0:
		r.Outcome = Nothing
	default:
		r.Outcome = Clean
	}
}
