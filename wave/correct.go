package wave

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"aesop/internal/git"
	"aesop/wave/journal"
)

// correct makes what a person changed in the item's verified commit a commit of its own, built and tested as an agent's work is. It
// takes the old one's place if it passes; otherwise the person is told why, and the old one stays and still waits.
func (r *run) correct(ctx context.Context, item *journal.ItemState, j Judgement) error {
	c := *j.Correction
	id := c.ID(r.id, item.ID, item.Verified)
	event := journal.Corrected{Item: item.ID, Attempt: id, Of: item.Verified, By: j.By, Reason: j.Reason, Files: c.Paths()}
	w := &work{run: r, target: r.targetOf(item.ID), item: item, text: r.item(item.ID), attempt: id, from: item.Verified, dir: r.scratch(item.ID, "correction-"+id)}
	r.discard(w.dir) // of a process that died
	defer r.discard(w.dir)
	built := w.corrected(ctx, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	event.Commit, event.Tree = built.Commit, built.Tree
	if built.Outcome != journal.OutcomeBuilt {
		event.Commit, event.Tree, event.Refused = "", "", built.Outcome+": "+built.Reason
		return r.record(event)
	}
	test, err := r.test(ctx, testRun{target: w.target, name: "correction-" + id, item: item.ID, commit: built.Commit, argv: w.text.TestCmd.Words(), text: item.TestText,
		workDir: w.text.WorkDir, seed: r.cacheOf(item.ID)})
	if err != nil {
		return err
	}
	needTests(&test)
	needTestsOf(item.BaseTest, &test)
	event.Test = &test
	return r.record(event)
}

// corrected is the correction on a fresh checkout, taken through the fence like an attempt.
func (w *work) corrected(ctx context.Context, c Correction) journal.AttemptEnded {
	refused := func(format string, args ...any) journal.AttemptEnded {
		return journal.AttemptEnded{Outcome: "not_made", Reason: fmt.Sprintf(format, args...)}
	}
	if err := c.Check(); err != nil {
		return refused("%v", err)
	}
	if err := w.target.engine.Checkout(ctx, w.from, w.dir); err != nil {
		return refused("%v", err)
	}
	if err := c.write(w.dir); err != nil {
		return refused("%v", err)
	}
	log, err := w.openLog(w.item.ID)
	if err != nil {
		return refused("%v", err)
	}
	defer log.Close()
	end := w.harvest(ctx, log, journal.AttemptEnded{})
	if end.Outcome == journal.OutcomeNoChanges {
		return refused("it takes the whole change back: reject the item instead")
	}
	if end.Outcome != journal.OutcomeBuilt {
		return end
	}
	if lost, err := w.lost(ctx, end.Commit, c); err != nil {
		return refused("%v", err)
	} else if len(lost) > 0 {
		return refused("the ignore files of the base leave out %s; only what the item owns by its name is kept from that", strings.Join(lost, ", "))
	}
	old, err := w.target.engine.TreeOf(ctx, w.from)
	if err != nil {
		return refused("%v", err)
	}
	if end.Tree == old {
		return refused("it changes nothing of the commit")
	}
	return end
}

// lost are the files of the correction that the commit made of it has not.
func (w *work) lost(ctx context.Context, commit git.SHA, c Correction) ([]string, error) {
	entries, err := w.target.engine.List(ctx, commit)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, e := range entries {
		has[e.Path] = true
	}
	var lost []string
	for _, f := range c.Write {
		if !has[path.Clean(f.Path)] {
			lost = append(lost, f.Path)
		}
	}
	return lost, nil
}

// write makes the correction in a checkout.
func (c Correction) write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range c.Delete {
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("delete %s: %w", name, cause(err))
		}
	}
	for _, f := range c.Write {
		if err := f.write(root); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, cause(err))
		}
	}
	return nil
}

func (f File) write(root *os.Root) error {
	name, mode := filepath.FromSlash(f.Path), fs.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o755); err != nil {
		return err
	}
	switch old, err := root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.IsDir():
		return errors.New("it is a folder")
	default:
		if old.Mode().IsRegular() {
			mode |= old.Mode().Perm() & 0o111
		}
		if err := root.Remove(name); err != nil { // also a link, which would lead elsewhere
			return err
		}
	}
	return root.WriteFile(name, f.Data, mode)
}

// cause is an error of a file without the operation and the path, which people know by another name.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
