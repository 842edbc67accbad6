package scan

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"aesop/internal/git"
)

// PushedRef is one line of what git tells a pre-push hook.
type PushedRef struct {
	Local    string // as it was named; "(delete)" for a ref that goes
	LocalID  string // all zeros for a ref that goes
	Remote   string // full name
	RemoteID string // all zeros for a ref that is new
}

// Deleted says that the remote's ref goes.
func (p PushedRef) Deleted() bool { return zero(p.LocalID) }

// New says that the remote has no such ref yet.
func (p PushedRef) New() bool { return zero(p.RemoteID) }

func zero(id git.SHA) bool { return strings.Trim(id, "0") == "" }

// ParsePush reads the lines that git gives a pre-push hook on standard input. No line at all is no error: git has nothing to push then. A
// line that is not understood is an *Error, malformed_push.
func ParsePush(from io.Reader) ([]PushedRef, error) {
	var refs []PushedRef
	for in := bufio.NewReader(from); ; {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return refs, nil
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("refs of the push: %w", err)
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		n := len(fields) // the first is as a person wrote it, and can have spaces
		if err == io.EOF || n < 4 || !git.IsSHA(fields[n-3]) || !git.IsSHA(fields[n-1]) || !strings.HasPrefix(fields[n-2], "refs/") {
			return nil, &Error{Code: "malformed_push", Message: fmt.Sprintf("ref %d of the push is not what git writes", len(refs)+1),
				Hint: "each line is: local ref, local id, remote ref, remote id"}
		}
		refs = append(refs, PushedRef{strings.Join(fields[:n-3], " "), fields[n-3], fields[n-2], fields[n-1]})
	}
}

// Push scans everything that a push adds to a remote: refs is what git gives a pre-push hook on standard input, remote what it names the
// remote, a name or a URL ("" where that is not known). For a ref that the remote has, that is what it does not reach. For a new one it is
// what none of this remote's remote-tracking branches reaches, all of it where there is none, and at least the tip itself.
func (s *Scanner) Push(ctx context.Context, remote string, refs io.Reader) (*Result, error) {
	pushed, err := ParsePush(refs)
	if err != nil {
		return nil, err
	}
	return s.scan(ctx, "push", false, func(r *run) error {
		var locals, theirs []git.SHA
		for _, p := range pushed {
			if !p.Deleted() {
				locals = append(locals, p.LocalID)
			}
			if !p.New() {
				theirs = append(theirs, p.RemoteID)
			}
		}
		if locals == nil {
			return nil
		}
		own, err := r.filesAt(ctx, locals...)
		if err != nil {
			return err
		}
		if err := r.govern(ctx, own...); err != nil {
			return err
		}
		return r.pushed(ctx, remote, pushed, theirs)
	})
}

// pushed scans the refs of a push to a remote that has theirs.
func (r *run) pushed(ctx context.Context, remote string, refs []PushedRef, theirs []git.SHA) error {
	var moved, fresh []git.SHA
	for _, p := range refs {
		if p.Deleted() {
			continue
		}
		if err := r.name(InRef, p.Remote, ""); err != nil {
			return err
		}
		tip, err := r.tip(ctx, p.Remote, p.LocalID)
		if err != nil {
			return fmt.Errorf("%s: %w", r.shown(p.Remote), err)
		}
		known, err := r.here(p.RemoteID)
		switch {
		case err != nil:
			return err
		case tip == "": // all of it is scanned
		case len(known) > 0:
			moved = append(moved, tip)
		default: // new, or at something that is not here
			fresh = append(fresh, tip)
		}
	}
	tracked, err := r.tracking(ctx, remote)
	if err != nil {
		return err
	}
	if err := r.commits(ctx, moved, theirs); err != nil {
		return err
	}
	if err := r.commits(ctx, fresh, append(tracked, theirs...)); err != nil {
		return err
	}
	return r.each(ctx, fresh)
}
