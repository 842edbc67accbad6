// Package hook is a pre-push hook for git: it refuses a push that has a secret in it, or that goes to a protected branch, and writes what
// it decided to an audit log whose entries are chained.
//
//	installed, err := hook.Install(ctx, ".", hook.Settings{Binary: binary, Command: []string{"hook", "run"}})
//	report, err := hook.Verify(ctx, ".") // tries it in a repository of its own
//
// The script that git runs calls the binary, which calls Run and prints Allowed if that allows the push. Whatever else happens refuses it:
// no binary, one that ends well without a word, input that is not understood, a scan or an entry of the log that cannot be done.
//
// A hook is there to help who pushes. Git has an option to pass it by, and who can write to the repository can remove it: what must not
// arrive has to be refused where it arrives.
package hook

import (
	"context"
	"errors"
	"fmt"

	"aesop/internal/git"
)

// SchemaVersion is that of a Report and of an AuditReport as JSON.
const SchemaVersion = 1

// Error says why a hook could not be installed or looked at.
type Error struct {
	// Code is a stable word: not_a_repository, foreign_hook, changed_hook, symlink, not_a_file, hooks_in_work_tree, binary, protect,
	// settings, not_executable, state_inside.
	Code    string
	Message string
	Hint    string // what to do next
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Hint)
}

// open finds the repository of a folder.
func open(ctx context.Context, dir string) (*git.User, error) {
	program, err := git.Find(ctx)
	if err != nil {
		return nil, err
	}
	user, err := program.OpenUser(ctx, dir)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, &Error{Code: "not_a_repository", Message: err.Error()}
	}
	return user, err
}
