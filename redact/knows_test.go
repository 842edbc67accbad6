package redact_test

import (
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"aesop/redact"
	"aesop/redact/redacttest"
)

// TestKnows: known values in any form, wherever the text is cut and however long it is; and nothing else.
func TestKnows(t *testing.T) {
	const value = `walrus "and" carpenter`
	r := redactor(t, redact.Logs, value)
	far := strings.Repeat("oysters and bread\n", 20_000)
	token := redacttest.Fill(rand.New(rand.NewPCG(1, 2)), "ghp_{alnum:36}")
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"plain":           {value, true},
		"base64":          {base64.StdEncoding.EncodeToString([]byte("x" + value + "y")), true},
		"JSON":            {`{"a":"walrus \"and\" carpenter"}`, true},
		"far in":          {far + value + far, true},
		"at the end":      {far + value, true},
		"a part of it":    {far + value[:len(value)-1], false},
		"only shaped":     {"token " + token, false},
		"clean":           {far, false},
		"empty":           {"", false},
		"of another case": {strings.ToUpper(value), false},
	} {
		for how, from := range map[string]io.Reader{"whole": strings.NewReader(tt.text), "halves": iotest.HalfReader(strings.NewReader(tt.text)),
			"with the end": iotest.DataErrReader(strings.NewReader(tt.text))} {
			if got, err := r.Knows(from); got != tt.want || err != nil {
				t.Errorf("%s, %s: %t, %v", name, how, got, err)
			}
		}
	}
	if got, err := r.Knows(iotest.OneByteReader(strings.NewReader("the " + value))); !got || err != nil {
		t.Errorf("byte by byte: %t, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := r.Knows(io.MultiReader(strings.NewReader("so far"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got, err := redactor(t, redact.Logs).Knows(strings.NewReader(value)); got || err != nil {
		t.Errorf("without values: %t, %v", got, err)
	}
}

// TestEnvironmentsAreRegistered but for what stands in the place of secrets.
func TestEnvironmentsAreRegistered(t *testing.T) {
	r := redactor(t, redact.Logs)
	r.RegisterEnvironment([]string{"FIRST_TOKEN=REDACTED", "SECOND_TOKEN=walrus and carpenter", "LEVEL=walrus and others"})
	if got, want := r.String("the walrus and carpenter; walrus and others; REDACTED"), "the [REDACTED:known-value]; walrus and others; REDACTED"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
