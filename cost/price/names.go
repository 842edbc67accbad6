package price

import "regexp"

var (
	// provider is what resellers and cloud services put before a vendor's name of a model.
	provider = regexp.MustCompile(`^(?:anthropic/|openai/|(?:[a-z]+\.)?(?:anthropic|openai)\.)`)
	// snapshot is what vendors and programs put behind the name of a model without making it another one: a date, a version
	// of its packaging, the length of its window. Any other word does: gpt-5-pro is no gpt-5.
	snapshot = regexp.MustCompile(`^(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|[-@]latest|@default|-v\d+|:\d+|\[1m\])+$`)
)

// find is the model that name means: its own, or the one it is an alias of, else the longest of the table's names that it is
// a snapshot of.
func (t Table) find(name string) (string, bool) {
	if model, ok := t.exactly(name); ok {
		return model, true
	}
	bare := name[len(provider.FindString(name)):]
	for end := len(bare); end > 0; end-- {
		if model, ok := t.exactly(bare[:end]); ok && (end == len(bare) || snapshot.MatchString(bare[end:])) {
			return model, true
		}
	}
	return "", false
}

// exactly is the model of exactly that name or alias.
func (t Table) exactly(name string) (string, bool) {
	if _, ok := t.models[name]; ok {
		return name, true
	}
	model, ok := t.aliases[name]
	return model, ok
}
