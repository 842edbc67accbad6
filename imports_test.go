package aesop_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layers are the packages from the lowest up; those of one row do not import each other. A package imports only what stands above
// its row here.
var layers = [][]string{
	{"internal/document", "internal/filelock", "internal/model", "internal/testcount", "cost", "redact", "redact/redacttest", "statestore/internal/backend"},
	{"cost/ledgerfile", "cost/price", "cost/transcript", "cost/transcript/transcripttest", "redact/internal/field", "tracker", "driver/process", "wave/policy"},
	{"redact/redacthttp", "redact/redactslog", "redact/redactzap", "tracker/trackertest", "tracker/template", "statestore"},
	{"statestore/outbox"},
	{"statestore/outbox/mqtt", "statestore/outbox/sink"},
	{"statestore/sqlite", "statestore/storetest", "statestore/job"},
	{"statestore/ledger", "statestore/lifecycle"},
	{"driver", "internal/git"},
	{"statestore/job/manifest", "statestore/job/drop"},
	{"internal/agentproc", "internal/tree", "internal/testrun", "redact/scan"},
	{"redact/hook"},
	{"internal/agentproc/agenttest", "driver/drivertest/modelserver"},
	{"driver/program"},
	{"driver/script", "driver/command", "driver/claude", "driver/codex", "driver/drivertest"},
	{"stateapi"},
	{"wave/journal"},
	{"wave"},
	{"wave/review"},
	{""},
	{"examples/internal/cli", "examples/internal/clitest"},
	{"examples/wave", "examples/tracker", "examples/redact", "examples/cost", "examples/jobs", "examples/customdriver"},
}

// heavy are modules that importing aesop/wave must not link.
var heavy = []string{"modernc.org/sqlite", "github.com/alecthomas/kong", "github.com/rogpeppe/go-internal", "github.com/eclipse/paho.golang"}

type listed struct {
	Dir        string
	ImportPath string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=Dir,ImportPath,GoFiles,Imports,Deps"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(out), `"`+modulePath(t), `"aesop`) // it may have another name
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var p listed
		if err := decoder.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// modulePath is that of this module, which may have been renamed.
func modulePath(t *testing.T) string {
	t.Helper()
	text := readFile(t, "go.mod")
	found := regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatal("go.mod names no module")
	}
	return found[1]
}

func example(path string) bool { return strings.HasPrefix(path, "aesop/examples/") }

func TestPackagesImportOnlyWhatIsBelowThem(t *testing.T) {
	layer := map[string]int{}
	for n, row := range layers {
		for _, p := range row {
			layer[strings.TrimSuffix("aesop/"+p, "/")] = n
		}
	}
	for _, p := range list(t, "./...") {
		own, placed := layer[p.ImportPath]
		if !placed {
			t.Errorf("%s has no place in the layers", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if i != "aesop" && !strings.HasPrefix(i, "aesop/") {
				continue
			}
			if at, ok := layer[i]; !ok || at >= own {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, i)
			}
			if example(p.ImportPath) && strings.Contains(i, "/internal") && !example(i) {
				t.Errorf("%s imports %s, which an adopter's program cannot", p.ImportPath, i)
			}
		}
	}
}

// TestWhatRunsUnderTheLockCanDoNoIO: what decides and writes within a transaction of the store imports nothing that starts a program, opens a
// socket or reads a file, and sleeps nowhere.
func TestWhatRunsUnderTheLockCanDoNoIO(t *testing.T) {
	for _, p := range list(t, "./statestore", "./statestore/outbox", "./statestore/job", "./statestore/ledger", "./statestore/lifecycle", "./stateapi", "./cost", "./wave/journal") {
		for _, i := range p.Imports {
			switch i {
			case "os/exec", "net", "net/http":
				t.Errorf("%s imports %s", p.ImportPath, i)
			case "os", "io/fs", "syscall":
				if !slices.Contains(readsFiles, p.ImportPath) {
					t.Errorf("%s imports %s", p.ImportPath, i)
				}
			}
		}
		for _, name := range p.GoFiles {
			if text := readFile(t, filepath.Join(p.Dir, name)); strings.Contains(text, "time.Sleep") {
				t.Errorf("%s sleeps", filepath.Join(p.ImportPath, name))
			}
		}
	}
}

// readsFiles are packages of which a part reads files, outside of any transaction: folders of agents as evidence, and a file for alerts.
var readsFiles = []string{"aesop/statestore/lifecycle", "aesop/cost"}

func TestWaveLinksNothingHeavy(t *testing.T) {
	for _, p := range list(t, "./wave") {
		for _, dep := range p.Deps {
			if slices.ContainsFunc(heavy, func(module string) bool { return dep == module || strings.HasPrefix(dep, module+"/") }) {
				t.Errorf("aesop/wave links %s", dep)
			}
		}
	}
}

// TestLibraryNamesNoFlags: what the library tells users is told by every program that is built on it, and those have commands and
// flags of their own.
func TestLibraryNamesNoFlags(t *testing.T) {
	for _, p := range list(t, "./...") {
		if example(p.ImportPath) || slices.Contains(callers, p.ImportPath) || slices.Contains(p.Imports, "testing") {
			continue // suites tell nothing to users
		}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && ownCommand.MatchString(text.Value) {
					t.Errorf("%s says %s", path, text.Value)
				}
				return true
			})
		}
	}
}

// callers hand flags to other programs, or look for those of others in texts.
var callers = []string{"aesop/internal/git", "aesop/redact/hook", "aesop/driver/claude", "aesop/driver/codex", "aesop/redact", "aesop/redact/redacttest"}

var ownCommand = regexp.MustCompile(`(^|[ "'(])(--[a-z]|wave (init|plan|run|resume|halt|show|status|approve|reject|correct|diff|logs|prune)|tracker (list|claim|add|retry))`)
