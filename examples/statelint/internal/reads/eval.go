package reads

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// eval says where a value may come from.
func (f *flow) eval(e ast.Expr) origins {
	if v := f.pass.TypesInfo.Types[e].Value; v != nil {
		if v.Kind() == constant.String {
			return ofFiles(f.table.named(constant.StringVal(v)))
		}
		return nil
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.eval(e.X)
	case *ast.Ident:
		if v := f.variable(e); v != nil {
			return f.held(v)
		}
	case *ast.SelectorExpr:
		return f.selected(e)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return f.eval(e.X).add(f.eval(e.Y))
		}
	case *ast.UnaryExpr:
		return f.eval(e.X)
	case *ast.StarExpr:
		return f.eval(e.X)
	case *ast.IndexExpr:
		return f.eval(e.X)
	case *ast.SliceExpr:
		return f.eval(e.X)
	case *ast.TypeAssertExpr:
		return f.eval(e.X)
	case *ast.CompositeLit:
		return f.elements(e)
	case *ast.CallExpr:
		return f.result(e)
	}
	return nil
}

// elements are the origins of what a slice or map is made of. Those of a struct are in its fields.
func (f *flow) elements(lit *ast.CompositeLit) origins {
	if _, ok := f.pass.TypesInfo.TypeOf(lit).Underlying().(*types.Struct); ok {
		return nil
	}
	var all origins
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			all = all.add(f.eval(pair.Key))
			e = pair.Value
		}
		all = all.add(f.eval(e))
	}
	return all
}

// held are the origins of what a variable holds.
func (f *flow) held(v *types.Var) origins {
	from := f.vars[v]
	if _, ok := f.params[v]; ok {
		from = from.add(origins{origin{param: v}: true})
	}
	return from.add(f.learned(v))
}

// learned is what the package of a variable or field said of it.
func (f *flow) learned(v *types.Var) origins {
	var fact Names
	if v.Pkg() != nil && v.Pkg() != f.pass.Pkg && f.pass.ImportObjectFact(v, &fact) {
		return ofFiles(fact.Files)
	}
	return nil
}

// selected are the origins of a field, or of a variable of another package.
func (f *flow) selected(e *ast.SelectorExpr) origins {
	v := f.variable(e)
	if v == nil {
		return nil
	}
	if !v.IsField() {
		return f.held(v)
	}
	key := f.key(v)
	from := f.fields[key].add(f.learned(v))
	for o := range f.eval(e.X) {
		if o.param != nil {
			from = from.add(origins{origin{param: o.param, field: key}: true})
		}
	}
	return from
}

// result are the origins of what a call returns.
func (f *flow) result(call *ast.CallExpr) origins {
	info := f.pass.TypesInfo
	if info.Types[call.Fun].IsType() {
		return f.eval(call.Args[0])
	}
	var all origins
	if info.Types[call.Fun].IsBuiltin() {
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && slices.Contains([]string{"append", "max", "min"}, id.Name) {
			for _, arg := range call.Args {
				all = all.add(f.eval(arg))
			}
		}
		return all
	}
	for _, c := range f.callees(call.Fun) {
		if c.lit != nil {
			all = all.add(f.results[c.lit])
			continue
		}
		if carries(c.fn) {
			for _, arg := range call.Args {
				all = all.add(f.eval(arg))
			}
			continue
		}
		s := f.summary(c.fn)
		all = all.add(ofFiles(s.Returns))
		for _, in := range s.Passes {
			for _, arg := range f.arguments(call, c.fn, in.Param) {
				all = all.add(f.inside(c.fn, arg, in.Field))
			}
		}
	}
	return all
}

// summary is what is known of a function.
func (f *flow) summary(fn *types.Func) Summary {
	if s, ok := f.functions[fn]; ok {
		return *s
	}
	var s Summary
	if fn.Pkg() != nil && fn.Pkg() != f.pass.Pkg {
		f.pass.ImportObjectFact(fn, &s)
	}
	return s
}

// inside are the origins of an argument of a function, or of a field in it. Functions of this package know themselves what this package
// puts into fields.
func (f *flow) inside(fn *types.Func, arg ast.Expr, field string) origins {
	if field == "" {
		return f.eval(arg)
	}
	if lit := literal(arg); lit != nil {
		return f.element(lit, field)
	}
	var from origins
	if fn.Pkg() != f.pass.Pkg {
		from = f.fields[field]
	}
	for o := range f.eval(arg) {
		if o.param != nil && o.field == "" {
			from = from.add(origins{origin{param: o.param, field: field}: true})
		}
	}
	return from
}

// literal is the literal of a struct, or of a pointer to one, or nil.
func literal(e ast.Expr) *ast.CompositeLit {
	e = ast.Unparen(e)
	if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
		e = ast.Unparen(address.X)
	}
	lit, _ := e.(*ast.CompositeLit)
	return lit
}

// element are the origins of one field of a literal, and of no other value's.
func (f *flow) element(lit *ast.CompositeLit, field string) origins {
	for v, value := range f.elementsOf(lit) {
		if f.key(v) == field {
			return f.eval(value)
		}
	}
	return nil
}
