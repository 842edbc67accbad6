package cli

import (
	"io"
	"strings"
	"unicode"
)

// OneLine keeps what agents and people wrote from breaking a line or reaching the terminal as commands.
func OneLine(text string) string { return withoutControls(text, "") }

// Lines is OneLine for a text of several lines: newlines and tabs stay.
func Lines(text string) string {
	return withoutControls(strings.ReplaceAll(text, "\r\n", "\n"), "\n\t")
}

// withoutControls has blanks for control characters, but for some, and no byte that is not UTF-8.
func withoutControls(text, but string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(but, r) {
			return ' '
		}
		return r
	}, text)
}

// plain passes on what is for people to read, with its secrets. Each Write must hold whole characters, as those of package fmt do.
type plain struct{ to io.Writer }

func (p plain) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.to, Lines(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
