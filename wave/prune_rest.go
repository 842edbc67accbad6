package wave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"aesop/internal/filelock"
	"aesop/internal/git"
)

var waveID = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)

// leftovers removes what processes that died left beside the waves: caches, which no other process looks for, and the lock files of
// waves that never began. Folders of waves that this store does not know may be another store's, and stay.
func (p *pruning) leftovers() error {
	for _, id := range p.open {
		caches, _ := pathsIn(filepath.Join(p.State, "trees"), id+".caches-", "")
		if len(caches) == 0 {
			continue
		}
		if _, err := p.locked(id, func() error { return p.removeLeft(caches...) }); err != nil {
			return err
		}
	}
	known := slices.Concat(p.closed, p.open)
	for _, id := range p.strangers() {
		if slices.Contains(known, id) {
			continue
		}
		if exists(filepath.Join(p.State, "waves", id)) || exists(filepath.Join(p.State, "trees", id)) {
			p.done.Kept = append(p.done.Kept, Kept{Wave: id, Why: KeptUnknown})
			continue
		}
		if _, err := p.locked(id, func() error { return p.removeLeft(p.places(id)...) }); err != nil {
			return err
		}
	}
	return nil
}

// strangers are the waves that have a file or folder here, sorted.
func (p *pruning) strangers() []string {
	found := map[string]bool{}
	for _, dir := range []string{"waves", "trees", "locks"} {
		entries, _ := os.ReadDir(filepath.Join(p.State, dir)) // what is not there holds nothing
		for _, e := range entries {
			name, _, _ := strings.Cut(strings.TrimPrefix(e.Name(), "wave-"), ".")
			if waveID.MatchString(name) {
				found[name] = true
			}
		}
	}
	var ids []string
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (p *pruning) removeLeft(paths ...string) error {
	for _, path := range paths {
		name, err := filepath.Rel(p.State, path)
		if err != nil {
			return err
		}
		p.done.Leftovers = append(p.done.Leftovers, filepath.ToSlash(name))
		if err := p.remove(path); err != nil {
			return err
		}
	}
	return nil
}

// collect tidies git's files up, if refs went and no wave runs: a running one has objects that no ref reaches yet. A wave that begins
// waits for the lock that is held here before it touches the repository, and who has begun holds its own.
func (p *pruning) collect(ctx context.Context) error {
	if p.options.DryRun {
		return nil
	}
	for _, engine := range p.engines {
		if err := p.collectOne(ctx, engine); err != nil {
			return fmt.Errorf("tidy %s up: %w", engine.Dir, err)
		}
	}
	return nil
}

func (p *pruning) collectOne(ctx context.Context, engine *git.Engine) error {
	name := strings.TrimSuffix(filepath.Base(engine.Dir), ".git")
	unlock, free, err := filelock.TryLock(filepath.Join(p.State, "locks", "git-"+name+".lock"))
	if err != nil || !free {
		return err
	}
	defer func() { _ = unlock() }() // the kernel frees it at the latest
	if aside := engine.Dir + ".new"; exists(aside) {
		if err := p.removeLeft(aside); err != nil {
			return err
		}
	}
	if !p.gone {
		return nil
	}
	if running, err := p.running(); err != nil || running {
		return err
	}
	p.done.Collected = true
	return engine.Collect(ctx)
}

// running says whether any process of this state runs a wave.
func (p *pruning) running() (bool, error) {
	locks, err := pathsIn(filepath.Join(p.State, "locks"), "wave-", ".lock")
	if err != nil {
		return true, err
	}
	for _, path := range locks {
		unlock, free, err := filelock.TryLock(path)
		if err != nil {
			return true, err
		}
		if !free {
			return true, nil
		}
		if err := unlock(); err != nil {
			return true, errors.Join(errors.New("look for running waves"), err)
		}
	}
	return false, nil
}
