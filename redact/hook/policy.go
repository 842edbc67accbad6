package hook

import (
	"path"
	"slices"
	"strings"

	"aesop/redact/scan"
)

// DefaultProtect are the branches that are protected unless others are named. The default branches of the remotes always are.
func DefaultProtect() []string { return []string{"main", "master", "release/*"} }

// checkProtect refuses patterns that match nothing because they are malformed.
func checkProtect(patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return &Error{Code: "protect", Message: "the pattern of protected branches " + p + " is malformed", Hint: "write it as main or release/*"}
		}
	}
	return nil
}

// protected is the first of the pushed refs that is a protected branch, be it to change or to go.
func protected(refs []scan.PushedRef, patterns []string) (ref string, ok bool) {
	for _, p := range refs {
		branch, isBranch := strings.CutPrefix(p.Remote, "refs/heads/")
		if isBranch && slices.ContainsFunc(patterns, func(pattern string) bool { return covers(pattern, branch) }) {
			return p.Remote, true
		}
	}
	return "", false
}

// covers says whether pattern matches branch or a folder that it is in, whatever the case: there are remotes that keep no two branches
// apart that differ in nothing else.
func covers(pattern, branch string) bool {
	for branch = strings.ToLower(branch); branch != "." && branch != "/"; branch = path.Dir(branch) {
		if ok, err := path.Match(strings.ToLower(pattern), branch); ok || err != nil {
			return true
		}
	}
	return false
}
