package scan

import (
	"cmp"
	"fmt"
	"slices"

	"aesop/redact"
)

// enact makes rules and exemptions those of upper, tightened by own. A rule of own that goes by the name of one of upper has no effect.
func (r *run) enact(upper file, own []file) error {
	r.law.exemptions = map[subject]exemption{}
	for s, e := range upper.exemptions {
		kept := true
		for _, lower := range own {
			mine, has := lower.exemptions[s]
			kept = kept && has
			if has && mine.expires.Before(e.expires) {
				e.expires = mine.expires
			}
		}
		if kept {
			r.law.exemptions[s] = e
		}
	}
	sets := [][]redact.Rule{nil, upper.rules}
	var added []redact.Rule
	for _, lower := range own { // each by itself: of two branches in one push neither has a say in the rules of the other
		first := len(added)
		for _, rule := range lower.rules {
			named := func(other redact.Rule) bool { return other.ID == rule.ID }
			same := func(other redact.Rule) bool {
				return named(other) && other.Severity == rule.Severity && other.Pattern == rule.Pattern && other.Name == rule.Name
			}
			if !slices.ContainsFunc(upper.rules, named) && !slices.ContainsFunc(added, same) {
				added = append(added, rule)
			}
		}
		sets = append(sets, added[first:len(added):len(added)])
	}
	r.readers = nil
	for n, rules := range sets {
		if n > 0 && len(rules) == 0 {
			continue
		}
		redactor, err := r.Redactor.With(rules...)
		if err != nil {
			return &Error{Code: "rule", Message: fmt.Sprintf("%s: %v", FileName, err), Err: err}
		}
		r.readers = append(r.readers, reader{redactor, rules})
	}
	return nil
}

// reader reads texts by the built-in rules, and answers for rules of its own, or where it has none for those. In one reading a match can
// hide another: a branch that adds a mild rule must not get rid of a strict one so.
type reader struct {
	redactor *redact.Redactor
	own      []redact.Rule
}

// explain is what all readers find in a text, in the order of its place.
func (r *run) explain(text []byte) []redact.Finding {
	var all []redact.Finding
	for _, one := range r.readers {
		for _, f := range one.redactor.Explain(text) {
			if one.own == nil || slices.ContainsFunc(one.own, func(rule redact.Rule) bool { return rule.ID == f.Rule }) {
				all = append(all, f)
			}
		}
	}
	if len(r.readers) > 1 {
		slices.SortStableFunc(all, func(a, b redact.Finding) int { return cmp.Compare(a.Start, b.Start) })
	}
	return all
}

// shown is a text without secrets, by all readers.
func (r *run) shown(text string) string {
	for _, one := range r.readers {
		text = one.redactor.String(text)
	}
	return text
}
