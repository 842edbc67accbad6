package wave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/redact"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave/journal"
)

// Archive is what a state directory keeps of its waves: to look at it, and to tidy it up. It needs neither a driver nor a remote.
type Archive struct {
	State    string
	Store    statestore.Store
	Redactor *redact.Redactor // of what Abandon writes; nil: the default one
}

// ItemDiff is what an item's work changes.
type ItemDiff struct {
	Wave   string
	Item   string // id
	Base   string // commit
	Commit string // "" where there is none
	Parked string // folder below the state directory that keeps the agent's tree, where there is no commit
	Text   string
	// Scanned says that it is a commit in which a scan found no secret that is not allowed.
	Scanned bool
	Left    []string // paths of a parked tree that could be no part of a commit, with the reason
}

// maxWholeDiff bounds a diff that somebody asked for, in bytes.
const maxWholeDiff = 64 << 20

// Diff shows what the wave made of the item against the base: its newest commit, or the tree that is parked where there is none; else what
// somebody else shipped of it. *RefusedError where nothing is kept.
func (a Archive) Diff(ctx context.Context, wave, item string) (ItemDiff, error) {
	fold, i, err := a.find(ctx, wave, item)
	if err != nil {
		return ItemDiff{}, err
	}
	d := ItemDiff{Wave: fold.ID, Item: i.ID, Base: fold.Of(i).Base, Commit: ownCommit(i)}
	d.Scanned = d.Commit != "" && d.Commit == i.Verified && i.WasScanned() && (i.End == nil || i.End.State != journal.StateSecretFound)
	if d.Commit == "" {
		d.Parked = newestParked(i)
		if d.Parked == "" || i.Commit != "" && !exists(filepath.Join(a.State, filepath.FromSlash(d.Parked))) {
			d.Commit, d.Parked = i.Commit, ""
		}
		if d.Commit == "" && d.Parked == "" {
			return d, &RefusedError{Code: "nothing_kept", Message: fmt.Sprintf("%s has neither a commit nor a parked tree in wave %s", i.ID, fold.ID)}
		}
	}
	engine, err := a.engineWith(ctx, d.Base, d.Commit)
	if err != nil {
		return d, err
	}
	shown := d.Commit
	if shown != "" { // the base may have moved since
		parents, err := engine.Parents(ctx, shown)
		if err != nil {
			return d, err
		}
		d.Base = parents[0]
	} else if shown, d.Left, err = a.commitParked(ctx, engine, fold, i, d.Parked); err != nil {
		return d, err
	}
	d.Text, err = engine.Diff(ctx, d.Base, shown, maxWholeDiff)
	return d, err
}

// ownCommit is what the wave made of an item: what passed, else the newest that was built, whatever became of it.
func ownCommit(i *journal.ItemState) string {
	commit := i.Verified
	for _, a := range i.Attempts {
		if i.Verified == "" && a.Ended != nil && a.Ended.Commit != "" {
			commit = a.Ended.Commit
		}
	}
	return commit
}

func newestParked(i *journal.ItemState) (place string) {
	for _, a := range i.Attempts {
		if a.Ended != nil && a.Ended.Parked != "" {
			place = a.Ended.Parked
		}
	}
	return place
}

// commitParked makes a commit of a parked tree, so that it can be compared. Its files are read like any agent's; its .git is not.
func (a Archive) commitParked(ctx context.Context, engine *git.Engine, fold *journal.Wave, i *journal.ItemState, parked string) (git.SHA, []string, error) {
	dir := filepath.Join(a.State, filepath.FromSlash(parked))
	if !exists(dir) {
		return "", nil, &RefusedError{Code: "nothing_kept", Message: fmt.Sprintf("the parked tree of %s is gone: %s", i.ID, dir)}
	}
	base := fold.Of(i).Base
	found, err := readFolder(ctx, engine, base, base, dir, i.Owns)
	if err != nil {
		return "", nil, err
	}
	left := unfit(found)
	if len(i.Owns) > 0 {
		owns, err := tracker.ParseOwnership(i.Owns)
		if err != nil {
			return "", nil, err
		}
		for _, name := range found.Ignored {
			if work, err := ownedBelow(dir, []string{name}, owns); work != "" || err != nil {
				left = append(left, name+" (left out, by the ignore files of the base)")
			}
		}
	}
	commit, err := engine.Build(ctx, git.Commit{Parents: []git.SHA{base}, Changes: found.Changes, Message: "Parked\n", Who: git.Fallback, When: fold.StartedAt,
		Ref: parkedRefs + fold.ID + "/" + itemName(i.ID)})
	return commit, left, err
}

// readFolder is how a folder differs from a commit, whoever owns what, but for what the ignore files of the commit rules name and named,
// entries of an item's ownership, do not.
func readFolder(ctx context.Context, engine *git.Engine, commit, rules git.SHA, dir string, named []string) (tree.Found, error) {
	entries, err := engine.List(ctx, commit)
	if err != nil {
		return tree.Found{}, err
	}
	all, err := tracker.ParseOwnership(append([]string{"**/*"}, named...))
	if err != nil {
		return tree.Found{}, err
	}
	scratch, err := os.MkdirTemp("", "aesop-ignores-")
	if err != nil {
		return tree.Found{}, err
	}
	defer os.RemoveAll(scratch)
	return fenceBy(ctx, engine, rules, filepath.Join(scratch, "files"), dir, entries, all)
}

// unfit names what there could be no part of a commit, with the reason.
func unfit(found tree.Found) []string {
	var left []string
	for _, v := range found.Violations {
		left = append(left, v.String())
	}
	return left
}

// Compare reads a folder as a correction of the commit with which an item waits: the files that differ from the commit's. Files that
// the folder lacks stay, so that it need hold no more than what is corrected. The commit comes back too.
func (a Archive) Compare(ctx context.Context, wave, item, dir string) (Correction, string, error) {
	fold, i, err := a.find(ctx, wave, item)
	if err != nil {
		return Correction{}, "", err
	}
	if !i.Waits() {
		return Correction{}, "", Seen{}.waits(fold, i)
	}
	base := fold.Of(i).Base
	engine, err := a.engineWith(ctx, i.Verified, base)
	if err != nil {
		return Correction{}, "", err
	}
	found, err := readFolder(ctx, engine, i.Verified, base, dir, i.Owns)
	if err != nil {
		return Correction{}, "", err
	}
	if left := unfit(found); len(left) > 0 {
		return Correction{}, "", &SetupError{Code: "usage", Message: fmt.Sprintf("correction: %s has what can be no part of a commit: %s", dir, strings.Join(left, ", ")),
			Hint: "give a folder of plain files"}
	}
	var c Correction
	for _, change := range found.Changes {
		switch change.Mode {
		case "": // the folder lacks it
		case "100644", "100755":
			c.Write = append(c.Write, File{Path: change.Path, Data: change.Data, Executable: change.Mode == "100755"})
		default:
			return Correction{}, "", &SetupError{Code: "usage", Message: fmt.Sprintf("correction: %s is no plain file", change.Path), Hint: "give a folder of plain files"}
		}
	}
	return c, i.Verified, nil
}

// Item is an item's row of the report of a wave, and the wave: the named one, else the newest that has the item. The item is named by its
// id, or by a slug that is one item's alone.
func (a Archive) Item(ctx context.Context, wave, item string) (id string, row ItemReport, err error) {
	fold, i, err := a.find(ctx, wave, item)
	if err != nil {
		return "", ItemReport{}, err
	}
	return fold.ID, itemReport(fold, i), nil
}

func (a Archive) find(ctx context.Context, wave, item string) (fold *journal.Wave, i *journal.ItemState, err error) {
	err = a.Store.View(ctx, func(r statestore.Reader) error {
		fold, i, err = findItem(r, wave, item, func(*journal.ItemState) bool { return true })
		return err
	})
	return fold, i, err
}

// Refs of the engine's repositories, each followed by the wave's id.
const (
	baseRefs    = "refs/aesop/base/"
	attemptRefs = "refs/aesop/attempts/"
	unionRefs   = "refs/aesop/waves/"
	parkedRefs  = "refs/aesop/parked/"
)

// engines are the engine's repositories of a state.
func (a Archive) engines(ctx context.Context) ([]*git.Engine, error) {
	program, err := git.Find(ctx)
	if err != nil {
		return nil, err
	}
	dirs, err := pathsIn(filepath.Join(a.State, "git"), "", ".git")
	if err != nil {
		return nil, err
	}
	var engines []*git.Engine
	for _, dir := range dirs {
		engine, err := program.OpenBare(ctx, dir)
		if err != nil {
			return nil, err
		}
		engines = append(engines, engine)
	}
	return engines, nil
}

// engineWith is the engine's repository that has all of some commits; "" is none.
func (a Archive) engineWith(ctx context.Context, commits ...git.SHA) (*git.Engine, error) {
	engines, err := a.engines(ctx)
	if err != nil {
		return nil, err
	}
	var asked []error
	for _, engine := range engines {
		all := true
		for _, commit := range commits {
			if commit == "" {
				continue
			}
			has, err := engine.Has(ctx, commit)
			asked = append(asked, err)
			all = all && has
		}
		if all {
			return engine, nil
		}
	}
	return nil, errors.Join(append(asked, &RefusedError{Code: "nothing_kept", Message: "the commit is not kept here any more: it was removed, or shipped by another state"})...)
}
