package reads

import (
	"go/ast"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// origin is where a value may come from: a constant that names a file, or a parameter, or a field in it, of the function around.
type origin struct {
	file  string
	param *types.Var
	field string // key
}

type origins map[origin]bool

func (o origins) add(more origins) origins {
	if len(more) == 0 {
		return o
	}
	all := make(origins, len(o)+len(more))
	for from := range o {
		all[from] = true
	}
	for from := range more {
		all[from] = true
	}
	return all
}

// files are the names of the files, sorted.
func (o origins) files() []string {
	var names []string
	for from := range o {
		if from.file != "" {
			names = append(names, from.file)
		}
	}
	slices.Sort(names)
	return names
}

// onlyFiles leaves out parameters: what outlives a call has not those of one.
func (o origins) onlyFiles() origins { return ofFiles(o.files()) }

func ofFiles(names []string) origins {
	if len(names) == 0 {
		return nil
	}
	o := origins{}
	for _, name := range names {
		o[origin{file: name}] = true
	}
	return o
}

// parameter is a place in the signature of a function of this package; 0 is the receiver's.
type parameter struct {
	of    *Summary
	index int
}

// callee is what a call may run: a function, or a literal of one.
type callee struct {
	fn  *types.Func
	lit *ast.FuncLit
}

// flow is what is known of one package. Everything in it only grows, so walking the files again until nothing changes comes to an end.
type flow struct {
	pass      *analysis.Pass
	path      string
	table     table
	vars      map[*types.Var]origins // not fields
	fields    map[string]origins     // by key: what this package puts there, in structs of any package
	fieldVars map[string]*types.Var
	keys      map[*types.Var]string
	paths     objectpath.Encoder
	values    map[*types.Var][]callee // variables and fields that hold functions
	results   map[*ast.FuncLit]origins
	params    map[*types.Var]parameter
	functions map[*types.Func]*Summary
	found     map[finding]string // and by what function it is touched
	changed   bool
}

// declare notes the functions of a file, so that each is known wherever it is called.
func (f *flow) declare(file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		fn, ok := f.pass.TypesInfo.Defs[decl.Name].(*types.Func)
		if !ok {
			continue
		}
		s := new(Summary)
		f.functions[fn] = s
		if recv := fn.Signature().Recv(); recv != nil {
			f.params[recv] = parameter{s, 0}
		}
		for i := range fn.Signature().Params().Len() {
			if p := fn.Signature().Params().At(i); !number(p.Type()) {
				f.params[p] = parameter{s, i + 1}
			}
		}
	}
}

// number says whether a value of a type can hold no path. Code that was made of C passes little else, in functions by the thousand.
func number(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString == 0
}

// walk follows all that a file assigns, returns and calls.
func (f *flow) walk(file *ast.File) {
	for _, d := range file.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok {
			fn, _ := f.pass.TypesInfo.Defs[decl.Name].(*types.Func)
			if decl.Body != nil && fn != nil {
				f.body(decl.Body, fn.Signature(), func(from origins) { f.returns(f.functions[fn], from) })
			}
			continue
		}
		f.body(d, nil, nil)
	}
}

// body follows the statements of one function; literals in it are followed by themselves, as functions that share its variables.
func (f *flow) body(n ast.Node, signature *types.Signature, returned func(origins)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			literal, _ := f.pass.TypesInfo.TypeOf(n).(*types.Signature)
			f.body(n.Body, literal, func(from origins) { grow(f, f.results, n, from) })
			return false
		case *ast.AssignStmt:
			f.assignAll(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			f.assignAll(names, n.Values)
		case *ast.RangeStmt:
			from := f.eval(n.X)
			f.assign(n.Key, from)
			f.assign(n.Value, from)
		case *ast.CompositeLit:
			f.fill(n)
		case *ast.CallExpr:
			f.call(n)
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				returned(f.eval(e))
			}
			for i := range signature.Results().Len() { // named ones may be returned by name, and by nobody else's
				returned(f.vars[signature.Results().At(i)])
			}
		}
		return true
	})
}

func (f *flow) assignAll(left, right []ast.Expr) {
	for i, l := range left {
		switch {
		case len(left) == len(right):
			f.assign(l, f.eval(right[i]))
			f.hold(l, right[i])
		case len(right) == 1:
			f.assign(l, f.eval(right[0]))
		}
	}
}

// assign puts what a value comes from into what an expression stands for.
func (f *flow) assign(to ast.Expr, from origins) {
	if to == nil || len(from) == 0 {
		return
	}
	switch to := ast.Unparen(to).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		v := f.variable(to)
		switch {
		case v == nil:
		case v.IsField():
			f.store(f.key(v), from)
		case v.Pkg() != nil && v.Parent() == v.Pkg().Scope():
			grow(f, f.vars, v, from.onlyFiles())
		default:
			grow(f, f.vars, v, from)
		}
	case *ast.IndexExpr:
		f.assign(to.X, from.add(f.eval(to.Index)))
	case *ast.StarExpr:
		f.assign(to.X, from)
	}
}

// store puts a value into a field. What comes from a parameter is there for each caller to put.
func (f *flow) store(field string, from origins) {
	grow(f, f.fields, field, from.onlyFiles())
	for o := range from {
		if p, ok := f.params[o.param]; ok && o.field != field {
			f.changed = add(&p.of.Stores, Store{Input{p.index, o.field}, field}) || f.changed
		}
	}
}

// fill puts the elements of a struct literal into its fields.
func (f *flow) fill(lit *ast.CompositeLit) {
	for field, value := range f.elementsOf(lit) {
		f.store(f.key(field), f.eval(value))
		f.holdIn(field, value)
	}
}

// elementsOf are the fields that a struct literal gives a value to.
func (f *flow) elementsOf(lit *ast.CompositeLit) iter.Seq2[*types.Var, ast.Expr] {
	return func(yield func(*types.Var, ast.Expr) bool) {
		t := f.pass.TypesInfo.TypeOf(lit)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem() // an element of a literal of pointers
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		for i, e := range lit.Elts {
			field, value := (*types.Var)(nil), e
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				field, value = f.variable(pair.Key), pair.Value
			} else if i < s.NumFields() {
				field = s.Field(i).Origin()
			}
			if field != nil && !yield(field, value) {
				return
			}
		}
	}
}

// hold notes a function that is kept in a variable or field.
func (f *flow) hold(to, value ast.Expr) {
	if v := f.variable(to); v != nil {
		f.holdIn(v, value)
	}
}

func (f *flow) holdIn(v *types.Var, value ast.Expr) {
	if _, ok := f.pass.TypesInfo.TypeOf(value).Underlying().(*types.Signature); !ok {
		return
	}
	known := f.values[v]
	for _, c := range f.callees(value) {
		f.changed = add(&known, c) || f.changed
	}
	f.values[v] = known
}

// variable is what an identifier or selector stands for, or nil.
func (f *flow) variable(e ast.Expr) *types.Var {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return nil
	}
	if v, ok := f.pass.TypesInfo.ObjectOf(id).(*types.Var); ok {
		return v.Origin()
	}
	return nil
}

// key is a name for a field that packages have in common. Where nobody else can name the field, its position will do.
func (f *flow) key(v *types.Var) string {
	if key, ok := f.keys[v]; ok {
		return key
	}
	key := f.pass.Fset.PositionFor(v.Pos(), false).String()
	if path, err := f.paths.For(v); err == nil {
		key = importPath(v.Pkg()) + "#" + string(path)
	}
	f.keys[v], f.fieldVars[key] = key, v
	return key
}

// returns adds to what a function may return.
func (f *flow) returns(s *Summary, from origins) {
	for o := range from {
		if o.file != "" {
			f.changed = add(&s.Returns, o.file) || f.changed
		} else if p, ok := f.params[o.param]; ok {
			f.changed = add(&p.of.Passes, Input{p.index, o.field}) || f.changed
		}
	}
}

// grow adds to what is known of one of many.
func grow[K comparable](f *flow, in map[K]origins, of K, more origins) {
	for o := range more {
		if !in[of][o] {
			in[of] = in[of].add(more)
			f.changed = true
			return
		}
	}
}
