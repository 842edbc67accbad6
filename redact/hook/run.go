package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"aesop/internal/git"
	"aesop/redact"
	"aesop/redact/scan"
)

// Allowed is what the binary prints, alone on a line of standard output, and with exit 0, to let a push pass.
const Allowed = "aesop: push allowed"

// Reason says why a push is allowed or refused.
type Reason string

// Reasons. The first three allow.
const (
	Clean           Reason = "clean"
	NothingToPush   Reason = "nothing_to_push" // git runs the hook also where everything is up to date
	DeleteOnly      Reason = "delete_only"
	ProtectedBranch Reason = "protected_branch"
	SecretFound     Reason = "secret_found"
	NotFromGit      Reason = "not_from_git" // standard input is nothing that git gives a hook
	MalformedPush   Reason = "malformed_push"
	NotEvaluated    Reason = "not_evaluated" // the scan, or what comes before it, could not be done
	AuditFailed     Reason = "audit_failed"  // there is no entry
)

// Decision is about one push.
type Decision struct {
	Allowed bool
	Reason  Reason
	Message string       // for people, of a refusal; without secrets
	Result  *scan.Result // nil where nothing was scanned
}

// Push is what git tells of a push, and where the hook belongs. Zero values mean the default.
type Push struct {
	Dir     string   // a folder of the repository; "": the current one
	GitDir  string   // the value of GIT_DIR, which git sets for hooks in some cases
	State   string   // folder of the audit log and of the user's approvals, outside of the repository
	Protect []string // patterns of protected branches; nil: DefaultProtect
	Remote  string   // the first argument of the hook
	Stdin   *os.File // as git gives it
	Now     func() time.Time
}

// Run decides about a push, and writes the decision to the audit log. What goes wrong refuses it.
func Run(ctx context.Context, p Push) Decision {
	if p.Dir == "" {
		p.Dir = "."
	}
	if p.Protect == nil {
		p.Protect = DefaultProtect()
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	r, err := redact.New(redact.Config{})
	if err != nil {
		return refuse(NotEvaluated, "%v", err)
	}
	repo, decision := p.decide(ctx)
	event := PushBlocked
	if decision.Allowed {
		event = PushAllowed
	}
	if ctx.Err() != nil {
		event, decision = PushBlocked, refuse(NotEvaluated, "%v", context.Cause(ctx))
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		ctx = late
	}
	if decision.Reason != AuditFailed {
		entry := Entry{At: p.Now(), Repo: r.String(repo), Event: event, Reason: string(decision.Reason), User: r.String(userName())}
		if err := OpenLog(p.State).Append(ctx, entry); err != nil {
			decision = refuse(AuditFailed, "%v", err)
		}
	}
	decision.Message = r.String(decision.Message)
	return decision
}

// grace is how long the entry about an interrupted push waits for others.
const grace = 5 * time.Second

func refuse(reason Reason, format string, args ...any) Decision {
	return Decision{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// decide also says which repository it is, as far as that is known.
func (p Push) decide(ctx context.Context) (repo string, d Decision) {
	repo, err := filepath.Abs(p.Dir)
	if err != nil {
		return p.Dir, refuse(NotEvaluated, "%v", err)
	}
	text, err := read(p.Stdin)
	if err != nil {
		return repo, refuse(NotFromGit, "%v", err)
	}
	refs, err := scan.ParsePush(bytes.NewReader(text))
	if err != nil {
		return repo, refuse(MalformedPush, "%v", err)
	}
	place, err := p.open(ctx)
	if err != nil {
		return repo, refuse(NotEvaluated, "%v", err)
	}
	if p.State != "" && place.Holds(p.State) {
		return place.Root, refuse(AuditFailed, "the state folder %s lies in the repository, where it could be pushed or cleaned away", p.State)
	}
	defaults, err := place.RemoteDefaults(ctx)
	if err != nil {
		return place.Root, refuse(NotEvaluated, "default branches of the remotes: %v", err)
	}
	if ref, ok := protected(refs, append(defaults, p.Protect...)); ok {
		return place.Root, refuse(ProtectedBranch, "%s is a protected branch; push to another, and let it be merged", ref)
	}
	if len(refs) == 0 {
		return place.Root, Decision{Allowed: true, Reason: NothingToPush}
	}
	if !slices.ContainsFunc(refs, func(r scan.PushedRef) bool { return !r.Deleted() }) {
		return place.Root, Decision{Allowed: true, Reason: DeleteOnly}
	}
	return place.Root, p.scan(ctx, place.Root, text)
}

// read is all of standard input. Git gives hooks a pipe, also where there is nothing to push; a terminal, or nothing at all, is what a
// hook gets that a person started, or a program that forgot to pass its input on.
func read(stdin *os.File) ([]byte, error) {
	if stdin == nil {
		return nil, errors.New("there is no standard input; git runs this")
	}
	info, err := stdin.Stat()
	if err != nil {
		return nil, fmt.Errorf("standard input: %w; git runs this", err)
	}
	if info.Mode()&os.ModeCharDevice != 0 {
		return nil, errors.New("standard input is a terminal or nothing; git runs this, and tells there what it pushes")
	}
	text, err := io.ReadAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if len(text) == 0 && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil, errors.New("standard input is empty and not from git")
	}
	return text, nil
}

// open finds the repository, which has to be the one that git pushes from.
func (p Push) open(ctx context.Context) (*git.User, error) {
	if err := checkProtect(p.Protect); err != nil {
		return nil, err
	}
	place, err := open(ctx, p.Dir)
	if err != nil {
		return nil, err
	}
	return place, place.Told(p.GitDir, p.Dir)
}

func (p Push) scan(ctx context.Context, dir string, refs []byte) Decision {
	result, err := p.scanned(ctx, scan.Config{Dir: dir, State: p.State, Now: p.Now}, refs)
	if failed, ok := errors.AsType[*scan.Error](err); ok && failed.Code == "no_protected_branch" {
		// The first push of a repository: nothing is exempt, and its own rules hold.
		result, err = p.scanned(ctx, scan.Config{Dir: dir, BuiltIn: true, Now: p.Now}, refs)
	}
	if err != nil {
		return refuse(NotEvaluated, "%v", err)
	}
	switch result.Outcome {
	case scan.Clean, scan.Nothing:
		return Decision{Allowed: true, Reason: Clean, Result: result}
	case scan.Found:
		d := refuse(SecretFound, "what is pushed has secrets in it; take them out of every commit that has them, and change those that are in use")
		d.Result = result
		return d
	}
	return refuse(NotEvaluated, "the scan ended with %q", result.Outcome)
}

func (p Push) scanned(ctx context.Context, c scan.Config, refs []byte) (*scan.Result, error) {
	scanner, err := scan.New(c)
	if err != nil {
		return nil, err
	}
	return scanner.Push(ctx, p.Remote, bytes.NewReader(refs))
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
