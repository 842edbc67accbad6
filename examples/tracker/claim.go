package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"aesop/examples/internal/cli"
	"aesop/tracker"
	"aesop/wave"
)

type claimCommand struct {
	cli.Common
	Items []string `arg:"" name:"item" help:"Id or slug of each item."`
	Owner string   `required:"" help:"Who works on them, for people; it proves nothing." placeholder:"NAME"`
	Lease *string  `help:"How long, unless it is renewed (15m)." placeholder:"D"`
}

type claimsDocument struct {
	SchemaVersion int             `json:"schemaVersion"`
	Claims        []claimDocument `json:"claims"`
}

type claimDocument struct {
	ID         string    `json:"id"`
	Token      string    `json:"token"`
	Attempt    string    `json:"attempt"`
	Epoch      int       `json:"epoch"`
	LeaseUntil time.Time `json:"leaseUntil"`
}

func (cmd claimCommand) Run(c *cli.Context) error {
	if strings.TrimSpace(cmd.Owner) == "" {
		return &cli.Problem{Code: "usage", Message: "the owner is empty", Hint: "name who works on it, with --owner"}
	}
	return withBacklog(c, cmd.Common, cmd.Lease, func(d *desk) error {
		wants, err := d.wants(cmd.Items)
		if err != nil {
			return err
		}
		claims, err := d.file.Claim(d, tracker.Holder{Owner: cmd.Owner}, d.lease(), wants...)
		if err != nil {
			return d.explain("claim", err)
		}
		document := claimsDocument{SchemaVersion: schemaVersion}
		for _, c := range claims {
			document.Claims = append(document.Claims, claimDocument{c.ID, c.Token, c.Attempt, c.Epoch, c.LeaseUntil.UTC()})
		}
		d.PrintAsIs(document, func(w io.Writer) {
			for _, c := range claims {
				fmt.Fprintln(w, c.ID, c.Token)
			}
		})
		return nil
	})
}

// wants are the named items, each once.
func (d *desk) wants(names []string) ([]tracker.Want, error) {
	var wants []tracker.Want
	seen := map[string]bool{}
	for _, name := range names {
		item, err := d.find(name)
		if err != nil {
			return nil, err
		}
		if !seen[item.ID] {
			wants = append(wants, tracker.Want{ID: item.ID})
		}
		seen[item.ID] = true
	}
	return wants, nil
}

func (d *desk) lease() time.Duration { return cmp.Or(d.settings.Lease, wave.DefaultLease) }

// held are the arguments of commands for the holder of a claim.
type held struct {
	Item  string `arg:"" help:"Id or slug of the item."`
	Token string `env:"AESOP_TOKEN" help:"The claim's token; the variable keeps it from other users." placeholder:"T"`
}

func (h held) check() error {
	if h.Token == "" {
		hint := "set AESOP_TOKEN or --token to what tracker claim printed"
		return &cli.Problem{Code: "usage", Message: "no token is given", Hint: hint}
	}
	return nil
}

type renewCommand struct {
	cli.Common
	held
	Lease *string `help:"How long from now on (15m)." placeholder:"D"`
}

func (cmd renewCommand) Run(c *cli.Context) error {
	if err := cmd.check(); err != nil {
		return err
	}
	return withBacklog(c, cmd.Common, cmd.Lease, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		err = d.file.Renew(d, d.lease(), tracker.Claim{ID: item.ID, Token: cmd.Token})
		return d.ended("renew", item.ID, cmd.Token, err, nil)
	})
}

type releaseCommand struct {
	cli.Common
	held
}

func (cmd releaseCommand) Run(c *cli.Context) error {
	if err := cmd.check(); err != nil {
		return err
	}
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		err = d.file.Settle(d, tracker.Settlement{ID: item.ID, Token: cmd.Token, Request: tracker.Release})
		return d.ended("release", item.ID, cmd.Token, err, func(tracker.Item) bool { return true })
	})
}

// ended prints how the item stands after a request of a claim's holder. Where the token holds nothing, the request may be
// one that was carried out before: the file keeps no trace of a claim that has ended, so repeated (nil: never) tells it by
// what it left.
func (d *desk) ended(verb, id, token string, err error, repeated func(tracker.Item) bool) error {
	if _, lost := errors.AsType[*tracker.LostError](err); lost {
		item, readErr := d.again(id)
		if readErr != nil {
			return readErr
		}
		if item.Claim != nil || repeated == nil || !repeated(item) {
			return lostToken(verb, item, token)
		}
	} else if err != nil {
		return err
	}
	return d.printNow(id)
}

// lostToken says why a token is good for nothing.
func lostToken(verb string, item tracker.Item, token string) error {
	var why, hint string
	switch {
	case tracker.AuthorityOf(item, tracker.AttemptID(token)) == tracker.ByHolder:
		why, hint = fmt.Sprintf("a person has set it to %s", item.Status), "complete it if the remote holds the work, or release it"
	case item.Claim != nil:
		why = "the token does not hold it; it is claimed by " + holder(item.Claim)
	default:
		why = fmt.Sprintf("the token does not hold it; nobody has claimed it, it is %s", item.Status)
		if verb == "block" {
			hint = "leave the token out to block it as an operator"
		}
	}
	return refuse("lost", hint, "cannot %s %s: %s", verb, item.ID, why)
}
