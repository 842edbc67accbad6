package scan

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"aesop/redact"
)

// harmless says that a value that only its surroundings call a secret is a placeholder, or opens nothing but the reader's own machine.
func harmless(text []byte, f redact.Finding) bool {
	if f.Severity != redact.High {
		return false
	}
	secret, host, hasHost := userinfo(text, f.Start, f.End)
	if hasHost {
		return placeholder(string(secret)) || localHost(host) || !utf8.Valid(secret) // by chance, in what is no text
	}
	const least = 6
	return placeholder(string(secret)) || f.Rule == redact.NamedSecret && (len(secret) < least || words(string(secret)) && !variable(text[:f.Start]))
}

// variable says that NAME= is all that stands on the line before a value, as where a program gets its settings from.
func variable(before []byte) bool {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("export "))
	name, found := bytes.CutSuffix(bytes.TrimRight(line, `"'`), []byte("="))
	return found && len(name) > 0 && len(bytes.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) == 0
}

// words says that a value is nothing but lower case words, as in tests and documentation: not-a-secret, correct horse.
func words(value string) bool {
	const longest = 12 // of a word
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_. ", r) }) {
		if len(word) > longest || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return true
}
