// Package scan looks for secrets in what a git repository holds, is about to hold, or is about to give away, by the rules of package
// redact. It reads git's objects, not the work tree, so that what is judged is what goes out.
//
//	scanner, err := scan.New(scan.Config{Dir: "."})
//	if err != nil { … }
//	result, err := scanner.Push(ctx, remoteName, os.Stdin) // in a pre-push hook
//	if err != nil { … }                                    // it could not be evaluated: refuse
//	if result.Outcome == scan.Found { … }                  // refuse
//
// A repository can have additional rules, and exemptions for content that has to look like a secret, in the file aesop-scan.json. Both
// are read from the remote's protected branch as it was last fetched. What is scanned can add rules and give up exemptions by its own copy
// of the file, and nothing else.
//
// No finding holds any part of a secret.
package scan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"aesop/internal/git"
	"aesop/redact"
)

// Config of a Scanner. Zero values mean the default.
type Config struct {
	Dir       string // a folder of the repository; "": the current one
	GitDir    string // its git directory, used as it is, without looking for a repository; "": that of Dir
	Told      string // the value of GIT_DIR, where git runs this as a hook: it is an error if that is not the repository of Dir
	Index     string // the index file for Staged and Approve; "": the repository's own
	Protected string // remote-tracking branch with rules and exemptions, such as origin/main; "": origin's HEAD, main or master
	// BuiltIn is for a repository without a protected branch: beside the built-in rules those hold that what is scanned has itself, and
	// no exemption or approval.
	BuiltIn bool
	State   string // folder with the user's approvals, outside of the repository; "": there are none
	// Redactor has the rules, and known values to look for beside; nil: the built-in rules.
	Redactor *redact.Redactor
	Progress func(Progress)
	Now      func() time.Time // nil: time.Now
	Random   io.Reader        // gives the key of fingerprints; nil: that of crypto/rand
}

// Progress is how far a scan has come. It is told now and then, from the scanning goroutine.
type Progress struct {
	Commits, OfCommits int
	Blobs              int
}

// Scanner scans one repository. It is safe for concurrent use.
type Scanner struct{ config Config }

// New makes a Scanner. Nothing is read yet.
func New(c Config) (*Scanner, error) {
	if c.GitDir != "" && c.Dir != "" {
		return nil, errors.New("scan: both a folder and a git directory are given")
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	for _, path := range []*string{&c.GitDir, &c.Index} { // git runs elsewhere
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = abs
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Redactor == nil {
		var err error
		if c.Redactor, err = redact.New(redact.Config{}); err != nil {
			return nil, err
		}
	}
	return &Scanner{c}, nil
}

// run is one scan.
type run struct {
	Config
	user     *git.User    // nil where the git directory is given, or outside of a repository
	objects  *git.Objects // nil outside of a repository
	law      law
	readers  []reader
	key      []byte // of fingerprints
	buffer   []byte
	visited  map[git.SHA]bool     // commits and tags
	blobs    map[git.SHA]*content // what was found in those that were read; nil: nothing
	files    map[string]bool      // those that were read, by their path on disk
	named    map[string]bool      // paths and refs whose names were looked at
	warned   map[string]bool      // paths whose names were warned of
	progress Progress
	result   *Result
}

// scan opens the repository, does the work and sums up. Outside of a repository it is an error unless outside allows it.
func (s *Scanner) scan(ctx context.Context, mode string, outside bool, do func(*run) error) (*Result, error) {
	r := &run{Config: s.config, key: make([]byte, 32), visited: map[git.SHA]bool{}, blobs: map[git.SHA]*content{},
		files: map[string]bool{}, named: map[string]bool{}, warned: map[string]bool{}}
	r.readers = []reader{{s.config.Redactor, nil}} // until it is known what holds
	r.result = &Result{SchemaVersion: SchemaVersion, Mode: mode, Findings: []Finding{}}
	if _, err := io.ReadFull(r.Random, r.key); err != nil {
		return nil, fmt.Errorf("key of fingerprints: %w", err)
	}
	err := r.open(ctx)
	if outside && errors.Is(err, ErrNotRepository) {
		err = nil
	}
	if err == nil {
		err = do(r)
	}
	if r.objects != nil {
		r.objects.Close()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx) // git that was ended says less
	}
	if err != nil {
		return nil, r.veil(explained(err))
	}
	r.result.sum()
	return r.result, nil
}

func (r *run) open(ctx context.Context) error {
	program, err := git.Find(ctx)
	if err != nil {
		return err
	}
	if r.GitDir != "" {
		r.objects, err = program.OpenObjects(ctx, r.GitDir)
		return err
	}
	if r.user, err = program.OpenUser(ctx, r.Dir); err != nil {
		return err
	}
	if err := r.user.Told(r.Told, r.Dir); err != nil {
		return &Error{Code: "another_repository", Message: err.Error(), Hint: "name the folder of the repository", Err: err}
	}
	r.objects, err = r.user.Objects(ctx)
	return err
}
