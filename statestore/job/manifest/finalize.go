package manifest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
)

// Finalize moves the staged report into its place and then writes the manifest, each durable before the next begins. It returns what the
// manifest says. Once more with other content makes a new manifest; with the same content and claims the same one, down to its time.
//
// A *DraftError leaves everything as it was. After any other error there is no manifest that counts, unless the error says that one could
// not be removed. After a crash there is none, or the new one, or, where nothing had begun, the old one with the old report. Calls for one
// folder must not overlap: each could void what the other wrote.
func Finalize(ctx context.Context, d Draft) (Manifest, error) { return finalize(ctx, d, realDisk{}) }

func finalize(ctx context.Context, d Draft, on disk) (Manifest, error) {
	if ctx.Err() != nil {
		return Manifest{}, context.Cause(ctx)
	}
	if err := d.check(); err != nil {
		return Manifest{}, err
	}
	dir, err := realDir(d.Dir)
	if err != nil {
		return Manifest{}, &DraftError{"dir", err.Error()}
	}
	if wrong := defect(dir); wrong != "" { // the manifest could not name it
		return Manifest{}, &DraftError{"dir", wrong}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, &DraftError{"dir", err.Error()}
	}
	defer func() { _ = root.Close() }()
	staged, err := d.hold(root, dir)
	if err != nil {
		return Manifest{}, &DraftError{"staged", err.Error()}
	}
	defer staged.close()

	old, err := d.declared(root, dir)
	if err != nil {
		return Manifest{}, &DraftError{"dir", err.Error()}
	}
	if err := withdraw(on, root); err != nil {
		return Manifest{}, fmt.Errorf("finalise: withdraw %s: %w", filepath.Join(dir, Name), err)
	}
	if err := promote(on, root, staged); err != nil {
		return Manifest{}, fmt.Errorf("finalise: promote %s: %w", d.Staged, err)
	}
	m := Manifest{SchemaVersion: SchemaVersion, Job: d.Job, Attempt: d.Attempt, Session: d.Session, Report: filepath.Join(dir, ReportName),
		Size: staged.info.Size(), SideEffects: append([]SideEffect{}, d.SideEffects...)}
	if m.SHA256, err = staged.hash(ctx, MaxReport); err == nil {
		err = staged.unchanged()
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("finalise: read %s: %w", m.Report, err)
	}
	m.FinalizedAt = old.FinalizedAt
	if !reflect.DeepEqual(m, old) {
		m.FinalizedAt = d.now()
	}
	if err := m.write(on, root); err != nil {
		return Manifest{}, fmt.Errorf("finalise: write %s: %w", filepath.Join(dir, Name), err)
	}
	return m, nil
}

// declared is the manifest that is there, or the zero one, which no draft gives. A file of that name that is none of this job's is somebody
// else's, and not to be replaced.
func (d Draft) declared(root *os.Root, dir string) (Manifest, error) {
	path := filepath.Join(dir, Name)
	if there, err := root.Lstat(Name); err != nil || !there.Mode().IsRegular() {
		return Manifest{}, nil
	}
	file, m, err := open(root, path)
	if err != nil {
		return Manifest{}, fmt.Errorf("what is in the way is not a manifest, remove it or finalise elsewhere: %w", err)
	}
	file.close()
	if m.Job != d.Job && m.Attempt != d.Attempt {
		return Manifest{}, fmt.Errorf("%s is that of job %s; each job needs a folder of its own", path, m.Job)
	}
	return m, nil
}

// withdraw removes the manifest that is there: with the old report, or with the same content and other claims, it would still count after
// a failure.
func withdraw(on disk, root *os.Root) error {
	err := on.remove(root, Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncNames(on, root)
}

// promote gives the staged report its name.
func promote(on disk, root *os.Root, staged *held) error {
	if err := on.sync(staged.file); err != nil {
		return err
	}
	if err := on.rename(root, staged.name, ReportName); err != nil {
		return err
	}
	if err := syncNames(on, root); err != nil {
		return err
	}
	now, err := staged.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != staged.info.Size() || !now.ModTime().Equal(staged.info.ModTime()) {
		return errChanged // what was written since the sync could be lost in a power cut
	}
	staged.name, staged.info = ReportName, now // a rename is a change too
	return nil
}

// write puts the manifest in its place. Where it fails, there is none.
func (m Manifest) write(on disk, root *os.Root) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	temp := Name + "." + rand.Text()
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = on.write(f, data)
	if err == nil {
		err = on.sync(f)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = on.rename(root, temp, Name)
	}
	if err == nil {
		err = syncNames(on, root)
	}
	if err == nil {
		return nil
	}
	for _, name := range []string{temp, Name} {
		if left := on.remove(root, name); left != nil && !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
	}
	return err
}
