package policy

import (
	"aesop/internal/document"
)

// Override is what a configuration says of the policy; nil fields are left to the tier.
type Override struct {
	Tier      *int     `json:"tier,omitempty"` // whose row of the table it is, instead of the driver's
	SpotCheck *float64 `json:"spotCheck,omitempty"`
	Repairs   *int     `json:"repairs,omitempty"`
	Review    *float64 `json:"review,omitempty"`
	Reviewer  *Seat    `json:"reviewer,omitempty"` // who reviews; nil: nobody
}

// Seat names the driver of a reviewer, and what that driver needs.
type Seat struct {
	Driver   string `json:"driver"`
	Model    string `json:"model,omitempty"`    // "": the driver's model of reviewers
	AgentCmd string `json:"agentCmd,omitempty"` // of the command driver
	Script   string `json:"script,omitempty"`   // file of the script driver
}

// Set says whether anything is overridden.
func (o Override) Set() bool { return o != Override{} }

// For is the policy for a driver of a tier.
func (o Override) For(tier int) Policy {
	if o.Tier != nil {
		tier = *o.Tier
	}
	p := For(tier)
	if o.SpotCheck != nil {
		p.SpotCheck = *o.SpotCheck
	}
	if o.Repairs != nil {
		p.Repairs = *o.Repairs
	}
	if o.Review != nil {
		p.Review = *o.Review
	}
	return p
}

// Read reads the policy of a configuration. Errors name line and field, and of a key that does not exist the nearest.
func Read(n document.Node) (Override, error) {
	var o Override
	err := readMembers(n, map[string]func(document.Node) error{
		"tier":      func(n document.Node) (err error) { o.Tier, err = readInt(n, 1, LeastTrusted); return err },
		"spotCheck": func(n document.Node) (err error) { o.SpotCheck, err = readShare(n); return err },
		"repairs":   func(n document.Node) (err error) { o.Repairs, err = readInt(n, 0, maxRepairs); return err },
		"review":    func(n document.Node) (err error) { o.Review, err = readShare(n); return err },
		"reviewer":  func(n document.Node) (err error) { o.Reviewer, err = readSeat(n); return err },
	}, []string{"tier", "spotCheck", "repairs", "review", "reviewer"})
	return o, err
}

func readMembers(n document.Node, read map[string]func(document.Node) error, names []string) error {
	members, err := n.Object()
	if err != nil {
		return err
	}
	for _, m := range members {
		known, ok := read[m.Name]
		if !ok {
			return m.Unknown(names)
		}
		if err := known(m.Value); err != nil {
			return err
		}
	}
	return nil
}

func readInt(n document.Node, from, to int) (*int, error) {
	v, err := n.Int()
	if err != nil {
		return nil, err
	}
	if v < int64(from) || v > int64(to) {
		return nil, n.Errorf("shape", "is %d, must be from %d to %d", v, from, to)
	}
	i := int(v)
	return &i, nil
}

func readShare(n document.Node) (*float64, error) {
	share, err := n.Number()
	if err != nil {
		return nil, err
	}
	if share < 0 || share > 1 {
		return nil, n.Errorf("shape", "is %v, must be a share from 0 to 1", share)
	}
	return &share, nil
}

func readSeat(n document.Node) (*Seat, error) {
	var seat Seat
	text := func(to *string) func(document.Node) error {
		return func(n document.Node) (err error) {
			if *to, err = n.Text(); err == nil && *to == "" {
				err = n.Errorf("shape", "is empty")
			}
			return err
		}
	}
	err := readMembers(n, map[string]func(document.Node) error{
		"driver": text(&seat.Driver), "model": text(&seat.Model), "agentCmd": text(&seat.AgentCmd), "script": text(&seat.Script),
	}, []string{"driver", "model", "agentCmd", "script"})
	if err == nil && seat.Driver == "" {
		err = n.Errorf("shape", "names no driver")
	}
	return &seat, err
}
