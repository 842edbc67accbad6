package hook_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"aesop/redact/hook"
)

// checks are the codes of what Verify looks at, in its order.
func checks() []string {
	return []string{"hook_present", "hook_executable", "hook_version", "hook_content", "binary_present", "binary_unchanged",
		"clean_push_passes", "secret_push_refused", "protected_push_refused"}
}

func TestVerify(t *testing.T) {
	p := newPlace(t)
	p.install()
	before := p.tree()
	report, err := hook.Verify(t.Context(), p.repo)
	if err != nil || report.Outcome != "good" || report.Path != p.hookPath() {
		t.Errorf("%+v, %v", report, err)
	}
	var codes []string
	for _, c := range report.Checks {
		codes = append(codes, c.Code)
		if c.Status != hook.Pass || c.Detail != "" {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Equal(codes, checks()) {
		t.Errorf("checks are %v", codes)
	}
	if after := p.tree(); !slices.Equal(before, after) {
		t.Errorf("it changed\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// TestVerifySeesEachFault: every check has a fault that fails it, and none that depends on it is green.
func TestVerifySeesEachFault(t *testing.T) {
	seen := map[string]bool{}
	for name, tt := range map[string]struct {
		fails  []string
		notRun int
		spoil  func(p *place)
	}{
		"no hook":        {[]string{"hook_present"}, 8, func(p *place) { _ = os.Remove(p.hookPath()) }},
		"linked":         {[]string{"hook_present"}, 8, func(p *place) { _ = os.Rename(p.hookPath(), p.dir+"/f"); _ = os.Symlink(p.dir+"/f", p.hookPath()) }},
		"not executable": {[]string{"hook_executable"}, 0, func(p *place) { _ = os.Chmod(p.hookPath(), 0o644) }},
		"foreign":        {[]string{"hook_version"}, 6, func(p *place) { p.write(p.hookPath(), "#!/bin/sh\nexit 0\n") }},
		"another version": {[]string{"hook_version"}, 6, func(p *place) {
			p.write(p.hookPath(), strings.Replace(p.read(p.hookPath()), "version 1,", "version 2,", 1))
		}},
		"edited":             {[]string{"hook_content"}, 5, func(p *place) { p.write(p.hookPath(), p.read(p.hookPath())+"\n") }},
		"no binary":          {[]string{"binary_present"}, 4, func(p *place) { _ = os.Remove(p.binary) }},
		"binary refuses all": {[]string{"binary_unchanged", "clean_push_passes"}, 2, func(p *place) { p.replaceBinary("#!/bin/sh\nexit 1\n") }},
		"binary allows all": {[]string{"binary_unchanged", "clean_push_passes"}, 2, func(p *place) {
			p.replaceBinary("#!/bin/sh\necho '" + hook.Allowed + "'\n") // and says so nowhere
		}},
		"binary allows all but logs": {[]string{"binary_unchanged", "secret_push_refused", "protected_push_refused"}, 0, func(p *place) {
			p.replaceBinary("#!/bin/sh\nmkdir -p \"$4\"\n" + `echo '{"seq":1,"prevHash":"GENESIS","at":"2026-01-01T00:00:00Z","repo":"","event":"push_allowed","reason":"clean","user":""}' >"$4/security-audit.log"` +
				"\necho '" + hook.Allowed + "'\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.install()
			tt.spoil(p)
			report, err := hook.Verify(t.Context(), p.repo)
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			notRun := 0
			for _, c := range report.Checks {
				switch c.Status {
				case hook.Fail:
					failed = append(failed, c.Code)
					seen[c.Code] = true
				case hook.NotRun:
					notRun++
				}
				if (c.Detail == "") != (c.Status == hook.Pass) {
					t.Errorf("%+v", c)
				}
			}
			if !slices.Equal(failed, tt.fails) || notRun != tt.notRun || report.Outcome != "problems" || len(report.Checks) != len(checks()) {
				t.Errorf("%+v", report)
			}
		})
	}
	for _, code := range checks() {
		if !seen[code] {
			t.Errorf("no fault fails %s", code)
		}
	}
	if _, err := hook.Verify(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder that is in no repository is verified")
	}
}
