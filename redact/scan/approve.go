package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aesop/internal/git"
)

// ApproveRequest says what to approve.
type ApproveRequest struct {
	Path    string // as findings have it
	Rule    string
	Reason  string
	At      string    // the commit that has the content; "": the index
	Expires time.Time // zero: in 90 days
}

const approvalLasts = 90 * 24 * time.Hour

// Approve accepts what a rule finds in the content that the index, or a commit, has at a path. A rule that finds nothing there cannot be
// approved: *Error, not_found. The error can be that of an unreadable file of approvals.
func (s *Scanner) Approve(ctx context.Context, q ApproveRequest) (Approval, error) {
	a := Approval{Path: q.Path, Rule: q.Rule, Reason: strings.TrimSpace(q.Reason), ApprovedAt: s.config.Now().UTC().Truncate(time.Second)}
	a.Expires = q.Expires.UTC()
	if q.Expires.IsZero() {
		a.Expires = a.ApprovedAt.Add(approvalLasts)
	}
	switch {
	case a.Reason == "":
		return a, &Error{Code: "usage", Message: "the reason is empty"}
	case !a.Expires.After(a.ApprovedAt):
		return a, &Error{Code: "usage", Message: "it would have expired already"}
	case s.config.State == "":
		return a, &Error{Code: "no_state", Message: "there is no folder to keep approvals in"}
	case s.config.BuiltIn:
		return a, &Error{Code: "usage", Message: "with the built-in rules alone no approval holds"}
	}
	_, err := s.scan(ctx, "approve", false, func(r *run) error {
		found, err := r.contentOf(ctx, q)
		if err != nil {
			return err
		}
		var rules []string
		if found != nil {
			a.SHA256 = found.sum
			for _, spot := range found.spots {
				rules = append(rules, spot.Rule)
			}
		}
		if !slices.Contains(rules, q.Rule) {
			slices.Sort(rules)
			return &Error{Code: "not_found", Message: fmt.Sprintf("rule %s finds nothing in %s", q.Rule, q.Path),
				Hint: "rules that do: " + cmp.Or(strings.Join(slices.Compact(rules), ", "), "none")}
		}
		return addApproval(ctx, s.config.State, a)
	})
	return a, err
}

// contentOf reads the content that a request is about.
func (r *run) contentOf(ctx context.Context, q ApproveRequest) (*content, error) {
	entries, err := r.objects.Index(ctx, r.Index)
	if err != nil {
		return nil, err
	}
	own, err := r.indexFiles(entries)
	if err != nil {
		return nil, err
	}
	if err := r.govern(ctx, own...); err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e git.Entry) bool { return e.Path != q.Path })
	if q.At != "" {
		commit, err := r.resolve(q.At, q.At, "^{commit}")
		if err != nil {
			return nil, err
		}
		e, ok, err := r.objects.Find(ctx, commit, q.Path)
		if err != nil {
			return nil, err
		}
		if entries = nil; ok {
			entries = []git.Entry{e}
		}
	}
	if len(entries) != 1 {
		return nil, &Error{Code: "no_index_entry", Message: fmt.Sprintf("git has no one file at %s", q.Path),
			Hint: "write the path as findings have it, and git add it or name the commit that has it"}
	}
	object, err := r.objects.Object(entries[0].Blob)
	if err != nil {
		return nil, err
	}
	return r.content(object, object.Size)
}
