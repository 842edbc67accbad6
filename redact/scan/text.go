package scan

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// WriteText writes a line a finding, and one that sums up.
//
//	CRITICAL config/app.txt:3:7 github-token (40 bytes, fingerprint 1a2b3c4d5e, commit 0123456789)
//	ALLOWED-DOC docs/tokens.md:9:12 github-token (40 bytes, fingerprint 5e4d3c2b1a; shows the shape)
//	FOUND: 1 secret (12 blobs, 3 commits scanned; 1 ALLOWED-DOC)
func (r *Result) WriteText(w io.Writer) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, r.Summary())
	return err
}

// String is a finding on one line.
func (f Finding) String() string {
	var about []string
	if f.Length > 0 {
		about = append(about, counted(f.Length, "byte"), "fingerprint "+f.Fingerprint)
	}
	if f.Commit != "" {
		about = append(about, "commit "+f.Commit[:min(len(f.Commit), 10)])
	}
	text := strings.Join(about, ", ")
	if f.Note != "" {
		text = strings.Trim(text+"; "+oneLine(f.Note), "; ")
	}
	return fmt.Sprintf("%s %s %s (%s)", f.label(), f.where(), f.Rule, text)
}

func (f Finding) label() string {
	switch f.Status {
	case Fatal:
		return strings.ToUpper(f.Severity.String())
	case Warning:
		return "WARN"
	}
	return strings.ToUpper(strings.ReplaceAll(string(f.Status), "_", "-"))
}

// where is the place of a finding in words.
func (f Finding) where() string {
	text := oneLine(f.Path)
	switch f.Place {
	case InContent:
	case InName:
		return text + " (its name)"
	case InRef:
		return text + " (the ref's name)"
	default:
		text = string(f.Place)
	}
	return fmt.Sprintf("%s:%d:%d", text, f.Line, f.Column)
}

// oneLine quotes a text that could break a line or reach a terminal as a command.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(text)
	}
	return text
}

// Summary is the outcome and what was looked at, on one line.
func (r *Result) Summary() string {
	word := "blob"
	if r.Mode == "paths" {
		word = "file"
	}
	looked := counted(r.Counts.Blobs, word)
	if r.Mode != "paths" && r.Mode != "staged" {
		looked += ", " + counted(r.Counts.Commits, "commit")
	}
	if r.Counts.Tags > 0 {
		looked += ", " + counted(r.Counts.Tags, "tag")
	}
	looked += " scanned"
	var others []string
	for _, t := range []struct {
		n    int
		word string
	}{{r.Totals.AllowedSource, "ALLOWED-REDACTION-SOURCE"}, {r.Totals.AllowedDoc, "ALLOWED-DOC"}, {r.Totals.Approved, "APPROVED-BY-USER"},
		{r.Totals.Warnings, "WARN"}} {
		if t.n > 0 {
			others = append(others, fmt.Sprintf("%d %s", t.n, t.word))
		}
	}
	beside := strings.Join(others, ", ")
	switch {
	case r.Outcome == Nothing:
		return "NOTHING to scan"
	case r.Outcome == Found && beside != "":
		return fmt.Sprintf("FOUND: %s (%s; %s)", counted(r.Totals.Fatal, "secret"), looked, beside)
	case r.Outcome == Found:
		return fmt.Sprintf("FOUND: %s (%s)", counted(r.Totals.Fatal, "secret"), looked)
	case beside != "":
		return fmt.Sprintf("CLEAN: %s (%s)", looked, beside)
	}
	return "CLEAN: " + looked
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
