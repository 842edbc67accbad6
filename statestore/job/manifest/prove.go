package manifest

import (
	"context"
	"errors"
	"fmt"
)

// Resolver looks at what the references of one kind point to. It is safe for concurrent use, and it keeps to what whoever made it allows:
// a reference is an agent's.
type Resolver interface {
	// Resolve is nil where what ref points to is as ref says. A *MissingError says that it is not, or that ref is none or one that may
	// not be looked at; any other error, that nobody could look.
	Resolve(ctx context.Context, ref string) error
}

// Resolvers has the Resolver of each kind.
type Resolvers map[string]Resolver

// MissingError says that what a reference points to was looked for and is not as it says.
type MissingError struct{ Reason string }

func (e *MissingError) Error() string { return e.Reason }

func missing(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }

// Verdict is what looking gave.
type Verdict string

// The verdicts.
const (
	Proven   Verdict = "proven"
	Unproven Verdict = "unproven"
	Unknown  Verdict = "unknown" // nobody could look: neither proven nor disproven; asked again it can be either
)

// Finding is what looking at one side effect gave.
type Finding struct {
	SideEffect
	Verdict Verdict
	Reason  string // "" where it is proven
}

// Proof is what looking at all side effects gave. Partial evidence is none: one that is unproven makes the whole unproven, and otherwise one
// that is unknown makes it unknown.
type Proof struct {
	Verdict  Verdict
	Reason   string    // of the verdict. Where nothing is declared it says that there was nothing to prove
	Findings []Finding // in the order of the declaration
}

// Prove looks at every side effect of a manifest, one after the other, each with the Resolver of its kind. A kind without one is unproven.
// When ctx ends, what was not looked at is unknown. A Verified that Read did not return is unproven.
func Prove(ctx context.Context, v Verified, resolvers Resolvers) Proof {
	if !v.read {
		return Proof{Verdict: Unproven, Reason: "no manifest was read"}
	}
	proof := Proof{Verdict: Proven}
	for _, effect := range v.SideEffects {
		f := find(ctx, effect, resolvers[effect.Kind])
		proof.Findings = append(proof.Findings, f)
		if f.Verdict == Unproven && proof.Verdict != Unproven || f.Verdict == Unknown && proof.Verdict == Proven {
			proof.Verdict, proof.Reason = f.Verdict, fmt.Sprintf("%s %s: %s", effect.Kind, effect.Ref, f.Reason)
		}
	}
	switch {
	case len(proof.Findings) == 0:
		proof.Reason = "no side effects are declared"
	case proof.Verdict == Proven:
		proof.Reason = fmt.Sprintf("all side effects were found: %d", len(proof.Findings))
	}
	return proof
}

func find(ctx context.Context, effect SideEffect, resolver Resolver) Finding {
	f := Finding{SideEffect: effect, Verdict: Unproven}
	switch {
	case effect.Ref == "":
		f.Reason = "without a reference it is no evidence"
	case resolver == nil:
		f.Reason = "nobody here can look at this kind"
	case ctx.Err() != nil:
		f.Verdict, f.Reason = Unknown, context.Cause(ctx).Error()
	default:
		err := resolver.Resolve(ctx, effect.Ref)
		if err == nil {
			f.Verdict = Proven
			break
		}
		if _, looked := errors.AsType[*MissingError](err); !looked {
			f.Verdict = Unknown
		}
		f.Reason = err.Error()
	}
	return f
}
