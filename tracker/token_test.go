package tracker

import (
	"strings"
	"testing"
)

func TestNewToken(t *testing.T) {
	a, err := NewToken(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := NewToken(nil)
	if len(a) != 64 || a == b {
		t.Errorf("tokens %q and %q", a, b)
	}
	if _, err := NewToken(strings.NewReader("short")); err == nil {
		t.Error("a token was made of too few bytes")
	}
}
