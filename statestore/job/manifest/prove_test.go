package manifest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/statestore/job/manifest"
)

// prove finalises a report with side effects, reads it, and looks at them.
func prove(t *testing.T, resolvers manifest.Resolvers, effects ...manifest.SideEffect) manifest.Proof {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "staged"), "done")
	d := draft(dir, effects...)
	for _, e := range effects {
		d.Kinds = append(d.Kinds, e.Kind)
	}
	_, err := manifest.Finalize(t.Context(), d)
	must(t, err)
	return manifest.Prove(t.Context(), read(t, dir), resolvers)
}

// look is what looking at one reference gives.
func look(t *testing.T, kind string, resolver manifest.Resolver, ref string) (manifest.Verdict, string) {
	t.Helper()
	proof := prove(t, manifest.Resolvers{kind: resolver}, manifest.SideEffect{Kind: kind, Ref: ref})
	if len(proof.Findings) != 1 || proof.Findings[0].Verdict != proof.Verdict || proof.Findings[0].Kind != kind || proof.Findings[0].Ref != ref {
		t.Fatalf("%s: proof %+v", ref, proof)
	}
	return proof.Verdict, proof.Findings[0].Reason
}

// answers resolves by the reference: yes, no, or anything else for not able to look.
type answers struct{ asked []string }

func (a *answers) Resolve(_ context.Context, ref string) error {
	a.asked = append(a.asked, ref)
	switch ref {
	case "yes":
		return nil
	case "no":
		return &manifest.MissingError{Reason: "it is not there"}
	}
	return errors.New("the network is down")
}

// TestPartialEvidenceIsNone: one side effect that is missing makes all unproven, and what nobody could look at is neither.
func TestPartialEvidenceIsNone(t *testing.T) {
	for refs, want := range map[string]manifest.Verdict{
		"":             manifest.Proven,
		"yes":          manifest.Proven,
		"yes yes":      manifest.Proven,
		"yes no":       manifest.Unproven,
		"no yes":       manifest.Unproven,
		"yes dark":     manifest.Unknown,
		"dark yes":     manifest.Unknown,
		"dark no":      manifest.Unproven,
		"no dark":      manifest.Unproven,
		"yes no dark":  manifest.Unproven,
		"dark dark no": manifest.Unproven,
	} {
		var effects []manifest.SideEffect
		for _, ref := range strings.Fields(refs) {
			effects = append(effects, manifest.SideEffect{Kind: "ticket", Ref: ref})
		}
		asked := &answers{}
		proof := prove(t, manifest.Resolvers{"ticket": asked}, effects...)
		if proof.Verdict != want || len(proof.Findings) != len(effects) || strings.Join(asked.asked, " ") != refs || proof.Reason == "" {
			t.Errorf("%s: asked for %q, proof %+v", refs, asked.asked, proof)
		}
		for i, f := range proof.Findings {
			each := map[string]manifest.Verdict{"yes": manifest.Proven, "no": manifest.Unproven, "dark": manifest.Unknown}[f.Ref]
			if f.SideEffect != effects[i] || f.Verdict != each || (f.Reason == "") != (each == manifest.Proven) {
				t.Errorf("%s: finding %+v", refs, f)
			}
		}
	}
	proof := prove(t, manifest.Resolvers{"ticket": &answers{}}, manifest.SideEffect{Kind: "ticket", Ref: "dark"}, manifest.SideEffect{Kind: "ticket", Ref: "no"})
	if proof.Reason != "ticket no: it is not there" {
		t.Errorf("the reason is %q", proof.Reason)
	}
}

func TestNothingDeclaredIsNothingToProve(t *testing.T) {
	if proof := prove(t, nil); proof.Verdict != manifest.Proven || proof.Reason != "no side effects are declared" {
		t.Errorf("proof %+v", proof)
	}
}

// TestAKindThatNobodyCanLookAtIsUnproven, whatever else is proven.
func TestAKindThatNobodyCanLookAtIsUnproven(t *testing.T) {
	yes, rumour := manifest.SideEffect{Kind: "ticket", Ref: "yes"}, manifest.SideEffect{Kind: "rumour", Ref: "yes"}
	for _, resolvers := range []manifest.Resolvers{{"ticket": &answers{}}, {"ticket": &answers{}, "rumour": nil}} {
		if proof := prove(t, resolvers, yes, rumour); proof.Verdict != manifest.Unproven || proof.Findings[0].Verdict != manifest.Proven {
			t.Errorf("proof %+v", proof)
		}
	}
}

// TestEvidenceWithoutAReferenceIsNone: in a manifest that somebody wrote by hand, and in what somebody made of a read one.
func TestEvidenceWithoutAReferenceIsNone(t *testing.T) {
	dir := t.TempDir()
	finalise(t, dir, "x", manifest.SideEffect{Kind: manifest.File, Ref: "f"})
	v := read(t, dir)
	v.SideEffects[0].Ref = ""
	asked := &answers{}
	if proof := manifest.Prove(t.Context(), v, manifest.Resolvers{manifest.File: asked}); proof.Verdict != manifest.Unproven || len(asked.asked) > 0 {
		t.Errorf("proof %+v", proof)
	}
	for _, to := range []string{`"ref": ""`, `"link": "f"`} {
		dir := t.TempDir()
		finalise(t, dir, "x", manifest.SideEffect{Kind: manifest.File, Ref: "f"})
		edit(t, dir, `"ref": "f"`, to)
		if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "sideEffects[0].") {
			t.Errorf("%s: error %v", to, err)
		}
	}
	edit(t, dir, `,
      "ref": "f"`, "")
	if _, err := manifest.Read(t.Context(), dir, wanted); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "sideEffects[0].ref") {
		t.Errorf("error %v", err)
	}
}

// TestOnlyWhatWasReadCanBeProven: not what is left where Read failed and nobody looked at its error.
func TestOnlyWhatWasReadCanBeProven(t *testing.T) {
	v, _ := manifest.Read(t.Context(), t.TempDir(), wanted)
	if proof := manifest.Prove(t.Context(), v, nil); proof.Verdict != manifest.Unproven {
		t.Errorf("proof %+v", proof)
	}
}

func TestWhatIsNotLookedAtInTimeIsUnknown(t *testing.T) {
	dir := t.TempDir()
	finalise(t, dir, "x", manifest.SideEffect{Kind: manifest.File, Ref: "yes"})
	v := read(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	asked := &answers{}
	proof := manifest.Prove(ctx, v, manifest.Resolvers{manifest.File: asked})
	if proof.Verdict != manifest.Unknown || proof.Findings[0].Reason != "enough" || len(asked.asked) > 0 {
		t.Errorf("proof %+v", proof)
	}
}

func TestFiles(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "sub", "a#b.txt"), "hello")
	write(t, filepath.Join(outside, "secret"), "s")
	write(t, filepath.Join(root, "huge"), "")
	must(t, os.Truncate(filepath.Join(root, "huge"), 1<<30+1))
	if err := os.Symlink(outside, filepath.Join(root, "away")); err != nil {
		t.Skipf("not applicable: no links here: %v", err)
	}
	must(t, os.Symlink("sub", filepath.Join(root, "near")))
	must(t, os.Symlink("sub/a#b.txt", filepath.Join(root, "link")))
	sum := sha256.Sum256([]byte("hello"))
	hash := hex.EncodeToString(sum[:])
	for ref, want := range map[string]manifest.Verdict{
		"sub/a#b.txt":                manifest.Proven,
		"sub/a#b.txt#sha256=" + hash: manifest.Proven,
		"huge":                       manifest.Proven,
		"sub/a#b.txt#sha256=" + strings.Repeat("0", 64): manifest.Unproven,
		"sub/a#b.txt#sha256=" + strings.ToUpper(hash):   manifest.Unproven,
		"sub/a#b.txt#sha256=":                           manifest.Unproven,
		"sub/a":                                         manifest.Unproven,
		"none/a":                                        manifest.Unproven,
		"sub":                                           manifest.Unproven,
		".":                                             manifest.Unproven,
		"sub/a#b.txt/deeper/still":                      manifest.Unproven,
		"../" + filepath.Base(root) + "/sub/a#b.txt":       manifest.Unproven,
		"sub/../sub/a#b.txt":                               manifest.Unproven,
		filepath.ToSlash(filepath.Join(outside, "secret")): manifest.Unproven,
		"away/secret":         manifest.Unproven,
		"near/a#b.txt":        manifest.Unproven,
		"link":                manifest.Unproven,
		"huge#sha256=" + hash: manifest.Unknown,
	} {
		if got, reason := look(t, manifest.File, manifest.Files{Root: root}, ref); got != want {
			t.Errorf("%s: %s, %s; want %s", ref, got, reason, want)
		}
	}
	if got, reason := look(t, manifest.File, manifest.Files{Root: filepath.Join(root, "none")}, "x"); got != manifest.Unknown {
		t.Errorf("without a root: %s, %s", got, reason)
	}
}
