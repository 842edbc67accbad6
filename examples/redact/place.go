package main

import (
	"context"
	"strings"

	"aesop"
)

// stateFolder is the state folder of the repository that a folder is in, absolute. given is what the flag says, or nil.
func stateFolder(ctx context.Context, repo string, given *string) (string, error) {
	var settings aesop.Settings
	if given != nil {
		settings.State = *given
	}
	found, err := aesop.Locate(ctx, repo, settings)
	return found.State, err
}

// remoteArguments are what git gives a pre-push hook.
type remoteArguments struct {
	Remote string `arg:"" optional:"" help:"Name of the remote, or its URL, as git gives it to the hook."`
	URL    string `arg:"" optional:"" name:"url" help:"URL of the remote, as git gives it to the hook."`
}

// remote is the name of the remote, or its URL where it was given by that.
func (a remoteArguments) remote() string {
	if strings.Contains(a.Remote, ":") && a.URL != "" {
		return a.URL // the same, as git rewrote it
	}
	return a.Remote
}
