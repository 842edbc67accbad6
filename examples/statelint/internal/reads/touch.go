package reads

import (
	"go/types"
	"slices"
	"strings"
)

// touches says whether a function of the standard library, or of a package for system calls, does something with the file whose path
// it gets in a parameter of this type. Whatever is built on these is found by itself.
func touches(fn *types.Func, param types.Type) bool {
	if fn.Pkg() == nil || !textual(param) {
		return false
	}
	name, receiver := fn.Name(), receiverName(fn)
	switch fn.Pkg().Path() {
	case "os":
		return receiver == "Root" || receiver == "" && !strings.HasSuffix(name, "env") && !slices.Contains([]string{
			"LookupEnv", "Expand", "ExpandEnv", "NewFile", "NewSyscallError"}, name)
	case "syscall", "golang.org/x/sys/unix", "golang.org/x/sys/windows":
		return receiver == "" && !strings.HasSuffix(name, "env") && !strings.HasSuffix(name, "FromString")
	case "io/fs":
		return name != "ValidPath"
	case "io/ioutil":
		return true
	case "os/exec":
		return name == "Command" || name == "CommandContext"
	case "database/sql":
		return name == "Open"
	case "path/filepath":
		return slices.Contains([]string{"Glob", "Walk", "WalkDir"}, name)
	case "net/http":
		return strings.HasPrefix(name, "ServeFile")
	}
	return false
}

// basic says whether a package is one that touches judges; its inside is of no interest.
func basic(pkg string) bool {
	return slices.Contains([]string{"os", "syscall", "io/fs", "io/ioutil", "os/exec", "database/sql", "path/filepath", "runtime"}, pkg) ||
		strings.HasPrefix(pkg, "golang.org/x/sys/") || strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/")
}

// carries says whether the result of a function of the standard library is, or holds, what it gets.
func carries(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	name := fn.Name()
	switch fn.Pkg().Path() {
	case "path/filepath", "path":
		return slices.Contains([]string{"Abs", "Base", "Clean", "EvalSymlinks", "FromSlash", "Join", "Localize", "Rel", "ToSlash"}, name)
	case "fmt":
		return slices.Contains([]string{"Sprint", "Sprintf", "Sprintln", "Append", "Appendf"}, name)
	case "strings":
		return slices.Contains([]string{"Clone", "Join", "Replace", "ReplaceAll", "ToValidUTF8"}, name) || strings.HasPrefix(name, "Trim")
	case "cmp":
		return name == "Or"
	case "slices":
		return slices.Contains([]string{"All", "Backward", "Clone", "Collect", "Compact", "Concat", "Insert", "Reverse", "Sorted", "Values"}, name)
	case "maps":
		return slices.Contains([]string{"All", "Clone", "Collect", "Keys", "Values"}, name)
	}
	return false
}

func receiverName(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return "interface"
}

// textual says whether a type is of strings.
func textual(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return textual(u.Elem())
	}
	return false
}
