//go:build unix

package testrun_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/internal/testrun"
)

// TestModuleWithADependencyPassesOffline: a Go module is tested with what the user's download cache has and nothing else, checked
// against go.sum. The dependency is one of this repository, whose own tests have put it into the cache.
func TestModuleWithADependencyPassesOffline(t *testing.T) {
	tree := t.TempDir()
	const module = "github.com/google/go-cmp"
	version := goList(t, "-m", "-f", "{{.Version}}", module)
	var sums []string
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sum)) {
		if strings.HasPrefix(line, module+" "+version) {
			sums = append(sums, line)
		}
	}
	if len(sums) != 2 {
		t.Fatalf("sums of %s: %q", module, sums)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n\nrequire "+module+" "+version+"\n")
	write("go.sum", strings.Join(sums, ""))
	write("m_test.go", "package m\n\nimport (\n\t\"testing\"\n\n\t\""+module+"/cmp\"\n)\n\n"+
		"func Test(t *testing.T) {\n\tif d := cmp.Diff(1, 1); d != \"\" {\n\t\tt.Error(d)\n\t}\n}\n")
	test := func() testrun.Outcome {
		private := filepath.Join(t.TempDir(), "private")
		lookup := func(name string) (string, bool) {
			switch name {
			case "GOPROXY":
				return "off", true // no network, whatever this machine has
			case "GOMODCACHE":
				return filepath.Dir(filepath.Dir(downloads(t))), true
			}
			return os.LookupEnv(name)
		}
		env, err := testrun.Environment(lookup, nil, private)
		if err != nil {
			t.Fatal(err)
		}
		return run(t, testrun.Spec{Argv: []string{"go", "test", "./..."}, Dir: tree, Env: env, Mark: fmt.Sprintf("testrun-%d/%s", os.Getpid(), t.Name()), Timeout: 3 * time.Minute})
	}
	if o := test(); !o.Passed() {
		t.Fatalf("outcome %+v", o)
	}
	ofModule, ofFile := strings.Fields(sums[0]), strings.Fields(sums[1])
	write("go.sum", ofModule[0]+" "+ofModule[1]+" "+ofFile[2]+"\n"+ofFile[0]+" "+ofFile[1]+" "+ofFile[2]+"\n")
	if o := test(); o.Passed() || !strings.Contains(o.Tail(), "checksum mismatch") {
		t.Errorf("with another sum: %+v", o)
	}
}

// downloads is the download cache of whoever runs this test.
func downloads(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
