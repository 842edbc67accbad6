package hook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Code is the kind of a problem of an audit log.
type Code string

// Codes. The first two are what a crash can leave, and the next append puts in order.
const (
	TornLine       Code = "torn_line"       // the last line has no end
	AnchorBehind   Code = "anchor_behind"   // the last line is not in the anchor yet
	LogMissing     Code = "log_missing"     // there is an anchor, and no log
	AnchorMissing  Code = "anchor_missing"  // there is a log, and no anchor
	AnchorDamaged  Code = "anchor_damaged"  // it is not readable
	LineDamaged    Code = "line_damaged"    // it is no entry
	SeqMismatch    Code = "seq_mismatch"    // an entry's number is not the next
	HashMismatch   Code = "hash_mismatch"   // an entry does not follow from the line before
	LogTruncated   Code = "truncated"       // the anchor says that there were more entries
	AnchorMismatch Code = "anchor_mismatch" // the log does not end as the anchor says
)

// Problem is one difference between an audit log and what was written.
type Problem struct {
	Line    int64  `json:"line"` // 1-based; 0: the log as a whole
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// AuditReport says what a check of the audit log found.
type AuditReport struct {
	SchemaVersion int       `json:"schemaVersion"`
	Outcome       string    `json:"outcome"` // good, or problems
	Path          string    `json:"path"`
	Entries       int64     `json:"entries"`
	Head          Head      `json:"head"`     // of the log as it is; kept elsewhere, it shows a log that was written anew as a whole
	Problems      []Problem `json:"problems"` // never null
}

// Check reads the whole log and compares it with its anchor. It changes nothing but lock files. A log that was never begun is good.
func (l *Log) Check(ctx context.Context) (report AuditReport, err error) {
	report = AuditReport{SchemaVersion: SchemaVersion, Outcome: "good", Path: l.Path(), Head: Head{0, Genesis}, Problems: []Problem{}}
	if _, err := os.Stat(l.dir); errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	unlock, err := l.lock.Lock(ctx)
	if err != nil {
		return report, fmt.Errorf("audit log %s: %w", l.Path(), err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return report, fmt.Errorf("audit log: %w", err)
	}
	defer root.Close()
	logged, err := report.read(root)
	if err == nil {
		err = report.compare(root, logged)
	}
	if err != nil {
		return report, fmt.Errorf("audit log %s: %w", l.Path(), err)
	}
	if len(report.Problems) > 0 {
		report.Outcome = "problems"
	}
	return report, nil
}

func (r *AuditReport) problem(line int64, code Code, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{line, code, fmt.Sprintf(format, args...)})
}

// logged is what the anchor is compared with.
type logged struct {
	present  bool
	previous string // of the last entry
}

func (r *AuditReport) read(root *os.Root) (l logged, err error) {
	file, err := root.Open(logName)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer file.Close()
	l.present = true
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			if len(line) > 0 {
				r.problem(r.Entries+1, TornLine, "the last line has no end; the next entry takes its place")
			}
			return l, nil
		}
		if err != nil {
			return l, err
		}
		line = line[:len(line)-1]
		r.Entries++
		var e Entry
		if err := strict(line, &e); err != nil {
			r.problem(r.Entries, LineDamaged, "it is no entry: %v", err)
			e.Seq = r.Head.Seq + 1
		} else {
			if e.Seq != r.Head.Seq+1 {
				r.problem(r.Entries, SeqMismatch, "it is entry %d, and %d should come", e.Seq, r.Head.Seq+1)
			}
			if e.PrevHash != r.Head.Hash {
				r.problem(r.Entries, HashMismatch, "it does not follow from the line before")
			}
		}
		l.previous = e.PrevHash
		r.Head = Head{e.Seq, digest(line)}
	}
}

func (r *AuditReport) compare(root *os.Root, l logged) error {
	anchor, found, err := readAnchor(root)
	switch behind := r.Head.Seq == anchor.Seq+1 && l.previous == anchor.Hash; {
	case errors.Is(err, ErrDamaged):
		r.problem(0, AnchorDamaged, "%v", err)
	case err != nil:
		return err
	case found && !l.present && anchor.Seq > 0:
		r.problem(0, LogMissing, "the anchor says that there were %d entries", anchor.Seq)
	case !found && l.present:
		r.problem(0, AnchorMissing, "nothing says how many entries there were")
	case r.Head == anchor:
	case behind:
		r.problem(r.Entries, AnchorBehind, "the anchor does not have it yet")
	case r.Head.Seq < anchor.Seq:
		r.problem(0, LogTruncated, "it ends with entry %d, and there were %d", r.Head.Seq, anchor.Seq)
	default:
		r.problem(0, AnchorMismatch, "it ends with entry %d as the anchor does not know it", r.Head.Seq)
	}
	return nil
}
