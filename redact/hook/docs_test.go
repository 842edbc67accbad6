package hook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aesop/redact/hook"
)

// TestPageIsComplete: the tables of the page have every reason, check and problem, and no other; each protected branch is named.
func TestPageIsComplete(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "HOOK.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z_`, ]+`) \\|").FindAllStringSubmatch(page, -1) {
		rows = append(rows, strings.Split(strings.ReplaceAll(row[1], "`", ""), ", ")...)
	}
	known := slices.Concat(checks(), constants(t, "Reason"), constants(t, "Code"))
	slices.Sort(rows)
	slices.Sort(known)
	if !slices.Equal(rows, known) {
		t.Errorf("the page has\n%v\nand the code\n%v", rows, known)
	}
	for _, word := range append(hook.DefaultProtect(), hook.Genesis, hook.PushAllowed, hook.PushBlocked, hook.AuditRepaired) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not name %s", word)
		}
	}
}

// constants are the values of a type's constants in this package.
func constants(t *testing.T, name string) (values []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == name && len(spec.Values) == 1 {
				if value, ok := spec.Values[0].(*ast.BasicLit); ok {
					values = append(values, strings.Trim(value.Value, `"`))
				}
			}
			return true
		})
	}
	return values
}
