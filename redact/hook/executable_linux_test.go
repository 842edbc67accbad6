package hook_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"aesop/redact/hook"
)

// TestHookThatGitPassesBy: the mode of the file does not tell.
func TestHookThatGitPassesBy(t *testing.T) {
	for name, tt := range map[string]struct {
		refused bool // by install
		spoil   func(p *place)
	}{
		"file system": {true, func(p *place) {
			folder := filepath.Join(p.dir, "hooks")
			if err := os.Mkdir(folder, 0o755); err != nil {
				p.Fatal(err)
			}
			if err := unix.Mount("none", folder, "tmpfs", unix.MS_NOEXEC, "size=1m"); err != nil {
				p.Skipf("nothing can be mounted here: %v", err)
			}
			p.Cleanup(func() {
				if err := unix.Unmount(folder, 0); err != nil {
					p.Error(err)
				}
			})
			p.git(p.repo, "config", "core.hooksPath", folder)
		}},
		"right of others": {false, func(p *place) {
			if os.Getuid() == 0 {
				p.Skip("not applicable: root may run what anybody may")
			}
			p.install()
			if err := os.Chmod(p.hookPath(), 0o601); err != nil {
				p.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			tt.spoil(p)
			if tt.refused {
				var e *hook.Error
				if _, err := hook.Install(t.Context(), p.repo, p.settings()); !errors.As(err, &e) || e.Code != "not_executable" {
					t.Errorf("install: %v", err)
				}
			}
			report, err := hook.Verify(t.Context(), p.repo)
			if err != nil || report.Checks[1].Code != "hook_executable" || report.Checks[1].Status != hook.Fail {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}
