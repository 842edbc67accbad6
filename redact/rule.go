package redact

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule is one kind of secret, as data. Redactor, scanner and tests read the same rules.
type Rule struct {
	ID       string // lower case words with hyphens; what is taken out becomes [REDACTED:ID]
	Severity Severity
	// Pattern is RE2 syntax of a kind that one look forward decides: literals, classes and counts, with a literal of three bytes or
	// more at a fixed place. A \b at the front says that a letter or digit there makes it something else. A class that repeats takes
	// all it can get, so the last count should have no upper bound.
	Pattern string
	// Name makes the rule one of values: those that match Pattern from their start, and are assigned, in whatever syntax, to a name
	// that has this lower case word in it.
	Name string
	// Match and Avoid are shapes that the rule must and must not match: text with parts like {hex:40}, which tests fill at random, so
	// that no tree holds a secret.
	Match, Avoid []string

	// Of the rules that are more than a pattern:
	words  []string                  // each text that matches has one of them, in whatever case
	look   func(*rule) look          // at such a word
	lookIn func(*rule, markers) look // the same, for those that must know markers
	mark   string                    // what is put in the place; "": by ID
	from   Profile                   // the first profile that has it
	placed bool                      // read in the last pass, among the markers of the tokens
	check  func(value []byte) bool   // whether its checksum is right
}

// rule is a Rule that was made ready.
type rule struct {
	Rule
	marker string
}

// Rules are the built-in rules, in the order in which they are tried.
func Rules() []Rule { return slices.Concat(keyRules(), placeRules(), personalRules()) }

var errRule = errors.New("redact: rule")

func ready(r Rule) (*rule, error) {
	if !ruleID(r.ID) {
		return nil, fmt.Errorf("%w %q: the id is not lower case words with hyphens", errRule, r.ID)
	}
	mark := r.mark
	if mark == "" {
		mark = markerOf(r.ID)
	}
	return &rule{r, mark}, nil
}

// addTo gives a rule of tokens its anchors.
func (r *rule) addTo(p *pass, ms markers) error {
	if look := r.own(ms); look != nil {
		for _, word := range r.words {
			p.add(strings.ToLower(word), true, 0, look)
		}
		return nil
	}
	patterns, err := compile(r.Pattern)
	if err != nil {
		return fmt.Errorf("%w %s: %w", errRule, r.ID, err)
	}
	for _, pattern := range patterns {
		all := pattern.spelled()
		if in, ok := pattern.inURL(); ok { // before the plain one, which would leave an end that is escaped
			all = append(in.spelled(), all...)
		}
		for _, spelling := range all {
			if err := r.anchor(p, spelling); err != nil {
				return err
			}
		}
	}
	return nil
}

// anchor finds a pattern by its literal.
func (r *rule) anchor(p *pass, pattern pattern) error {
	word, place, fold := pattern.literal()
	if len(word) < gramSize {
		return fmt.Errorf("%w %s: pattern %s has no literal of three bytes at a fixed place", errRule, r.ID, r.Pattern)
	}
	if fold {
		word = strings.ToLower(word)
	}
	if pattern.spaced(place+len(word)) && place > 0 {
		p.wide = max(p.wide, place+len(word)+escapes)
	}
	p.add(word, fold, place, func(t *text, at int) (match, outcome) {
		if at-place < t.edge {
			return match{}, no
		}
		end, rest, o := pattern.match(t, at-place)
		if o == yes && isDigest(t.b[at-place:end]) {
			o = no
		}
		return match{at - place, end, r, rest}, o
	})
	return nil
}

// own is the look of a rule that is more than a pattern.
func (r *rule) own(ms markers) look {
	switch {
	case r.look != nil:
		return r.look(r)
	case r.lookIn != nil:
		return r.lookIn(r, ms)
	}
	return nil
}

// addNamed gives a rule of values under a name its anchor.
func (r *rule) addNamed(p *pass) error {
	patterns, err := compile(r.Pattern)
	if err != nil {
		return fmt.Errorf("%w %s: %w", errRule, r.ID, err)
	}
	if len(r.Name) < gramSize || strings.ToLower(r.Name) != r.Name {
		return fmt.Errorf("%w %s: name %q is not a lower case word of three letters or more", errRule, r.ID, r.Name)
	}
	p.add(r.Name, true, 0, func(t *text, at int) (match, outcome) {
		a, o := assigned(t, at, false)
		if o != yes {
			return match{}, o
		}
		for _, pattern := range patterns {
			end, rest, o := pattern.match(t, a.value)
			if o == yes && rest.none() {
				c := cursor{t: t, i: end}
				if next := c.peek(0); next > ' ' && bytes.IndexByte([]byte("\"'`,;<>)]}&|\\"), next) < 0 {
					o = no
				}
				o = c.say(o)
			}
			if o != no {
				return match{a.value, end, r, rest}, o
			}
		}
		return match{}, no
	})
	return nil
}

// longestID is the most bytes that the id of a rule has.
const longestID = 40

func ruleID(id string) bool {
	for word := range strings.SplitSeq(id, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(id) <= longestID
}
