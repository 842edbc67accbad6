package redact

import "bytes"

// login is the look at the flag of curl and its like that takes user:password. The user stays.
func login(r *rule, ms markers) look {
	local, set := localPart(), bare().and(";&,<>|}")
	return func(t *text, at int) (match, outcome) {
		line := t.line(at)
		if !bytes.Contains(line, []byte("curl")) && !bytes.Contains(line, []byte("wget")) && !bytes.Contains(line, []byte("http")) {
			return match{}, no
		}
		c := cursor{t: t, i: at + 1}
		for c.is('-') {
		}
		for isLetter(c.peek(0)) || c.peek(0) == '-' {
			c.i++
		}
		c.blank(false)
		c.is('=')
		v := value{t: t}
		c.enter(&v.assignment)
		for n := 0; n < longestName && local[c.peek(0)] && c.peek(0) != ':'; n++ {
			c.i++
		}
		if !c.is(':') || c.short {
			return match{}, c.say(no)
		}
		v.value = c.i
		return v.given(r, ms, set)
	}
}
