package tracker

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCommandIsTypedAsShown: a shell that is given what people read runs the same words.
func TestCommandIsTypedAsShown(t *testing.T) {
	if text := (Command{Shell: "a | b"}).String(); text != "a | b" {
		t.Errorf("a line is shown as %q", text)
	}
	if text := (Command{Argv: []string{"go", "test", "./..."}}).String(); text != "go test ./..." {
		t.Errorf("plain words are shown as %q", text)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	words := []string{"", "a b", "it's", `"`, "$HOME", "`id`", "*", "a;b", "~", "#", `\`, "a\nb", "-n", "{a,b}", "x=y", "!"}
	shown := Command{Argv: append([]string{"printf", `%s\0`}, words...)}
	out, err := exec.CommandContext(t.Context(), sh, "-c", shown.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("%s runs %q, want %q", shown, got, words)
	}
}
