package template_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"aesop/tracker"
	"aesop/tracker/template"
)

func preset(t testing.TB, name string) template.Template {
	t.Helper()
	p, err := template.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPresetsAreWorkedOffWaveByWave: what one wave ships opens the next items, until all are done.
func TestPresetsAreWorkedOffWaveByWave(t *testing.T) {
	if names := template.Names(); strings.Join(names, " ") != "data library service" {
		t.Fatalf("presets are %v", names)
	}
	for _, name := range template.Names() {
		for _, values := range []template.Values{{ProjectName: "shop", BaseDir: "services/shop"}, {ProjectName: "Shop.2", BaseDir: "."}} {
			text, err := preset(t, name).Instantiate(values)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(text) {
				t.Errorf("%s is not plain JSON", name)
			}
			backlog, err := tracker.Parse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(backlog.Items); n < 3 || n > 6 {
				t.Errorf("%s has %d items", name, n)
			}
			for wave := 0; ; wave++ {
				selected := tracker.Intake(backlog, tracker.IntakeOptions{})
				if selected.Open == 0 {
					break
				}
				if len(selected.Items) == 0 {
					t.Fatalf("%s: wave %d finds nothing to do: %+v", name, wave, selected.Skipped)
				}
				for _, item := range selected.Items {
					for i := range backlog.Items {
						if backlog.Items[i].ID == item.ID {
							backlog.Items[i].Status = tracker.Done
						}
					}
				}
			}
		}
	}
}

func TestTestCommandsOfPresetsAreShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	for _, name := range template.Names() {
		text, err := preset(t, name).Instantiate(template.Values{ProjectName: "shop", BaseDir: "."})
		if err != nil {
			t.Fatal(err)
		}
		backlog, err := tracker.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range backlog.Items {
			if out, err := exec.Command(sh, "-n", "-c", item.TestCmd.String()).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", item.ID, err, out)
			}
		}
	}
}

func TestInstantiate(t *testing.T) {
	mine := template.Template{Name: "mine", Text: []byte("// for {project_name}\n" +
		`[{"id":"a","slug":"a","ownsFiles":["{base_dir}/x"],"prompt":"{base_dir} of {project_name} and ${HOME}","testCmd":"test -e {base_dir}/x"}]`)}
	for _, tt := range []struct{ dir, owns, prompt, test string }{
		{"lib/a", "lib/a/x", "lib/a of p and ${HOME}", "test -e lib/a/x"},
		{".", "x", ". of p and ${HOME}", "test -e x"},
	} {
		text, err := mine.Instantiate(template.Values{ProjectName: "p", BaseDir: tt.dir})
		if err != nil {
			t.Fatal(err)
		}
		backlog, err := tracker.Parse("mine", text)
		if err != nil {
			t.Fatal(err)
		}
		if i := backlog.Items[0]; i.OwnsFiles[0] != tt.owns || i.Prompt != tt.prompt || i.TestCmd.Shell != tt.test {
			t.Errorf("base %s: %+v", tt.dir, i)
		}
	}
}

func TestInstantiateLeavesNoPlaceholder(t *testing.T) {
	for name, prompt := range map[string]string{
		"unknown": "{projectname}", "spaces": "{ project_name }", "upper case": "{PROJECT_NAME}", "twice": "{{project_name}}",
		"variable of the shell": "${base_dir}", "escaped": `\u007bproject_name}`,
	} {
		mine := template.Template{Name: "mine", Text: []byte(`[{"id":"a","slug":"a","ownsFiles":["x"],"prompt":"` + prompt + `","testCmd":"true"}]`)}
		_, err := mine.Instantiate(template.Values{ProjectName: "p", BaseDir: "d"})
		if left, ok := errors.AsType[*template.PlaceholderError](err); !ok || left.Field != "[0].prompt" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValuesThatCouldMeanMoreAreRefused(t *testing.T) {
	for _, bad := range []string{"", " ", "a b", `a"b`, "a\nb", "$(touch x)", "`x`", "a;b", "a'b", "-rf", "a/b", "..", ".", "a\\b", "ä", "{base_dir}", "con", "a.", "a\x00",
		strings.Repeat("a", 65), "%s", "a*", "~", "a\u202eb"} {
		_, err := preset(t, "service").Instantiate(template.Values{ProjectName: bad, BaseDir: "d"})
		if value, ok := errors.AsType[*template.ValueError](err); !ok || value.Placeholder != "project_name" {
			t.Errorf("project name %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "/abs", "..", "a/../b", "a//b", "a/", "././a", "-a", "a/-b", "a b", `a"`, "$(x)", "a\nb", ".git/hooks", "a\\b", "C:", "nul/x", strings.Repeat("a/", 600) + "a"} {
		_, err := preset(t, "service").Instantiate(template.Values{ProjectName: "p", BaseDir: bad})
		if value, ok := errors.AsType[*template.ValueError](err); !ok || value.Placeholder != "base_dir" {
			t.Errorf("base dir %q: %v", bad, err)
		}
	}
}

func TestFindNamesTheNearest(t *testing.T) {
	_, err := template.Find("libary")
	if unknown, ok := errors.AsType[*template.UnknownError](err); !ok || unknown.Near != "library" {
		t.Errorf("%v", err)
	}
	if _, err := template.Find("../presets/data"); err == nil {
		t.Error("a path is taken for a name")
	}
}

// FuzzInstantiate: whatever the values, the result is refused, or has just the letters of the values where placeholders stood.
func FuzzInstantiate(f *testing.F) {
	for _, seed := range [][2]string{{"shop", "services/shop"}, {"a", "."}, {`"`, "$(x)"}, {"a\n", "a/../b"}, {"{base_dir}", "{project_name}"}, {"x", "a.b/-c"}} {
		f.Add(seed[0], seed[1])
	}
	plain := regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
	f.Fuzz(func(t *testing.T, project, dir string) {
		p := preset(t, "service")
		text, err := p.Instantiate(template.Values{ProjectName: project, BaseDir: dir})
		if err != nil {
			return
		}
		if !plain.MatchString(project) || !plain.MatchString(dir) || project[0] == '-' || dir[0] == '-' || dir[0] == '/' || strings.Contains(dir, "/-") {
			t.Fatalf("%q and %q are taken", project, dir)
		}
		got, err := tracker.Parse("", text)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := tracker.Parse("", p.Text)
		if err != nil {
			t.Fatal(err)
		}
		fill := strings.NewReplacer("{project_name}", project, "{base_dir}", dir)
		for i, item := range raw.Items {
			if got.Items[i].Slug != fill.Replace(item.Slug) || dir != "." && got.Items[i].TestCmd.Shell != fill.Replace(item.TestCmd.Shell) {
				t.Errorf("item %s is %+v", item.ID, got.Items[i])
			}
		}
	})
}
