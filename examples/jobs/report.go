package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"aesop/examples/internal/cli"
	"aesop/statestore/job"
	"aesop/statestore/job/manifest"
)

// draft is a report to finalise.
type draft struct {
	file        string
	sideEffects []manifest.SideEffect
}

// finalise puts the report and its manifest into the folder of the attempt: dir, or "" for that of the report.
func (d draft) finalise(c *cli.Context, dir, id, attempt string) (*job.Report, error) {
	staged, dir, err := d.places(dir)
	if err != nil {
		return nil, err
	}
	if err := inTheWay(c, staged, dir, id, attempt); err != nil {
		return nil, err
	}
	m, err := manifest.Finalize(c, manifest.Draft{Dir: dir, Staged: staged, Job: id, Attempt: attempt, SideEffects: d.sideEffects})
	if err != nil {
		return nil, unfinalised(err)
	}
	return &job.Report{Path: m.Report, SHA256: m.SHA256}, nil
}

// inTheWay refuses a folder with a file that only happens to have the name of a report: where a report was, a manifest is.
func inTheWay(c *cli.Context, staged, dir, id, attempt string) error {
	report := filepath.Join(dir, manifest.ReportName)
	if _, err := os.Lstat(report); err != nil || report == staged || os.Getenv("AESOP_ATTEMPT_DIR") != "" {
		return nil
	}
	if _, err := manifest.Read(c, dir, manifest.Want{Job: id, Attempt: attempt}); !errors.Is(err, manifest.ErrNone) {
		return nil // finalising looks whose it is
	}
	return unfinalised(fmt.Errorf("%s is in the way, without a manifest: move it, or put the report into a folder of its own", report))
}

// moved is the report that an earlier call of the same words has finalised, nil where there is none: its file is gone, and the manifest holds.
func (d draft) moved(c *cli.Context, dir, id, attempt string) *job.Report {
	staged, dir, err := d.places(dir)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(staged); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	v, err := manifest.Read(c, dir, manifest.Want{Job: id, Attempt: attempt})
	if err != nil || !slices.Equal(v.SideEffects, d.sideEffects) {
		return nil
	}
	return &job.Report{Path: v.Report, SHA256: v.SHA256}
}

// again is the report of an attempt that is over, for comparison: the file, or, where that was moved when it was published, what it became. It
// changes nothing. other says that the one that is there was finalised with other side effects.
func (d draft) again(c *cli.Context, dir, id, attempt string) (report *job.Report, other bool, err error) {
	staged, dir, err := d.places(dir)
	if err != nil {
		return nil, false, err
	}
	v, none := manifest.Read(c, dir, manifest.Want{Job: id, Attempt: attempt})
	other = none == nil && !slices.Equal(v.SideEffects, d.sideEffects)
	sum, err := hash(staged)
	if none == nil && errors.Is(err, fs.ErrNotExist) {
		staged, sum, err = v.Report, v.SHA256, nil
	}
	if err != nil {
		return nil, false, unfinalised(err)
	}
	return &job.Report{Path: staged, SHA256: sum}, other, nil
}

// places are the file and the folder of the attempt, absolute.
func (d draft) places(dir string) (staged, folder string, err error) {
	if staged, err = filepath.Abs(d.file); err == nil && dir == "" {
		dir = filepath.Dir(staged)
	}
	return staged, dir, err
}

func unfinalised(err error) error {
	return &cli.Problem{Code: "not_finalised", Message: err.Error(), Hint: "nothing is published"}
}

// hash is the SHA-256 of a file that could be a report.
func hash(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > manifest.MaxReport {
		return "", fmt.Errorf("%s is not a regular file of up to %d bytes", path, manifest.MaxReport)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	digest := sha256.New()
	if _, err := io.Copy(digest, io.LimitReader(file, manifest.MaxReport)); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
