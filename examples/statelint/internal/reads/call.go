package reads

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// call follows what a call does with its arguments.
func (f *flow) call(call *ast.CallExpr) {
	if f.pass.TypesInfo.Types[call.Fun].IsType() {
		return
	}
	for _, c := range f.callees(call.Fun) {
		if c.lit != nil {
			f.bind(call, c.lit)
			continue
		}
		f.lend(call, c.fn)
		f.touch(call, c.fn)
		s := f.summary(c.fn)
		for _, r := range s.Reaches {
			for _, arg := range f.arguments(call, c.fn, r.Input.Param) {
				f.reached(call, c.fn, f.inside(c.fn, arg, r.Input.Field), r.Op, r.Owned)
			}
		}
		for _, into := range s.Stores {
			for _, arg := range f.arguments(call, c.fn, into.Input.Param) {
				f.store(into.Field, f.inside(c.fn, arg, into.Input.Field))
			}
		}
	}
}

// touch follows a call of a function that touches files itself.
func (f *flow) touch(call *ast.CallExpr, fn *types.Func) {
	if embedded(f.pass.TypesInfo, call) {
		return
	}
	params := fn.Signature().Params()
	for i := range params.Len() {
		if !touches(fn, params.At(i).Type()) {
			continue
		}
		for _, arg := range f.arguments(call, fn, i+1) {
			from := f.eval(arg)
			if fn.Pkg().Path() == "os/exec" {
				from = from.add(f.words(arg))
			}
			f.reached(call, fn, from, title(fn), nil)
		}
	}
}

// words are the files that a command line names.
func (f *flow) words(e ast.Expr) origins {
	var from origins
	if v := f.pass.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
		for _, word := range strings.FieldsFunc(constant.StringVal(v), func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;|&<>()", r) }) {
			from = from.add(ofFiles(f.table.named(word)))
		}
	}
	return from
}

// reached notes that what comes from there is touched: it is a finding, or for the callers to know.
func (f *flow) reached(call *ast.CallExpr, fn *types.Func, from origins, op string, owned []string) {
	by := title(fn)
	if by != op {
		by += ", by " + op + ","
	}
	for o := range from {
		if o.file != "" {
			if !slices.Contains(owned, o.file) && !slices.Contains(f.table.owned(f.path), o.file) {
				f.find(finding{call.Pos(), o.file}, by)
			}
			continue
		}
		if p, ok := f.params[o.param]; ok {
			all := slices.Concat(owned, f.table.handed(f.path))
			slices.Sort(all)
			r := Reach{Input: Input{p.index, o.field}, Op: op, Owned: slices.Compact(all)}
			f.changed = p.of.reach(r) || f.changed
		}
	}
}

func (f *flow) find(at finding, by string) {
	if known, ok := f.found[at]; !ok || by < known {
		f.found[at] = by
		f.changed = true
	}
}

// title is how a function is called in messages, such as os.Root.Open.
func title(fn *types.Func) string {
	name := fn.Name()
	if receiver := receiverName(fn); receiver != "" {
		name = receiver + "." + name
	}
	return fn.Pkg().Name() + "." + name
}

// bind puts the arguments of a call into the parameters of a function literal, which is followed with them.
func (f *flow) bind(call *ast.CallExpr, lit *ast.FuncLit) {
	signature, ok := f.pass.TypesInfo.TypeOf(lit).(*types.Signature)
	if !ok {
		return
	}
	for i, arg := range call.Args {
		if n := signature.Params().Len(); n > 0 {
			grow(f, f.vars, signature.Params().At(min(i, n-1)), f.eval(arg))
		}
	}
}

// lend puts the functions that a call hands over into the parameters of a function of this package, which may call them.
func (f *flow) lend(call *ast.CallExpr, fn *types.Func) {
	if fn.Pkg() != f.pass.Pkg {
		return
	}
	for i := range fn.Signature().Params().Len() {
		for _, arg := range f.arguments(call, fn, i+1) {
			f.holdIn(fn.Signature().Params().At(i), arg)
		}
	}
}

// callees are the functions that an expression may stand for.
func (f *flow) callees(e ast.Expr) []callee {
	e = ast.Unparen(e)
	if lit, ok := e.(*ast.FuncLit); ok {
		return []callee{{lit: lit}}
	}
	switch index := e.(type) { // of a generic function
	case *ast.IndexExpr:
		e = index.X
	case *ast.IndexListExpr:
		e = index.X
	}
	if fn, ok := typeutil.Callee(f.pass.TypesInfo, &ast.CallExpr{Fun: e}).(*types.Func); ok {
		return []callee{{fn: fn.Origin()}}
	}
	if v := f.variable(e); v != nil {
		return f.values[v]
	}
	return nil
}

// arguments are the expressions that a call gives to a parameter; the receiver is 0.
func (f *flow) arguments(call *ast.CallExpr, fn *types.Func, param int) []ast.Expr {
	args, index, last := call.Args, param-1, fn.Signature().Params().Len()-1
	if len(args) == 1 && last > 0 {
		if _, several := f.pass.TypesInfo.TypeOf(args[0]).(*types.Tuple); several {
			return args
		}
	}
	if fn.Signature().Recv() != nil {
		kind := types.FieldVal
		if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && f.pass.TypesInfo.Selections[selector] != nil {
			if kind = f.pass.TypesInfo.Selections[selector].Kind(); kind == types.MethodVal {
				args = append([]ast.Expr{selector.X}, args...)
			}
		}
		if kind != types.FieldVal { // else it is a method value in a variable, whose receiver is not at hand
			index, last = index+1, last+1
		}
	}
	switch {
	case index < 0 || index >= len(args):
		return nil
	case fn.Signature().Variadic() && index == last:
		return args[index:]
	}
	return args[index : index+1]
}

// embedded says whether a call is about files that are part of the program.
func embedded(info *types.Info, call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	t, ok := types.Unalias(info.TypeOf(call.Args[0])).(*types.Named)
	return ok && t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "embed"
}
