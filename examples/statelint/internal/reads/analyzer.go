package reads

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports each call that touches a state file of somebody else, with the file's name as the category. Of one call and one file it
// reports once.
var Analyzer = &analysis.Analyzer{
	Name:      "statelint",
	Doc:       "find calls that touch state files outside the packages that own them",
	URL:       "https://pkg.go.dev/aesop/examples/statelint",
	Run:       run,
	FactTypes: []analysis.Fact{new(Names), new(Summary)},
}

func run(pass *analysis.Pass) (any, error) {
	path := importPath(pass.Pkg)
	if basic(path) {
		return nil, nil
	}
	f := &flow{pass: pass, path: path, table: Files(), vars: map[*types.Var]origins{}, fields: map[string]origins{}, fieldVars: map[string]*types.Var{},
		keys: map[*types.Var]string{}, values: map[*types.Var][]callee{}, results: map[*ast.FuncLit]origins{},
		params: map[*types.Var]parameter{}, functions: map[*types.Func]*Summary{}, found: map[finding]string{}}
	files := slices.DeleteFunc(slices.Clone(pass.Files), func(file *ast.File) bool {
		return strings.HasSuffix(pass.Fset.PositionFor(file.Package, false).Filename, "_test.go") // a line directive does not count
	})
	for _, file := range files {
		f.declare(file)
	}
	for f.changed = true; f.changed; {
		f.changed = false
		for _, file := range files {
			f.walk(file)
		}
	}
	f.report()
	f.export()
	return nil, nil
}

// importPath is that of a package, also where it is compiled for its tests.
func importPath(pkg *types.Package) string {
	path, _, _ := strings.Cut(pkg.Path(), " ")
	return path
}

// finding is a call that touches a file.
type finding struct {
	pos  token.Pos
	file string
}

func (f *flow) report() {
	all := make([]finding, 0, len(f.found))
	for at := range f.found {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b finding) int {
		if a.pos != b.pos {
			return int(a.pos - b.pos)
		}
		return strings.Compare(a.file, b.file)
	})
	for _, at := range all {
		file, _ := Lookup(at.file)
		f.pass.Report(analysis.Diagnostic{Pos: at.pos, Category: at.file,
			Message: fmt.Sprintf("%s touches %s, which belongs to %s: use %s", f.found[at], at.file, strings.Join(file.Owners, " and "), file.Instead)})
	}
}

// export hands what is known to the packages that import this one.
func (f *flow) export() {
	for fn, s := range f.functions {
		if !s.empty() {
			f.pass.ExportObjectFact(fn, s)
		}
	}
	names := func(v *types.Var, from origins) {
		if files := from.files(); len(files) > 0 && v.Pkg() == f.pass.Pkg {
			f.pass.ExportObjectFact(v, &Names{Files: files})
		}
	}
	for v, from := range f.vars {
		if v.Parent() == f.pass.Pkg.Scope() {
			names(v, from)
		}
	}
	for key, v := range f.fieldVars {
		names(v, f.fields[key])
	}
}
