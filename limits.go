package aesop

import (
	"errors"
	"os"
	"strings"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/internal/document"
)

// Limits are what a configuration says about money and tokens.
type Limits struct {
	cost.Budget
	Prices string // file of prices that lie over the built-in ones; "": none
	JSON   string // as it was written; "": nothing was
}

// Table is the prices that count: the built-in ones, with those of the file over them.
func (l Limits) Table() (price.Table, error) {
	table := price.Default()
	if l.Prices == "" {
		return table, nil
	}
	data, err := os.ReadFile(l.Prices)
	if err != nil {
		return table, &document.Error{Code: "missing", File: l.Prices, Message: "the file of prices cannot be read", Hint: "create it, or take limits.prices out of the configuration", Err: err}
	}
	over, err := price.Load(l.Prices, data)
	return table.With(over), err
}

// readLimits reads the key limits. Errors name line and field, and of a key that does not exist the nearest.
func readLimits(n document.Node) (Limits, error) {
	l := Limits{JSON: string(n.JSON())}
	err := readKeys(n, l.keys())
	if err == nil {
		if wrong := l.Check(); wrong != nil {
			err = n.Errorf("shape", "%v", wrong)
		}
	}
	return l, err
}

// key is a member of an object and how it is read.
type key struct {
	name string
	read func(document.Node) error
}

func readKeys(n document.Node, keys []key) error {
	members, err := n.Object()
	if err != nil {
		return err
	}
	var names []string
	known := map[string]func(document.Node) error{}
	for _, k := range keys {
		names, known[k.name] = append(names, k.name), k.read
	}
	for _, m := range members {
		read, ok := known[m.Name]
		if !ok {
			return m.Unknown(names)
		}
		if err := read(m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (l *Limits) keys() []key {
	return append(l.scopes(false),
		key{"attemptUsd", func(n document.Node) (err error) { l.Attempt.Money, err = readUSD(n); return err }},
		key{"attemptTokens", func(n document.Node) (err error) { l.Attempt.Tokens, err = readTokens(n); return err }},
		key{"unpriced", func(n document.Node) error { return readPolicy(n, &l.Unpriced) }},
		key{"unmetered", func(n document.Node) error { return readPolicy(n, &l.Unmetered) }},
		key{"prices", func(n document.Node) (err error) { l.Prices, err = n.Text(); return err }},
		key{"soft", func(n document.Node) error { return readKeys(n, l.scopes(true)) }},
	)
}

// scopes are the keys of limits: a scope and a unit each, and models with theirs.
func (l *Limits) scopes(soft bool) []key {
	keys := []key{{"models", func(n document.Node) error { return l.models(n, soft) }}}
	for _, scope := range []cost.Scope{cost.PerWave, cost.PerDay, cost.PerItem} {
		keys = append(keys, l.units(string(scope), cost.Limit{Scope: scope, Soft: soft})...)
	}
	return keys
}

// units are the two keys of a limit.
func (l *Limits) units(prefix string, limit cost.Limit) []key {
	add := func(limit cost.Limit, err error) error {
		if err == nil {
			l.Limits = append(l.Limits, limit)
		}
		return err
	}
	return []key{
		{prefix + "Usd", func(n document.Node) (err error) {
			limit := limit
			limit.Money, err = readUSD(n)
			return add(limit, err)
		}},
		{prefix + "Tokens", func(n document.Node) (err error) {
			limit := limit
			limit.Tokens, err = readTokens(n)
			return add(limit, err)
		}},
	}
}

func (l *Limits) models(n document.Node, soft bool) error {
	members, err := n.Object()
	if err != nil {
		return err
	}
	for _, m := range members {
		if strings.TrimSpace(m.Name) == "" {
			return m.Value.Errorf("shape", "names no model")
		}
		if err := readKeys(m.Value, l.units("day", cost.Limit{Scope: cost.PerModel, Model: m.Name, Soft: soft})); err != nil {
			return err
		}
	}
	return nil
}

func readUSD(n document.Node) (cost.Money, error) {
	text, err := n.Text()
	if err != nil {
		return 0, n.Errorf("shape", `must be dollars in a string, such as "5.00"`)
	}
	amount, err := cost.ParseMoney(text)
	if err != nil {
		return 0, n.Errorf("shape", "%v", err)
	}
	if amount == 0 {
		return 0, n.Errorf("shape", "is 0, and must be more; leave the key out where there is no limit")
	}
	return amount, nil
}

// maxTokens is more than any limit of tokens is for.
const maxTokens = 1 << 50

func readTokens(n document.Node) (int64, error) {
	tokens, err := n.Int()
	if err != nil {
		return 0, err
	}
	if tokens < 1 || tokens > maxTokens {
		return 0, n.Errorf("shape", "is %d, must be from 1 to %d tokens", tokens, int64(maxTokens))
	}
	return tokens, nil
}

func readPolicy(n document.Node, to *cost.Policy) error {
	text, err := n.Text()
	if err != nil {
		return err
	}
	switch p := cost.Policy(text); p {
	case cost.Refuse, cost.Estimate, cost.Allow:
		*to = p
		return nil
	}
	return n.Errorf("shape", "is %q, must be one of refuse, estimate, allow", text)
}

// parsed reads a JSON object that stands in a variable or flag.
func parsed[T any](text string, read func(document.Node) (T, error)) (T, error) {
	var none T
	doc, err := document.Parse("", []byte(text))
	if err != nil {
		return none, errors.New("must be a JSON object")
	}
	v, err := read(doc.Root())
	if e, ok := errors.AsType[*document.Error](err); ok {
		text := e.Message
		if e.Field != "" {
			text = e.Field + ": " + text
		}
		if e.Hint != "" {
			text += " (" + e.Hint + ")"
		}
		err = errors.New(text)
	}
	return v, err
}
