package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"aesop/examples/internal/clitest"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"redact": main, "plant": plant}) }

func TestScripts(t *testing.T) { clitest.Run(t) }

// plant writes a file: its name, then its text, in which {key} stands for a secret that no script may hold, {n} for a line break, and
// {sha256} for the hash of the file whose name follows it.
func plant() {
	text := strings.NewReplacer("{key}", "AK"+"IA"+strings.Repeat("Q7", 8), "{n}", "\n").Replace(strings.Join(os.Args[2:], " "))
	if before, rest, ok := strings.Cut(text, "{sha256}"); ok {
		name, after, _ := strings.Cut(rest, " ")
		content, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		text = fmt.Sprintf("%s%x%s", before, sha256.Sum256(content), after)
	}
	err := os.MkdirAll(filepath.Dir(os.Args[1]), 0o755)
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
