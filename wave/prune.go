package wave

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aesop/driver/process"
	"aesop/internal/filelock"
	"aesop/internal/git"
	"aesop/statestore"
	"aesop/wave/journal"
)

// Retention is how long the trees, logs, reports and refs of a finished wave are kept.
const Retention = 14 * 24 * time.Hour

// PruneOptions say what of a state may go. What is not pushed never goes unless it is named.
type PruneOptions struct {
	OlderThan time.Duration // since the wave ended; 0: Retention; below 0: also what ended just now
	Keep      int           // newest finished waves that stay, however old
	Discard   []Piece       // unpushed work to throw away
	DryRun    bool          // only say what would be done
}

// Piece names an item of a wave.
type Piece struct {
	Wave string
	Item string // id
}

// Why something is kept.
const (
	KeptRunning    = "running"         // a process runs the wave
	KeptUnfinished = "unfinished"      // the wave can be resumed, or abandoned
	KeptTree       = "parked_tree"     // what an agent left, of work that did not ship
	KeptCommit     = "verified_commit" // that did not ship
	KeptBuilt      = "built_commit"    // that did not ship, and did not pass its test, or not twice
	KeptUnknown    = "unknown"         // a folder of a wave that this store does not know
)

// Kept is what was not removed, and has to be decided about.
type Kept struct {
	Wave  string
	Item  string // "": the whole wave
	Why   string
	Place string // folder below the state directory, or commit
}

// PrunedWave is a wave of which all but its events went.
type PrunedWave struct {
	Wave    string
	EndedAt time.Time
}

// Pruned is what Prune did, or would do.
type Pruned struct {
	Waves     []PrunedWave
	Discarded []Kept
	Kept      []Kept
	Leftovers []string // of processes that died, below the state directory
	Survivors []string // processes of finished waves, which were ended
	Files     int      // removed, those of git aside
	Bytes     int64
	Collected bool // git's own files were tidied up; not while a wave runs
}

// Prune removes what finished waves left: trees, logs, reports, refs and decisions, but neither events nor what is recorded of
// shipments. It holds each wave's lock meanwhile and leaves running ones alone. *RefusedError where a piece to discard is not there, or
// its wave is not finished; then nothing is removed.
func (a Archive) Prune(ctx context.Context, o PruneOptions) (Pruned, error) {
	p, err := a.survey(ctx, o)
	if err != nil {
		return Pruned{}, err
	}
	if err := p.checkDiscards(); err != nil {
		return Pruned{}, err
	}
	if err := p.endSurvivors(ctx); err != nil {
		return p.done, err
	}
	for _, id := range p.closed {
		if err := p.wave(ctx, id); err != nil {
			return p.done, fmt.Errorf("prune wave %s: %w", id, err)
		}
	}
	for _, id := range p.open {
		if err := p.keepOpen(id); err != nil {
			return p.done, err
		}
	}
	if err := p.leftovers(); err != nil {
		return p.done, err
	}
	return p.done, p.collect(ctx)
}

// pruning is one Prune under way.
type pruning struct {
	Archive
	options PruneOptions
	before  time.Time // waves that ended earlier may go
	closed  []string  // finished waves, oldest first
	open    []string
	stays   map[string]bool // finished waves that stay for their age or number
	folds   map[string]*journal.Wave
	engines []*git.Engine
	refs    map[string]map[*git.Engine][]string // by wave
	gone    bool                                // refs went
	done    Pruned
}

// survey reads what there is.
func (a Archive) survey(ctx context.Context, o PruneOptions) (*pruning, error) {
	place, err := Place(a.State)
	if err != nil {
		return nil, err
	}
	p := &pruning{Archive: a, options: o, stays: map[string]bool{}, folds: map[string]*journal.Wave{}, refs: map[string]map[*git.Engine][]string{}}
	if p.engines, err = a.engines(ctx); err != nil {
		return nil, err
	}
	for _, engine := range p.engines {
		refs, err := engine.Refs(ctx, "refs/aesop/")
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if id := waveOfRef(ref); id != "" {
				if p.refs[id] == nil {
					p.refs[id] = map[*git.Engine][]string{}
				}
				p.refs[id][engine] = append(p.refs[id][engine], ref)
			}
		}
	}
	return p, a.Store.View(ctx, func(r statestore.Reader) error { return p.read(r, place) })
}

// waveOfRef is the wave that a ref of the engine belongs to, or "".
func waveOfRef(ref string) string {
	for _, prefix := range []string{baseRefs, attemptRefs, unionRefs, parkedRefs} {
		if rest, ok := strings.CutPrefix(ref, prefix); ok {
			id, _, _ := strings.Cut(rest, "/")
			return id
		}
	}
	return ""
}

func (p *pruning) read(r statestore.Reader, place string) error {
	p.before = r.Now().Add(-Retention)
	if p.options.OlderThan != 0 {
		p.before = r.Now().Add(-max(p.options.OlderThan, 0))
	}
	var err error
	if p.open, err = journal.Open(r, place); err != nil {
		return err
	}
	all, err := journal.Of(r, place)
	if err != nil {
		return err
	}
	p.closed = slices.DeleteFunc(all, func(id string) bool { return slices.Contains(p.open, id) })
	for n, id := range p.closed {
		p.stays[id] = n >= len(p.closed)-p.options.Keep
	}
	for _, id := range slices.Concat(p.closed, p.open) {
		if !p.anything(id) {
			continue
		}
		fold, err := journal.Fold(r, id)
		if err != nil {
			return err
		}
		p.folds[id] = fold
		if p.options.OlderThan >= 0 && !fold.EndedAt.Before(p.before) {
			p.stays[id] = true
		}
	}
	return nil
}

// anything says whether a wave has left more than events.
func (p *pruning) anything(id string) bool {
	return len(p.refs[id]) > 0 || len(p.places(id)) > 0
}

// places are the files and folders of a wave that are there.
func (a Archive) places(id string) []string {
	all := []string{filepath.Join(a.State, "waves", id), filepath.Join(a.State, "trees", id)}
	caches, _ := pathsIn(filepath.Join(a.State, "trees"), id+".", "") // a folder that is not there holds nothing
	all = append(all, caches...)
	all = append(all, a.lock(id)+".owner", a.lock(id))
	return slices.DeleteFunc(all, func(path string) bool { return !exists(path) })
}

func (a Archive) lock(id string) string {
	return filepath.Join(a.State, "locks", "wave-"+id+".lock")
}

// unpushed are the pieces of a finished wave's work that exist nowhere else. What agents left on the way to what shipped is none, unless
// what shipped is somebody else's.
func (p *pruning) unpushed(fold *journal.Wave) []Kept {
	var kept []Kept
	for _, i := range fold.Select(func(i *journal.ItemState) bool { return i.Commit == "" || i.Commit != ownCommit(i) }) {
		for _, attempt := range i.Attempts {
			if attempt.Ended != nil && attempt.Ended.Parked != "" && exists(filepath.Join(p.State, filepath.FromSlash(attempt.Ended.Parked))) {
				kept = append(kept, Kept{Wave: fold.ID, Item: i.ID, Why: KeptTree, Place: attempt.Ended.Parked})
			}
		}
		if commit := ownCommit(i); commit != "" && len(p.itemRefs(fold.ID, i.ID, attemptRefs)) > 0 {
			why := KeptBuilt
			if i.Built() && !i.Refuted() {
				why = KeptCommit
			}
			kept = append(kept, Kept{Wave: fold.ID, Item: i.ID, Why: why, Place: commit})
		}
	}
	return kept
}

// itemRefs are the refs of an item below some prefixes.
func (p *pruning) itemRefs(id, item string, prefixes ...string) map[*git.Engine][]string {
	found := map[*git.Engine][]string{}
	for engine, refs := range p.refs[id] {
		for _, ref := range refs {
			for _, prefix := range prefixes {
				if own := prefix + id + "/" + itemName(item); ref == own || strings.HasPrefix(ref, own+"/") {
					found[engine] = append(found[engine], ref)
				}
			}
		}
	}
	return found
}

// checkDiscards refuses to discard what is not there.
func (p *pruning) checkDiscards() error {
	for _, piece := range p.options.Discard {
		if slices.Contains(p.open, piece.Wave) {
			return &RefusedError{Code: "unfinished", Message: fmt.Sprintf("wave %s is not finished, and may still ship %s", piece.Wave, piece.Item), Hint: "resume or abandon the wave first"}
		}
		fold := p.folds[piece.Wave]
		if fold == nil || !slices.ContainsFunc(p.unpushed(fold), func(k Kept) bool { return k.Item == piece.Item }) {
			return &RefusedError{Code: "nothing_kept", Message: fmt.Sprintf("nothing unpushed of %s is kept in wave %s", piece.Item, piece.Wave)}
		}
	}
	return nil
}

// endSurvivors ends processes of finished waves, which nobody waits for.
func (p *pruning) endSurvivors(ctx context.Context) error {
	if p.options.DryRun {
		return nil
	}
	place, err := Place(p.State)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	left, err := process.Kill(ctx, func(mark string) bool {
		rest, ours := strings.CutPrefix(mark, place+"/")
		id, _, _ := strings.Cut(rest, "/")
		return ours && slices.Contains(p.closed, id)
	})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("end what finished waves left running: %w", err)
	}
	p.done.Survivors = process.Names(left)
	return nil
}

// wave prunes a finished wave, under its lock.
func (p *pruning) wave(ctx context.Context, id string) error {
	fold := p.folds[id]
	if fold == nil {
		return nil
	}
	free, err := p.locked(id, func() error { return p.finished(ctx, id, fold) })
	if err == nil && !free { // its process is about to end
		p.done.Kept = append(p.done.Kept, Kept{Wave: id, Why: KeptRunning})
	}
	return err
}

// locked does work while it holds a wave's lock. free is false where somebody else holds it. Nothing is made where nothing may change.
func (p *pruning) locked(id string, work func() error) (free bool, err error) {
	if p.options.DryRun {
		if _, alive, err := Alive(p.State, id); err != nil || alive {
			return false, err
		}
		return true, work()
	}
	unlock, free, err := filelock.TryLock(p.lock(id))
	if err != nil || !free {
		return false, err
	}
	return true, errors.Join(work(), unlock())
}

func (p *pruning) finished(ctx context.Context, id string, fold *journal.Wave) error {
	kept := p.unpushed(fold)
	for _, piece := range p.options.Discard {
		if piece.Wave != id {
			continue
		}
		if err := p.discard(ctx, piece, kept); err != nil {
			return err
		}
		kept = slices.DeleteFunc(kept, func(k Kept) bool { return k.Item == piece.Item })
	}
	switch {
	case len(kept) > 0:
		p.done.Kept = append(p.done.Kept, kept...)
		return nil
	case p.stays[id]:
		return nil
	}
	p.done.Waves = append(p.done.Waves, PrunedWave{id, fold.EndedAt})
	if err := p.deleteRefs(ctx, p.refs[id]); err != nil {
		return err
	}
	if !p.options.DryRun {
		if err := p.forgetDecisions(ctx, id); err != nil {
			return err
		}
	}
	// The lock goes last, and while it is held: who waits for it takes that of a new file, and finds a finished wave.
	for _, path := range p.places(id) {
		if err := p.remove(path); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruning) discard(ctx context.Context, piece Piece, kept []Kept) error {
	for _, k := range kept {
		if k.Item != piece.Item {
			continue
		}
		p.done.Discarded = append(p.done.Discarded, k)
		if k.Why == KeptTree {
			if err := p.remove(filepath.Join(p.State, filepath.FromSlash(k.Place))); err != nil {
				return err
			}
		}
	}
	return p.deleteRefs(ctx, p.itemRefs(piece.Wave, piece.Item, attemptRefs, parkedRefs))
}

func (p *pruning) deleteRefs(ctx context.Context, refs map[*git.Engine][]string) error {
	for engine, names := range refs {
		p.gone = true
		if p.options.DryRun {
			continue
		}
		if err := engine.DeleteRefs(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruning) forgetDecisions(ctx context.Context, id string) error {
	return p.Store.Update(ctx, func(tx statestore.Tx) error {
		for record, err := range tx.Scan(statestore.Range{Prefix: statestore.Key(deskPrefix + id + "/")}) {
			if err != nil {
				return err
			}
			if err := tx.Delete(record.Key, statestore.Any); err != nil {
				return err
			}
		}
		return nil
	})
}

// remove removes a file or folder and counts what was in it, but for locks.
func (p *pruning) remove(path string) error {
	if strings.HasSuffix(path, ".lock") {
		if !p.options.DryRun {
			_ = os.Remove(path) // where a lock that is held cannot be removed, an empty file stays
		}
		return nil
	}
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is removed all the same, uncounted
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			p.done.Files++
			p.done.Bytes += info.Size()
		}
		return nil
	})
	if err != nil || p.options.DryRun {
		return err
	}
	return removeAll(path)
}

// removeAll removes also folders that an agent or a test made unwritable.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// keepOpen says of a wave that is not finished why it stays.
func (p *pruning) keepOpen(id string) error {
	_, alive, err := Alive(p.State, id)
	why := KeptUnfinished
	if alive {
		why = KeptRunning
	}
	p.done.Kept = append(p.done.Kept, Kept{Wave: id, Why: why})
	return err
}
