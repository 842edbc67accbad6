package price

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"aesop/internal/document"
)

// schemaVersion is that of a file of prices.
const schemaVersion = 1

// Load reads a file of prices, which came from name. Comments are allowed. Prices are decimals in strings, in dollars for a
// million tokens, and null or absent where they are not known or the class is not sold; a local model that costs nothing has
// prices of "0":
//
//	{
//	  "schemaVersion": 1,
//	  "checked": "2026-11-30", // when the prices were compared with their source; a row may have its own
//	  "rows": [{
//	    "model": "our-model", "aliases": ["ours"], "source": "contract of November",
//	    "from": "2026-11-01", // absent: since ever
//	    "input": "2", "output": "10", "cacheRead": "0.10", "cacheWrite5m": "2.50", "cacheWrite1h": null,
//	    "batch": "0.5", "fast": null, // factors of these services
//	    "tiers": [{"above": 200000, "input": "4", "output": "15"}] // of whole requests with a longer prompt
//	  }]
//	}
//
// An error names file, line and field.
func Load(name string, data []byte) (Table, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return Table{}, err
	}
	var rows []document.Node
	checked := ""
	if err := readObject(doc.Root(), map[string]func(document.Node) error{
		"schemaVersion": func(n document.Node) error { return version(n) },
		"checked":       func(n document.Node) error { return date(n, &checked) },
		"rows": func(n document.Node) (err error) {
			rows, err = n.Array()
			return err
		},
	}, "schemaVersion", "rows"); err != nil {
		return Table{}, err
	}
	t := builder{names: map[string]string{}, Table: Table{models: map[string][]Rate{}, aliases: map[string]string{}}}
	for _, n := range rows {
		r := Rate{Checked: checked}
		if err := readRow(n, &r); err != nil {
			return Table{}, err
		}
		if err := t.add(r); err != nil {
			return Table{}, n.Errorf("shape", "%v", err)
		}
	}
	return t.named(), nil
}

// readObject gives each member to the reader of its name.
func readObject(n document.Node, readers map[string]func(document.Node) error, needed ...string) error {
	if _, err := n.Need(needed...); err != nil {
		return err
	}
	members, err := n.Object()
	if err != nil {
		return err
	}
	for _, m := range members {
		read, ok := readers[m.Name]
		if !ok {
			known := make([]string, 0, len(readers))
			for name := range readers {
				known = append(known, name)
			}
			slices.Sort(known)
			return m.Unknown(known)
		}
		if err := read(m.Value); err != nil {
			return err
		}
	}
	return nil
}

func readRow(n document.Node, r *Rate) error {
	readers := pricesOf(&r.Prices)
	readers["model"] = text(&r.Model)
	readers["source"] = text(&r.Source)
	readers["from"] = func(n document.Node) error { return date(n, &r.From) }
	readers["checked"] = func(n document.Node) error { return date(n, &r.Checked) }
	readers["batch"] = parsed(&r.Batch, ParseFactor)
	readers["fast"] = parsed(&r.Fast, ParseFactor)
	readers["aliases"] = func(n document.Node) (err error) {
		r.Aliases, err = n.Strings()
		return err
	}
	readers["tiers"] = func(n document.Node) error {
		nodes, err := n.Array()
		if err != nil {
			return err
		}
		r.Tiers = make([]Tier, len(nodes))
		for i, node := range nodes {
			if err := readTier(node, &r.Tiers[i]); err != nil {
				return err
			}
			if i > 0 && r.Tiers[i].Above <= r.Tiers[i-1].Above {
				return node.Errorf("shape", "tiers must ascend")
			}
		}
		return nil
	}
	if err := readObject(n, readers, "model", "source", "input", "output"); err != nil {
		return err
	}
	if r.Checked == "" {
		return n.Errorf("missing_key", "neither the row nor the file has the key \"checked\", the date on which the prices were read")
	}
	return nil
}

func readTier(n document.Node, t *Tier) error {
	readers := pricesOf(&t.Prices)
	readers["above"] = func(n document.Node) (err error) {
		if t.Above, err = n.Int(); err == nil && t.Above <= 0 {
			err = n.Errorf("shape", "is %d, must be a number of tokens above 0", t.Above)
		}
		return err
	}
	return readObject(n, readers, "above", "input", "output")
}

func pricesOf(p *Prices) map[string]func(document.Node) error {
	return map[string]func(document.Node) error{
		"input": parsed(&p.Input, ParsePrice), "output": parsed(&p.Output, ParsePrice), "cacheRead": parsed(&p.CacheRead, ParsePrice),
		"cacheWrite5m": parsed(&p.CacheWrite5m, ParsePrice), "cacheWrite1h": parsed(&p.CacheWrite1h, ParsePrice),
	}
}

// parsed reads a decimal in a string; null leaves it unknown.
func parsed[T any](to *T, parse func(string) (T, error)) func(document.Node) error {
	return func(n document.Node) error {
		if n.Null() {
			return nil
		}
		text, err := n.Text()
		if err != nil {
			return err
		}
		if *to, err = parse(text); err != nil {
			return n.Errorf("shape", "%v", err)
		}
		return nil
	}
}

func text(to *string) func(document.Node) error {
	return func(n document.Node) (err error) {
		if *to, err = n.Text(); err == nil && *to == "" {
			err = n.Errorf("shape", "must not be empty")
		}
		return err
	}
}

func date(n document.Node, to *string) (err error) {
	if *to, err = n.Text(); err != nil {
		return err
	}
	if _, err := time.Parse(time.DateOnly, *to); err != nil {
		return n.Errorf("shape", "is %.40q, must be a date such as 2026-11-30", *to)
	}
	return nil
}

func version(n document.Node) error {
	v, err := n.Int()
	if err == nil && v != schemaVersion {
		e := n.Errorf("schema_version", "is %d, but only version %d can be read", v, schemaVersion)
		e.Hint = "take the aesop that the file was written for"
		return e
	}
	return err
}

// builder is a table that grows.
type builder struct {
	Table
	names map[string]string // every model and alias to its model
}

func (b *builder) add(r Rate) error {
	for _, name := range append([]string{r.Model}, r.Aliases...) {
		if other, taken := b.names[name]; name == "" || taken && other != r.Model {
			return fmt.Errorf("the name %q is empty or that of %q", name, other)
		}
		b.names[name] = r.Model
		if name != r.Model {
			b.aliases[name] = r.Model
		}
	}
	rates := append(b.models[r.Model], r)
	slices.SortStableFunc(rates, func(a, c Rate) int { return cmp.Compare(a.From, c.From) })
	for i := range rates[1:] {
		if rates[i].From == rates[i+1].From {
			if r.From == "" {
				return fmt.Errorf("the model %q has two rows since ever; give the newer one its first date as \"from\"", r.Model)
			}
			return fmt.Errorf("the model %q has two rows from %q on", r.Model, r.From)
		}
	}
	b.models[r.Model] = rates
	return nil
}
