package redact

import "bytes"

// assignment is a name and what is given to it, in whatever syntax: NAME=value, "name": "value", name: value, name := "value",
// --name value, <name>value</name>, env["NAME"] = "value", set("NAME", "value"), {"name": "NAME", "value": "value"}.
type assignment struct {
	name   []byte
	begin  int  // of the name
	quoted bool // the name is
	deep   int  // backslashes before its quote
	sign   byte // = : , > or a space
	tight  bool // no white space around the sign
	sure   bool // what is assigned is a value: code is not written so
	call   bool // these are the two arguments of a call
	value  int  // where the value begins, inside of its quote
	opens  int  // where that quote stands, or the backslashes before it
	quote  byte // of the value; 0: none
	depth  int  // backslashes before that quote
}

// longestName is how far a name goes from the word in it by which it was found.
const longestName = 64

// isName says what a name is made of, with its path.
func isName(c byte) bool { return isWord(c) || c == '_' || c == '-' || c == '.' }

// assigned reads the assignment to the name that has the word at i in it; with secrets, only to that of a secret.
func assigned(t *text, i int, secrets bool) (a assignment, o outcome) {
	from := max(t.back(i), i-longestName)
	for a.begin = i; a.begin > from && isName(t.b[a.begin-1]); a.begin-- {
	}
	c := cursor{t: t, i: i}
	for c.i-i < longestName && isName(c.peek(0)) {
		c.i++
	}
	end := c.i
	for end > i && (t.b[end-1] == '-' || t.b[end-1] == '.') {
		end--
	}
	a.name = t.b[a.begin:end]
	if secrets && !c.short && !secretName(a.name) {
		return a, no
	}
	quote, deep := c.quote()
	a.deep = deep
	a.quoted = quote != 0 && !c.is(']') // env["NAME"] is as much a variable as NAME
	if !c.sign(&a, quote != 0) {
		return a, c.say(no)
	}
	a.value = c.i
	return a, c.say(yes)
}

// sign goes over what is between a name and its value, and into the value's quote.
func (c *cursor) sign(a *assignment, quoted bool) bool {
	c.colours()
	blank := c.blank(false)
	switch {
	case c.is('='):
		a.sign = '='
		for n := 0; n < 2 && c.is('='); n++ {
		}
		c.is('>')
	case c.is(':'):
		a.sign = ':'
		for n := 0; n < 2 && c.is(':'); n++ {
		}
		if c.is('=') {
			a.sign = '='
		}
	case c.word("?="), c.word("||="), c.word("||"), c.word("+="), c.word("%3D"), c.word("%3d"):
		a.sign = '='
	case c.word("%3A"), c.word("%3a"):
		a.sign = ':'
	case c.peek(0) == '>' && blank == 0 && c.t.element(a.begin):
		c.i++
		a.sign = '>'
	case quoted && c.attribute(a, blank):
		a.sign, a.sure = '=', true
		if c.t.b[c.i-1] == '>' {
			a.sign, a.sure = '>', false
		}
	case !quoted && blank == 0 && c.setter(a):
		c.i++
		a.sign, a.call = '(', true
	case !quoted && blank == 1 && c.sql(a):
		a.sign, a.sure = '=', true
	case a.quoted && c.is(','):
		return c.pair(a)
	case blank == 1 && !quoted && c.t.flagged(a):
		a.sign, a.tight, a.sure = ' ', true, a.name[0] != '-'
		c.open(a)
		return true
	case !quoted && c.declared(blank):
		a.sign = '='
	case !quoted && c.peek(0) == '\n' && bytes.HasSuffix(bytes.TrimRight(c.t.before(a.begin), " "), []byte("name:")) && c.nextValue(): // name: NAME, and on the next line value: …
		a.sign, a.sure = ':', true
	default:
		return false
	}
	after := c.blank(quoted)
	a.tight = blank+after == 0
	if quoted && c.peek(0) == '{' && !c.member() {
		return false
	}
	c.colours()
	c.typed(a)
	c.open(a)
	c.tripled(a)
	return true
}

// element says whether the name that begins at i is that of an element of XML.
func (t *text) element(i int) bool {
	from := t.back(i)
	if i > from && t.b[i-1] == ':' {
		for i--; i > from && isWord(t.b[i-1]); i-- {
		}
	}
	return i > from && t.b[i-1] == '<'
}

// member goes to the value of an object that holds it under a name for values, as outputs of Terraform do.
func (c *cursor) member() bool {
	c.i++
	c.blank(true)
	if quote, _ := c.quote(); quote == 0 || !c.word("value") && !c.word("S") {
		return false
	}
	if quote, _ := c.quote(); quote == 0 {
		return false
	}
	c.blank(true)
	if !c.is(':') {
		return false
	}
	c.blank(true)
	return true
}

// open goes into the value's quote.
func (c *cursor) open(a *assignment) {
	if isLetter(c.peek(0)) && (c.peek(1) == '"' || c.peek(1) == '\'') { // b"…"
		c.i++
	}
	if c.enter(a) {
		return
	}
	begin, opens := c.i, a.opens
	if a.quoted && (c.word("[]string{") || c.is('[')) { // the first of a list, as headers are printed
		if c.blank(true); !c.enter(a) {
			c.i, a.opens = begin, opens
		}
	}
}

// enter goes over the quote of the value.
func (c *cursor) enter(a *assignment) bool {
	a.opens = c.i
	a.quote, a.depth = c.quote()
	return a.quote != 0
}

// typed goes over the type in name: string = "value".
func (c *cursor) typed(a *assignment) {
	if a.sign != ':' || !isLetter(c.peek(0)) && c.peek(0) != '&' {
		return
	}
	n := 0
	for n < 24 && (isWord(c.peek(n)) || n == 0 && c.peek(n) == '&' || c.peek(n) == '.' || c.peek(n) == '[' || c.peek(n) == ']') {
		n++
	}
	for c.peek(n) == ' ' && n < 26 {
		n++
	}
	if c.peek(n) == '=' && c.peek(n+1) == ' ' {
		c.i += n + 2
		a.sign, a.tight = '=', false
	}
}

// pair goes over the comma of set("NAME", "value"), and of "name": "NAME", "value": "value". Other quoted texts beside each other are a
// list.
func (c *cursor) pair(a *assignment) bool {
	a.sign, a.call = ',', c.t.opensCall(a.begin)
	c.blank(true)
	if !c.enter(a) {
		return false
	}
	if !c.word("value") && !c.word("Value") && !c.word("ParameterValue") && !c.word("OutputValue") {
		return a.call
	}
	if quote, _ := c.quote(); quote == 0 {
		return a.call // it begins so
	}
	c.blank(true)
	if !c.is(':') && !c.is('=') {
		return false
	}
	c.blank(true)
	a.call = false
	return c.enter(a)
}

// opensCall says whether the quoted text that begins at i is a call's first argument.
func (t *text) opensCall(i int) bool {
	from := t.back(i)
	for i--; i > from && (t.b[i-1] == '\\' || t.b[i-1] == ' '); i-- { // before its quote
	}
	return i > from && t.b[i-1] == '('
}

// closesCall says whether the call ends after the value.
func (v *value) closesCall() outcome {
	c := cursor{t: v.t, i: v.end}
	c.quote()
	c.blank(true)
	if c.is(')') {
		return c.say(yes)
	}
	return c.say(no)
}

// nextValue goes to the value on the line after a name.
func (c *cursor) nextValue() bool {
	c.blank(true)
	return c.word("value:")
}

// flagged says whether a name is a flag of a command, or the word password in a .netrc file.
func (t *text) flagged(a *assignment) bool {
	if a.name[0] == '-' {
		return true
	}
	before := t.before(a.begin)
	before = before[max(len(before)-200, 0):]
	if command := bytes.TrimSpace(before[lineStart(before):]); oneOf(command, "env setx #define (setq (defvar (defconst") {
		return true
	}
	return string(a.name) == "password" && (bytes.Contains(before, []byte("login ")) || bytes.Contains(before, []byte("machine ")))
}
