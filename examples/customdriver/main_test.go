package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"aesop/examples/internal/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"customdriver": main, "fake-agent": clitest.FakeAgent})
}

func TestScripts(t *testing.T) { clitest.Run(t) }

// maxDriverLines is what a driver of one's own may cost. Blank lines and comments do not count.
const maxDriverLines = 30

// TestTheDriverIsShort: its type and its methods.
func TestTheDriverIsShort(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "main.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines, methods, counted := strings.Split(string(source), "\n"), []string{}, 0
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				continue
			}
			methods = append(methods, d.Name.Name)
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
		}
		for n := files.Position(declaration.Pos()).Line; n <= files.Position(declaration.End()).Line; n++ {
			if line := strings.TrimSpace(lines[n-1]); line != "" && !strings.HasPrefix(line, "//") {
				counted++
			}
		}
	}
	if got := strings.Join(methods, " "); got != "Info Probe Run" {
		t.Errorf("the driver's methods are %s", got)
	}
	if counted > maxDriverLines || counted < 10 {
		t.Errorf("the driver has %d lines, want at most %d", counted, maxDriverLines)
	}
}
