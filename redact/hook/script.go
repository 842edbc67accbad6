package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Version is that of the script. One of another version has to be installed again.
const Version = 1

// Settings are what a hook is made from.
type Settings struct {
	Binary string `json:"binary"` // path of the program to call, absolute
	SHA256 string `json:"sha256"` // of the binary when the hook was installed; Install fills it in
	// Command are the first arguments of the binary, of a command that calls Run. It has to understand the flags state and protect, of
	// which the latter may repeat, and then the two arguments that git gives the hook.
	Command []string `json:"command"`
	State   string   `json:"state"`   // "": the binary finds it
	Protect []string `json:"protect"` // nil: the binary's default
}

const (
	markPrefix     = "# aesop pre-push hook, version "
	markHash       = ", sha256 "
	settingsPrefix = "# settings: "
)

// script is the whole hook. Its second line has the hash of all that follows it.
func (s Settings) script() (string, error) {
	for _, text := range slices.Concat([]string{s.Binary, s.State}, s.Command, s.Protect) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return "", &Error{Code: "settings", Message: fmt.Sprintf("%q is not UTF-8, and no script can hold it", text)}
		}
	}
	settings, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	command := []string{`"$binary"`}
	for _, word := range s.Command {
		command = append(command, quote(word))
	}
	if s.State != "" {
		command = append(command, "--state", quote(s.State))
	}
	for _, pattern := range s.Protect {
		command = append(command, "--protect", quote(pattern))
	}
	body := settingsPrefix + string(settings) + `
# It refuses what it cannot check. Install it again instead of editing it: a changed one is taken for one of your own.
binary=` + quote(s.Binary) + `
if [ ! -x "$binary" ]; then
	printf 'pre-push: %s is missing, so nothing can be checked: push refused\n' "$binary" >&2
	exit 1
fi
answer=$(` + strings.Join(command, " ") + ` -- "$@")
if [ "$?" -ne 0 ]; then
	printf 'pre-push: push refused\n' >&2
	exit 1
fi
if [ "$answer" != ` + quote(Allowed) + ` ]; then
	printf 'pre-push: %s did not answer as it should: push refused\n' "$binary" >&2
	exit 1
fi
exit 0
`
	return fmt.Sprintf("#!/bin/sh\n%s%d%s%s\n", markPrefix, Version, markHash, digest([]byte(body))) + body, nil
}

// quote is a word for sh.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// parsed is a hook as it was found.
type parsed struct {
	ours     bool // it has the mark
	version  string
	intact   bool     // what follows the mark has its hash
	settings Settings // of an intact one of this version
	same     bool     // it is what those settings make
}

func parse(text string) (p parsed) {
	shebang, rest, _ := strings.Cut(text, "\n")
	mark, body, _ := strings.Cut(rest, "\n")
	mark, p.ours = strings.CutPrefix(mark, markPrefix)
	if p.ours = p.ours && shebang == "#!/bin/sh"; !p.ours {
		return p
	}
	var hash string
	p.version, hash, _ = strings.Cut(mark, markHash)
	p.intact = hash == digest([]byte(body))
	settings, _, _ := strings.Cut(body, "\n")
	if settings, ok := strings.CutPrefix(settings, settingsPrefix); ok && p.intact && p.version == fmt.Sprint(Version) {
		if json.Unmarshal([]byte(settings), &p.settings) == nil {
			made, err := p.settings.script()
			p.same = err == nil && made == text
		}
	}
	return p
}
