package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"aesop/internal/git"
)

// law is what holds in a scan beside the built-in rules.
type law struct {
	exemptions map[subject]exemption
	approvals  map[subject]Approval
}

// judge says what a finding means that would be fatal.
func (l law) judge(s subject, now time.Time) (Status, string) {
	note := ""
	if e, ok := l.exemptions[s]; ok {
		if now.Before(e.expires) {
			return e.status, e.reason
		}
		note = "its exemption expired on " + e.expires.AddDate(0, 0, -1).Format(dateLayout)
	}
	if a, ok := l.approvals[s]; ok {
		if now.Before(a.Expires) {
			return ApprovedByUser, a.Reason
		}
		note = "its approval expired on " + a.Expires.Format(dateLayout)
	}
	return Fatal, note
}

// govern finds out what holds: the file of the protected branch, with what the files of what is scanned add to it, and without the
// exemptions that any of them has not.
func (r *run) govern(ctx context.Context, own ...file) error {
	var protected git.SHA
	if !r.BuiltIn {
		var err error
		if protected, err = r.protected(ctx); err != nil {
			return err
		}
	}
	return r.governBy(ctx, protected, own...)
}

// governBy is govern with a commit in the place of the protected branch; "": there is none.
func (r *run) governBy(ctx context.Context, protected git.SHA, own ...file) error {
	if r.BuiltIn {
		return r.enact(file{}, own)
	}
	r.result.Protected = protected
	var upper file
	var err error
	if protected != "" {
		if upper, err = r.fileAt(ctx, protected); err != nil {
			return err
		}
	}
	if r.State != "" {
		if err := r.stateIsOutside(); err != nil {
			return err
		}
		if r.law.approvals, err = readApprovals(r.State); err != nil {
			return err
		}
	}
	return r.enact(upper, own)
}

// stateIsOutside refuses approvals that a branch could bring.
func (r *run) stateIsOutside() error {
	if r.user != nil && r.user.Holds(r.State) {
		return &Error{Code: "state_inside", Message: fmt.Sprintf("the state folder %s is in the repository, so a branch could bring approvals", r.State),
			Hint: "name one outside of it"}
	}
	return nil
}

// protected is the commit of the remote-tracking protected branch.
func (r *run) protected(ctx context.Context) (git.SHA, error) {
	names := []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"}
	if r.Protected != "" {
		names = []string{r.Protected}
		if !strings.HasPrefix(r.Protected, "refs/") {
			names = []string{"refs/remotes/" + r.Protected}
		}
	}
	refs, err := r.objects.Refs(ctx, "")
	if err != nil {
		return "", err
	}
	for _, name := range names { // exactly: where there is no such ref, git would take a tag whose name ends so
		if at := slices.IndexFunc(refs, func(ref git.Ref) bool { return ref.Name == name }); at >= 0 {
			tip, err := r.objects.Object(refs[at].ID + "^{commit}")
			return tip.ID, err
		}
	}
	return "", &Error{Code: "no_protected_branch", Message: fmt.Sprintf("the protected branch is not here: there is no %s", strings.Join(names, ", ")),
		Hint: "git fetch brings it; name another remote-tracking branch, or use the built-in rules alone where there is no remote"}
}

// here are those of the ids whose objects are here and commits, or tags of one.
func (r *run) here(ids ...git.SHA) ([]git.SHA, error) {
	var known []git.SHA
	for _, id := range ids {
		object, err := r.objects.Object(cmp.Or(id, "-") + "^{commit}")
		switch {
		case err == nil:
			known = append(known, object.ID)
		case !errors.Is(err, git.ErrAbsent):
			return nil, err
		}
	}
	return known, nil
}
