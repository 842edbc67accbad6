package wave

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"aesop/redact"
	"aesop/tracker"
)

// Correction is what a person changes in a verified commit: whole files, by their paths in the repository.
type Correction struct {
	Write  []File
	Delete []string
}

// File is a file of a Correction. One that is executable in the commit stays so.
type File struct {
	Path       string
	Data       []byte
	Executable bool
}

// Limits of a Correction: it is what a person does by hand.
const (
	MaxCorrectionFiles = 1000
	MaxCorrectionBytes = 4 << 20
)

// Check says why nobody could make the correction, whoever owns its paths, or nil. The error is a *SetupError.
func (c Correction) Check() error {
	usage := func(hint, format string, args ...any) error {
		return &SetupError{Code: "usage", Message: "correction: " + fmt.Sprintf(format, args...), Hint: hint}
	}
	paths, size := c.Paths(), 0
	for _, f := range c.Write {
		size += len(f.Data)
	}
	switch {
	case len(paths) == 0:
		return usage("name files to write or to delete", "it changes nothing")
	case len(paths) > MaxCorrectionFiles:
		return usage("correct less by hand, and have the rest done again", "it names %d files, more than %d", len(paths), MaxCorrectionFiles)
	case size > MaxCorrectionBytes:
		return usage("correct less by hand, and have the rest done again", "it has %d bytes, more than %d", size, MaxCorrectionBytes)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if err := tracker.CheckPath(path); err != nil {
			return usage("name files as the repository has them", "path %q %v", path, err)
		}
		if folded := tracker.FoldPath(path); seen[folded] {
			return usage("name each file once", "path %q stands twice", path)
		} else {
			seen[folded] = true
		}
	}
	return nil
}

// withoutSecrets refuses a correction with a credential that is known, or is one by its shape. What only its surroundings call a secret is
// left to the scan of the commit, which knows what is allowed.
func (c Correction) withoutSecrets(r *redact.Redactor) error {
	refused := func(path, rule string) error {
		return &RefusedError{Code: "secret_found", Message: fmt.Sprintf("the correction has a secret in %s (%s)", r.String(path), rule),
			Hint: "take it out; nothing is written down"}
	}
	for _, path := range c.Paths() {
		if rule := critical(r, []byte(path)); rule != "" {
			return refused(path, rule)
		}
	}
	for _, f := range c.Write {
		if rule := critical(r, f.Data); rule != "" {
			return refused(f.Path, rule)
		}
	}
	return nil
}

// critical is the rule of the first credential in a text, or "".
func critical(r *redact.Redactor, text []byte) string {
	for _, f := range r.Explain(text) {
		if f.Severity == redact.Critical {
			return f.Rule
		}
	}
	return ""
}

// Paths are the files that it writes or deletes, sorted.
func (c Correction) Paths() []string {
	paths := slices.Clone(c.Delete)
	for _, f := range c.Write {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	return paths
}

// ID names the correction of a commit, as an attempt id names a dispatch: equal corrections have equal ids.
func (c Correction) ID(wave, item, commit string) string {
	h := sha256.New()
	for _, part := range []string{wave, item, commit} {
		fmt.Fprintf(h, "%d:%s,", len(part), part)
	}
	for _, path := range slices.Sorted(slices.Values(c.Delete)) {
		fmt.Fprintf(h, "D%d:%s,", len(path), path)
	}
	for _, f := range slices.SortedFunc(slices.Values(c.Write), func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		fmt.Fprintf(h, "W%d:%s,%t,%d:%s,", len(f.Path), f.Path, f.Executable, len(f.Data), f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
