package backend

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckName refuses a name that not every backend can keep as a text: an empty one, one with a zero byte, and what is not UTF-8.
func CheckName(what, name string) error {
	if name == "" {
		return fmt.Errorf("the %s is empty", what)
	}
	if err := checkText(name); err != nil {
		return fmt.Errorf("the %s %q %w", what, name, err)
	}
	return nil
}

// CheckTexts refuses an id or a type of an event that not every backend can keep; they may be empty.
func CheckTexts(id, kind string) error {
	for _, text := range []string{id, kind} {
		if err := checkText(text); err != nil {
			return fmt.Errorf("the id or type %q %w", text, err)
		}
	}
	return nil
}

func checkText(text string) error {
	switch {
	case strings.ContainsRune(text, 0):
		return errors.New("contains a zero byte")
	case !utf8.ValidString(text):
		return errors.New("is not UTF-8")
	}
	return nil
}
