// Package price says what tokens cost. It has a dated table of vendors' list prices, over which a file can lay others:
//
//	table := price.Default()
//	if err := table.Charge(&call); err != nil {
//		// call.Cost is nil: what it cost is not known, and err says why
//	}
//
// Prices that are not known are never guessed and never 0: a model that the table does not name, a class of tokens that has
// no price, and usage that nobody metered are unpriced. All sums are exact integers, rounded once for each call to the
// nano-dollar. The prices are those that the vendor of the model lists. Contracts and other sellers' prices belong in a file;
// subscriptions, taxes, and fees that are not by the token, such as of web searches, are not counted.
//
// Some models are dearer where a request's prompt is long, for the whole request. So requests are priced one by one, and what
// an agent sums over several is marked as a cost.Call that is Summed.
package price

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aesop/cost"
)

//go:embed prices.json
var embedded []byte

// Table is the prices of models. It does not change, so it is safe for concurrent use. The zero Table knows no price.
type Table struct {
	models  map[string][]Rate // by From, ascending
	aliases map[string]string // to the model
}

// Default is the table that comes with the package.
func Default() Table {
	t, err := Load("prices.json", embedded)
	if err != nil {
		panic(err) // a test reads the same bytes
	}
	return t
}

// With is the table with another laid over it: from the first date of the other's rows of a model on, they count in place of
// all that this one says of it, and a name is what the other says it is.
func (t Table) With(over Table) Table {
	sum := Table{models: map[string][]Rate{}, aliases: map[string]string{}}
	maps.Copy(sum.models, t.models)
	maps.Copy(sum.aliases, t.aliases)
	for alias, model := range over.aliases {
		delete(sum.models, alias)
		sum.aliases[alias] = model
	}
	for model, rates := range over.models {
		delete(sum.aliases, model)
		kept := slices.DeleteFunc(slices.Clone(sum.models[model]), func(r Rate) bool { return r.From >= rates[0].From })
		sum.models[model] = append(kept, rates...)
	}
	return sum.named()
}

// named gives each row all other names of its model.
func (t Table) named() Table {
	names := map[string][]string{}
	for _, alias := range slices.Sorted(maps.Keys(t.aliases)) {
		names[t.aliases[alias]] = append(names[t.aliases[alias]], alias)
	}
	for model, rates := range t.models {
		rates = slices.Clone(rates)
		for i := range rates {
			rates[i].Aliases = names[model]
		}
		t.models[model] = rates
	}
	return t
}

// Rates are all rows, by model and date.
func (t Table) Rates() []Rate {
	all := []Rate{}
	for _, model := range slices.Sorted(maps.Keys(t.models)) {
		all = append(all, t.models[model]...)
	}
	return all
}

// Current are the rows that count at a time, by model.
func (t Table) Current(at time.Time) []Rate {
	all := []Rate{}
	for _, model := range slices.Sorted(maps.Keys(t.models)) {
		if r, ok := t.Price(model, at); ok {
			all = append(all, r)
		}
	}
	return all
}

// Price is the row that counts for a model at a time. The model may be a row's, an alias, or either with what names a snapshot of it or
// a seller: claude-haiku-4-5-20251001, gpt-4o-mini-2024-07-18, anthropic/claude-opus-5-5, us.anthropic.claude-haiku-4-5-20251001-v1:0.
func (t Table) Price(model string, at time.Time) (Rate, bool) {
	name, ok := t.find(model)
	if !ok {
		return Rate{}, false
	}
	date := at.UTC().Format(time.DateOnly)
	for _, r := range slices.Backward(t.models[name]) {
		if r.From <= date {
			return r, true
		}
	}
	return Rate{}, false
}

// Name is the name that the table has for a model under which it may go by others, or the model's own.
func (t Table) Name(model string) string {
	if name, ok := t.find(model); ok {
		return name
	}
	return model
}

// Charge sets what a call cost, by its model, its time and its service, and the date of the prices. Where that is not known, both are
// cleared, and the error, which wraps ErrUnpriced, says why. A call that sums several requests is not known where a tier may apply to
// some: Rate.CostOfSum says between what it is.
func (t Table) Charge(c *cost.Call) error {
	c.Cost, c.Prices = nil, ""
	r, err := t.rate(c.Usage.Model, c.At)
	if err != nil {
		return err
	}
	money, err := r.of(*c)
	if err != nil {
		return err
	}
	c.Cost, c.Prices = &money, r.Checked
	return nil
}

// rate is Price with the reason where there is none.
func (t Table) rate(model string, at time.Time) (Rate, error) {
	r, ok := t.Price(model, at)
	if ok {
		return r, nil
	}
	if model == "" {
		return Rate{}, fmt.Errorf("the model is not known: %w", ErrUnpriced)
	}
	if _, ok := t.find(model); ok {
		return Rate{}, fmt.Errorf("no price of %.80q counts on %s: %w", model, at.UTC().Format(time.DateOnly), ErrUnpriced)
	}
	return Rate{}, fmt.Errorf("no price of %.80q is known: %w", model, ErrUnpriced)
}

// stale is the age, in days, from which prices are doubted. The vendors of the embedded table brought new models or prices
// in every quarter of the year before it.
const stale = 90

// Age is a warning where prices of models were last checked more than 90 days before now, with what to do; else "".
func (t Table) Age(now time.Time) string {
	limit := now.UTC().AddDate(0, 0, -stale).Format(time.DateOnly)
	var old []string
	oldest := limit
	for _, model := range slices.Sorted(maps.Keys(t.models)) {
		rates := t.models[model]
		if checked := rates[len(rates)-1].Checked; checked < limit {
			old = append(old, model)
			oldest = min(oldest, checked)
		}
	}
	if len(old) == 0 {
		return ""
	}
	names := strings.Join(old[:min(3, len(old))], ", ")
	if len(old) > 3 {
		names += ", …"
	}
	return fmt.Sprintf("prices of %d of %d models (%s) were last checked more than %d days ago, on %s or later; "+
		"take a newer aesop, or lay a file of prices over them", len(old), len(t.models), names, stale, oldest)
}

// Checked is the newest date on which a row of the table was compared with its source.
func (t Table) Checked() string {
	newest := ""
	for _, r := range t.Rates() {
		newest = max(newest, r.Checked)
	}
	return newest
}

// MarshalJSON writes the form that Load reads.
func (t Table) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		SchemaVersion int    `json:"schemaVersion"`
		Rows          []Rate `json:"rows"`
	}{schemaVersion, t.Rates()})
}
