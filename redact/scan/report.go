package scan

import "aesop/redact"

// report decides what a spot means at a place, and keeps it.
func (r *run) report(f Finding, s spot) {
	f.Severity, f.Rule = s.Severity, s.Rule
	f.Line, f.Column, f.Length = s.line, s.column, s.End-s.Start
	f.Fingerprint, f.Checked = s.fingerprint, s.Checked
	f.Status, f.Note = Fatal, ""
	if s.Severity >= redact.Low {
		f.Status = Warning
	}
	if f.Place == InContent && f.Status == Fatal {
		f.Status, f.Note = r.law.judge(subject{f.Path, f.Rule, f.SHA256}, r.Now())
	}
	f.Path, f.Note = r.shown(f.Path), r.shown(f.Note)
	r.result.Findings = append(r.result.Findings, f)
}

// warnOfName reports a name that files with credentials have.
func (r *run) warnOfName(name, commit string) {
	r.result.Findings = append(r.result.Findings, Finding{Status: Warning, Severity: redact.Low, Rule: nameRule, Place: InName,
		Path: r.shown(name), Commit: commit, Note: "files of such names hold credentials as a rule"})
}
