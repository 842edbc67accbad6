package redact

import "slices"

// vendorRules are the shapes of keys and tokens that vendors issue. The facts are the vendors' own pages and the MIT-licensed rules of
// gitleaks 8.30.1, each of whose shapes is covered here, by a generic rule, or by the scanner's file names.
func vendorRules() []Rule {
	return slices.Concat(cloudRules(), codeRules(), modelRules(), messageRules(), moneyRules(), serviceRules())
}

const (
	uuid        = `[A-Fa-f0-9]{8}-[A-Fa-f0-9]{4}-[A-Fa-f0-9]{4}-[A-Fa-f0-9]{4}-[A-Fa-f0-9]{12}`
	uuidShape   = "{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}"
	hex32       = `[A-Fa-f0-9]{32}`
	alnum32     = `[A-Za-z0-9]{32}`
	hex64       = `[A-Fa-f0-9]{64}`
	alnum64     = `[A-Za-z0-9]{64}`
	base64url40 = `[A-Za-z0-9_-]{40}`
)

// token is a rule for what has a shape of its own. Avoid shapes are near to it.
func token(id, pattern, match string, avoid ...string) Rule {
	return Rule{ID: id, Pattern: pattern, Match: []string{match}, Avoid: avoid}
}

// named is a rule for values that only a vendor's name gives away.
func named(id, name, pattern, value string) Rule {
	return Rule{ID: id, Severity: High, Name: name, Pattern: pattern,
		Match: []string{name + ` = "` + value + `"`, `"` + name + `_id": "` + value + `"`},
		Avoid: []string{`revision = "` + value + `"`, name + ` = "` + value + value + value + `"`}}
}

// checked is a rule whose values have a checksum.
func checked(r Rule, check func(value []byte) bool) Rule {
	r.check = check
	return r
}
