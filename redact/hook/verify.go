package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Status is how a check went.
type Status string

// Statuses. A check that could not run is not good.
const (
	Pass   Status = "pass"
	Fail   Status = "fail"
	NotRun Status = "not_run"
)

// Check is one thing that Verify looked at.
type Check struct {
	Code   string `json:"code"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
}

// Report is what Verify found.
type Report struct {
	SchemaVersion int     `json:"schemaVersion"`
	Outcome       string  `json:"outcome"` // good: every check passed; else problems
	Path          string  `json:"path"`
	Checks        []Check `json:"checks"`
}

// Verify looks at the hook of the repository of dir, and tries what it is made of in a repository of its own, with a remote and a secret
// of its own, in a temporary folder. The repository itself is only read.
func Verify(ctx context.Context, dir string) (Report, error) {
	place, err := open(ctx, dir)
	if err != nil {
		return Report{}, err
	}
	folder, err := place.Hooks(ctx)
	if err != nil {
		return Report{}, err
	}
	v := verification{Report: Report{SchemaVersion: SchemaVersion, Outcome: "good", Path: filepath.Join(folder, Name)}, stopped: map[string]bool{}}
	var text string
	var info fs.FileInfo
	v.check("hook_present", "", func() (err error) { text, info, err = found(folder); return err })
	v.check("hook_executable", "hook_present", func() error {
		if !executable(v.Path) {
			return fmt.Errorf("git passes it by: its mode is %v, or nothing may run from where it lies", info.Mode())
		}
		return nil
	})
	hook := parse(text)
	v.check("hook_version", "hook_present", func() error {
		if !hook.ours {
			return errors.New("it is not from here")
		}
		if hook.version != fmt.Sprint(Version) {
			return fmt.Errorf("it is of version %s, and this is %d; install it again", hook.version, Version)
		}
		return nil
	})
	v.check("hook_content", "hook_version", func() error {
		if !hook.same {
			return errors.New("it was edited since it was installed")
		}
		return nil
	})
	var hash string
	v.check("binary_present", "hook_content", func() (err error) { hash, err = hashBinary(hook.settings.Binary); return err })
	v.check("binary_unchanged", "binary_present", func() error {
		if hash != hook.settings.SHA256 {
			return fmt.Errorf("%s is another than when the hook was installed; if that is right, install it again", hook.settings.Binary)
		}
		return nil
	})
	v.rehearse(ctx, hook.settings)
	return v.Report, nil
}

func found(folder string) (string, fs.FileInfo, error) {
	root, err := openFolder(folder)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	text, info, err := look(root)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no hook in %s: install it", folder)
	}
	return text, info, err
}

type verification struct {
	Report
	stopped map[string]bool // checks that did not pass
}

// check runs a check, if the one that it needs passed.
func (v *verification) check(code, needs string, run func() error) {
	c := Check{Code: code, Status: Pass}
	if v.stopped[needs] {
		c.Status, c.Detail = NotRun, needs+" did not pass"
	} else if err := run(); err != nil {
		c.Status, c.Detail = Fail, err.Error()
	}
	if c.Status != Pass {
		v.stopped[code] = true
		v.Outcome = "problems"
	}
	v.Checks = append(v.Checks, c)
}
