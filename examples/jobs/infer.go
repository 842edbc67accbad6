package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/job/manifest"
)

type inferCommand struct {
	cli.Common
	named
	Attempt   given    `required:"" help:"The attempt that was judged." placeholder:"ID"`
	Manifest  given    `required:"" help:"The folder with the manifest of that attempt." placeholder:"DIR"`
	Root      given    `help:"The folder that side effects of kind file lie in (default: that of the manifest)." placeholder:"DIR"`
	Remote    []string `help:"A remote that side effects of kind commit may name, and its URL." placeholder:"NAME=URL" sep:"none"`
	Quiescent bool     `help:"Say that the backend is idle, and was observed to be idle only when its agent has ended."`
}

func (inferCommand) Help() string {
	return `Example:

  AESOP_AUTO_COMPLETE=on aesop-jobs infer manual/greet --attempt ID --manifest DIR --quiescent

A job is completed without a word of its worker only by three yeses: AESOP_AUTO_COMPLETE=on, --quiescent, and the job's own (submit
--auto-complete); and by a finalised report of exactly that attempt, all of whose side effects are found: files below --root, and commits on
a --remote. Any other kind is refused; no command is run. What its worker or an operator says later outweighs it.

AESOP_AUTO_COMPLETE is on or off (default: off). It switches this on, and changes nothing else anywhere.`
}

// autoComplete is the yes of the environment.
func autoComplete() (bool, error) {
	switch word := os.Getenv("AESOP_AUTO_COMPLETE"); word {
	case "on":
		return true, nil
	case "off", "":
		return false, nil
	default:
		return false, &cli.Problem{Code: "usage", Message: fmt.Sprintf("AESOP_AUTO_COMPLETE is %q", word), Hint: "it is on or off; off changes nothing but aesop-jobs infer"}
	}
}

func (cmd inferCommand) Run(c *cli.Context) error {
	enabled, err := autoComplete()
	if err != nil {
		return err
	}
	request := job.Infer{ID: cmd.id(c), By: job.Gate{Attempt: string(cmd.Attempt), Enabled: enabled, Quiescent: cmd.Quiescent}, Reason: "inferred from its manifest"}
	if enabled && cmd.Quiescent {
		v, err := cmd.judge(c)
		if err != nil {
			return err
		}
		request.By.Evidence, request.Report = digest(v), &job.Report{Path: v.Report, SHA256: v.SHA256}
	}
	return decide(c, cmd.Common, func(tx statestore.Tx) (job.Decision, error) {
		d, err := job.Apply(tx, request)
		if d.Reason == job.NotInferred {
			d.Text += fmt.Sprintf(" (AESOP_AUTO_COMPLETE=on: %s, --quiescent: %s, submit --auto-complete: %s)",
				yes(enabled), yes(cmd.Quiescent), yes(d.Record.AutoComplete))
		}
		return d, err
	})
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// judge reads the manifest, and finds all that it declares.
func (cmd inferCommand) judge(c *cli.Context) (manifest.Verified, error) {
	v, err := manifest.Read(c, string(cmd.Manifest), manifest.Want{Job: cmd.id(c), Attempt: string(cmd.Attempt)})
	if _, there := errors.AsType[*manifest.Error](err); there || errors.Is(err, manifest.ErrNone) {
		return v, refuse("unverified", "", "infer of job %s: %v", cmd.id(c), err)
	}
	if err != nil {
		return v, err
	}
	resolvers, release, err := cmd.resolvers()
	if err != nil {
		return v, err
	}
	defer release()
	switch proof := manifest.Prove(c, v, resolvers); proof.Verdict {
	case manifest.Proven:
		return v, nil
	case manifest.Unknown:
		return v, &cli.Problem{Code: "unknown", Message: fmt.Sprintf("infer of job %s: %s", cmd.id(c), proof.Reason), Hint: "nothing is changed; it can be asked again"}
	default:
		return v, refuse("unverified", "", "infer of job %s: %s", cmd.id(c), proof.Reason)
	}
}

// resolvers look at side effects without running anything that an agent could have written. git asks remotes from an empty folder.
func (cmd inferCommand) resolvers() (manifest.Resolvers, func(), error) {
	root := cmd.Root
	if root == "" {
		root = cmd.Manifest
	}
	all := manifest.Resolvers{manifest.File: manifest.Files{Root: string(root)}}
	if len(cmd.Remote) == 0 {
		return all, func() {}, nil
	}
	remotes := map[string]string{}
	for _, pair := range cmd.Remote {
		name, url, _ := strings.Cut(pair, "=")
		if name == "" || url == "" {
			return nil, nil, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--remote %s has no name and URL", pair), Hint: "write --remote NAME=URL"}
		}
		if info, err := os.Stat(url); err == nil && info.IsDir() { // git runs elsewhere
			if url, err = filepath.Abs(url); err != nil {
				return nil, nil, err
			}
		}
		remotes[name] = url
	}
	empty, err := os.MkdirTemp("", "aesop-jobs-")
	if err != nil {
		return nil, nil, err
	}
	all[manifest.Commit] = manifest.Commits{Remotes: remotes, Dir: empty}
	return all, func() { _ = os.RemoveAll(empty) }, nil
}

// digest is that of what was judged.
func digest(v manifest.Verified) string {
	text, _ := json.Marshal(v) // names, texts and a time
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
