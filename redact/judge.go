package redact

import (
	"bytes"
	"strings"
)

// namedValue is the look at words that are in the names of secrets. What stands under such a name may be anything, so it judges the value:
// what can only be code, a reference, a type or a sentence stays.
func namedValue(r *rule, ms markers) look {
	numbers := map[int]*rule{} // by the depth of their names' quotes
	for _, deep := range []int{0, 1, 3} {
		quote := strings.Repeat(`\`, deep) + `"`
		numbers[deep] = &rule{r.Rule, quote + r.marker + quote}
	}
	words, rows := bare(), inRow()
	return func(t *text, at int) (match, outcome) {
		a, o := assigned(t, at, true)
		v := value{assignment: a, t: t}
		if o != yes || v.hasWord("authorization", "cookie") {
			return match{}, cleared(o)
		}
		set := words
		if v.variable() {
			set = rows
		}
		if o := v.read(set); o != yes {
			return match{}, o
		}
		if v.quote == 0 && v.sign == ':' && v.end < len(t.b) && len(v.text) == 0 && (t.b[v.end] == '|' || t.b[v.end] == '>') {
			return v.block(r, ms)
		}
		if number := numbers[v.deep]; number != nil && v.number() {
			return match{start: v.value, end: v.end, rule: number}, yes
		}
		if !v.secret(ms) || v.outside() {
			return match{}, no
		}
		if v.call {
			if o := v.closesCall(); o != yes {
				return match{}, o
			}
		}
		return match{start: v.value, end: v.end, rule: r, tail: v.rest}, yes
	}
}

// cleared is the outcome of what is no match: more or no.
func cleared(o outcome) outcome {
	if o == more {
		return more
	}
	return no
}

// variable says whether this is NAME=value at the beginning of a line, where all of the line is the value.
func (v *value) variable() bool {
	return v.sign == '=' && v.tight && !bytes.ContainsFunc(v.name, isLower) && v.first()
}

// number says whether this is a JSON number under the name of a password: its marker needs quotes.
func (v *value) number() bool {
	if !v.quoted || v.sign != ':' || v.quote != 0 || len(v.text) < 4 || v.long || !v.hasWord("pass", "pwd", "secret") {
		return false
	}
	return !bytes.ContainsFunc(v.text, func(c rune) bool { return c < '0' || c > '9' })
}

// hasWord says whether the name has one of some lower case words in it.
func (v *value) hasWord(words ...string) bool {
	for _, w := range words {
		for i := 0; i+len(w) <= len(v.name); i++ {
			if equalFold(v.name[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}

// equalFold says whether b is the lower case word, whatever b's case.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range len(word) {
		if lower(b[i]) != word[i] {
			return false
		}
	}
	return true
}

func (v *value) secret(ms markers) bool {
	switch ms.in(trimmed(v.text)) {
	case judged:
		return false
	case someMarker:
		return true
	}
	switch {
	case len(v.text) < 4 || v.ordinary():
		return false
	case v.quote != 0:
		return v.quotedSecret()
	case v.quoted && v.sign == ':': // JSON has nothing without quotes that could be one
		return false
	}
	return v.bareSecret()
}

// trimmed is a value without what may follow it in a text; a marker keeps its bracket.
func trimmed(b []byte) []byte {
	clean := bytes.TrimRight(b, ")]}.,:; \t")
	if len(clean) < len(b) && b[len(clean)] == ']' {
		return b[:len(clean)+1]
	}
	return clean
}

// ordinary says whether a value is what many programs write that mean no value: a reference, a type, a switch, a mask.
func (v *value) ordinary() bool {
	b := v.text
	if bytes.Count(b, b[:1]) == len(b) {
		return true
	}
	if ordinaryWord(bytes.Trim(b, "[]()?*!.,:;")) || bytes.EqualFold(b, v.name) {
		return true
	}
	if b[0] == '<' && b[len(b)-1] == '>' || b[0] == '{' && b[len(b)-1] == '}' || bytes.HasPrefix(b, []byte("{{")) || bytes.HasPrefix(b, []byte("${")) && !hasDefault(b) || bytes.HasPrefix(b, []byte("$(")) || bytes.HasPrefix(b, []byte("%(")) {
		return true
	}
	if b[0] == '$' || b[0] == '%' || b[0] == '!' { // $NAME, %NAME%, $NAME[, !tag
		return !bytes.ContainsFunc(b[1:], func(c rune) bool { return !isIdentifier(c) && c != '%' && c != '[' })
	}
	return plainPath(b) || interpolated(b) || v.quote == '`' && v.variable() // a shell runs that
}

func ordinaryWord(word []byte) bool {
	return oneOf(word, "true false null none undefined required optional string number integer boolean bytes text object "+
		"basic bearer digest oauth oauth2 ldap kerberos negotiate token password secret cookie hidden empty default "+
		"enabled disabled function interface interface{} self this inherit unset prompt redacted always never self-signed varchar "+
		"include omit same-origin invalid missing expired unexpected valid error failed unknown")
}

// oneOf says whether b is one of some lower case words, whatever its case.
func oneOf(b []byte, words string) bool {
	for words != "" {
		var word string
		if word, words = nextWord(words); equalFold(b, word) {
			return true
		}
	}
	return false
}

func (v *value) quotedSecret() bool {
	b := v.text
	if v.variable() {
		return true
	}
	if bytes.IndexByte(b, ' ') >= 0 { // a sentence, but for groups of letters and figures, or a pass phrase
		return groups(b) || v.quoted && v.hasWord("pass") && !v.hasWord("passed") && b[0] >= 'a' && b[0] <= 'z' && isWord(b[len(b)-1]) && !bytes.Contains(b, []byte("pass"))
	}
	return v.long || !(identifier(b) && !bytes.ContainsFunc(b, isLower) && secretName(b)) // the name of a variable
}

// groups says whether a text has two words or more of both letters and figures: Zq7 pL9.
func groups(b []byte) bool {
	n := 0
	for word := range bytes.FieldsSeq(b) {
		if bytes.ContainsFunc(word, func(c rune) bool { return c >= '0' && c <= '9' }) && bytes.ContainsFunc(word, func(c rune) bool { return isLower(c) || isUpper(c) }) {
			n++
		}
	}
	return n >= 2
}

// plainPath says whether a value is the path of a file, in lower case as they mostly are.
func plainPath(b []byte) bool {
	if b[0] != '/' && !bytes.HasPrefix(b, []byte("./")) && !bytes.HasPrefix(b, []byte("~/")) {
		return false
	}
	return bytes.Count(b, []byte("/")) > 1 && !bytes.ContainsFunc(b, func(c rune) bool { return c >= 'A' && c <= 'Z' || c == '+' || c == '=' })
}

// identifier says whether code could have this as a name that has no digit.
func identifier(b []byte) bool {
	return !bytes.ContainsFunc(b, func(c rune) bool { return !isIdentifier(c) }) && !randomCase(b)
}

// randomCase says whether letters change their case as often as only chance does.
func randomCase(b []byte) bool {
	const least = 10 // letters
	changes := 0
	for i := 1; i < len(b); i++ {
		if isLetter(b[i]) && isLetter(b[i-1]) && (b[i]^b[i-1])&0x20 != 0 {
			changes++
		}
	}
	return len(b) >= least && changes*100 > len(b)*38
}

func isIdentifier(c rune) bool { return c == '_' || c == '-' || c < 0x80 && isLetter(byte(c)) }

// dotted says whether b is such names with dots or slashes between them.
func dotted(b []byte) bool {
	return !bytes.ContainsFunc(b, func(c rune) bool { return !isIdentifier(c) && c != '.' && c != '/' })
}

// code says whether a value without quotes is an expression.
func code(b []byte) bool {
	if bytes.IndexByte([]byte("&*![{"), b[0]) >= 0 || bytes.IndexByte(b, '(') >= 0 || bytes.Contains(b, []byte("->")) || bytes.Contains(b, []byte("::")) {
		return true
	}
	rest := b
	if n := bytes.IndexAny(rest, "[{"); n > 0 && dotted(rest[:n]) { // an element, or a value of a type
		return true
	}
	for bytes.IndexByte(rest, '.') >= 0 { // a.b.c
		n := bytes.IndexByte(rest, '.')
		if n == 0 || !identifier(rest[:n]) {
			return false
		}
		if rest = rest[n+1:]; identifier(rest) {
			return true
		}
	}
	return false
}

// bareSecret judges a value without quotes, which in code is a name as likely as a value.
func (v *value) bareSecret() bool {
	b := v.text
	switch {
	case v.long || v.sure || v.variable():
		return true
	case v.sign == '>':
		return v.end < len(v.t.b) && v.t.b[v.end] == '<'
	case code(b):
		return false
	case v.sign == ':' && bytes.IndexByte(v.name, '-') > 0: // a header
		return !identifier(b) || v.last()
	}
	word := identifier(b)
	figures := !bytes.ContainsFunc(b, func(c rune) bool { return c < '0' || c > '9' })
	switch {
	case figures:
		return v.hasWord("pass", "pwd") && (v.tight || v.last()) || v.tight && v.sign != ':' && len(b) >= 10
	case v.sign == ' ':
		return !dotted(b)
	case v.sign == '=' && v.tight:
		return !word || v.end == len(v.t.b) || v.t.b[v.end] != ',' && v.t.b[v.end] != ')'
	case word:
		return len(b) >= 6 && v.first() && v.last() && !bytes.ContainsFunc(b, isUpper) && !secretName(b)
	}
	return len(b) >= 6 || v.hasWord("pass", "pwd") && bytes.ContainsAny(b, "0123456789")
}

func isLower(c rune) bool { return c >= 'a' && c <= 'z' }

func isUpper(c rune) bool { return c >= 'A' && c <= 'Z' }
