package tracker

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldPath is the form in which paths are compared on every system: without a leading "./", canonically composed and case
// folded, so that two names that some file system takes for one are equal.
func FoldPath(path string) string { return fold(strings.TrimPrefix(path, "./")) }

// fold is canonical caseless matching as Unicode defines it, composed at the end.
func fold(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(text)))
		}
	}
	return strings.ToLower(text)
}

// CheckPath says why path cannot name a file of a repository on every system, or nil. A path is relative, separated by
// slashes and canonical; one leading "./" is allowed and means nothing. Refused are empty and absolute paths, drives and UNC
// names, backslashes, "." and "..", empty segments, control characters, text that is not UTF-8, ".git" at any depth and in
// any disguise that a file system undoes, names that Windows reserves, and segments that end in a dot or a space.
func CheckPath(path string) error {
	path = strings.TrimPrefix(path, "./")
	switch {
	case path == "":
		return errors.New("is empty")
	case !utf8.ValidString(path):
		return errors.New("is not valid UTF-8")
	case strings.ContainsRune(path, '\\'):
		return errors.New("has a backslash; separate with /")
	case strings.HasPrefix(path, "/"):
		return errors.New("is absolute; write it relative to the repository's root")
	case hasDrive(path):
		return errors.New("begins with a drive; write it relative to the repository's root")
	case strings.ContainsFunc(path, unicode.IsControl):
		return errors.New("has a control character")
	case len(path) > maxPath:
		return fmt.Errorf("has %d bytes, more than %d", len(path), maxPath)
	}
	for segment := range strings.SplitSeq(path, "/") {
		if err := checkSegment(segment); err != nil {
			return err
		}
	}
	return nil
}

func hasDrive(path string) bool {
	letter := len(path) > 1 && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
	return letter && path[1] == ':'
}

// What paths and their segments may have in bytes. Systems take more of a path, but not below every folder.
const (
	maxPath    = 1024
	maxSegment = 255
)

func checkSegment(segment string) error {
	if len(segment) > maxSegment {
		return fmt.Errorf("has a name of %d bytes, more than %d", len(segment), maxSegment)
	}
	switch {
	case segment == "":
		return errors.New("has an empty segment")
	case segment == "." || segment == "..":
		return fmt.Errorf("has the segment %q", segment)
	case isGitDir(segment):
		return errors.New("leads into .git")
	case strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " "):
		return fmt.Errorf("has %q, which ends in a dot or a space", segment)
	case isReserved(segment):
		return fmt.Errorf("has %q, a name that Windows reserves", segment)
	}
	return nil
}

// isGitDir sees through case, code points that HFS+ ignores, the short name and the streams of NTFS, and trailing dots and
// spaces.
func isGitDir(segment string) bool {
	visible := strings.Map(func(r rune) rune {
		if r == '\uFEFF' || '\u200C' <= r && r <= '\u200F' || '\u202A' <= r && r <= '\u202E' || '\u206A' <= r && r <= '\u206F' {
			return -1
		}
		return r
	}, segment)
	name, _, _ := strings.Cut(fold(visible), ":")
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == "git~1"
}

// isReserved says whether Windows takes the name for a device, whatever its extension.
func isReserved(segment string) bool {
	name, _, _ := strings.Cut(strings.ToLower(segment), ".")
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, " ")
	switch name {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	number, isPort := strings.CutPrefix(name, "com")
	if !isPort {
		number, isPort = strings.CutPrefix(name, "lpt")
	}
	return isPort && utf8.RuneCountInString(number) == 1 && strings.Contains("123456789¹²³", number)
}
