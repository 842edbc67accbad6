package redact

import "bytes"

// command is the look at short flags that give a password to a program on its command line: sshpass -p, mysql -p, redis-cli -a. What the
// flag means depends on the program, which stands before it on its line.
func command(r *rule, ms markers) look {
	set := bare()
	return func(t *text, at int) (match, outcome) {
		c := cursor{t: t, i: at + len(" -p")}
		line := t.line(at)
		apart := c.peek(0) == ' '
		if c.short {
			return match{}, more
		}
		if !takesPassword(line, t.b[c.i-1], apart) {
			return match{}, no
		}
		if apart {
			c.i++
		}
		v := value{t: t}
		c.enter(&v.assignment)
		v.value = c.i
		if c.short {
			return match{}, more
		}
		return v.given(r, ms, set)
	}
}

// given is the match of a value that is a secret because of what stands before it.
func (v *value) given(r *rule, ms markers, set *class) (match, outcome) {
	if o := v.read(set); o != yes {
		return match{}, o
	}
	if v.quote == 0 && len(v.text) > 0 && v.text[0] == '-' { // another flag
		return match{}, no
	}
	if has := ms.in(trimmed(v.text)); has == judged || has == noMarker && (len(v.text) < 4 || v.ordinary()) || v.outside() {
		return match{}, no
	}
	return match{start: v.value, end: v.end, rule: r, tail: v.rest}, yes
}

// takesPassword says whether a program on this line takes a password after a flag, apart from it or joined to it.
func takesPassword(line []byte, flag byte, apart bool) bool {
	switch {
	case flag == 'p' && apart:
		return has(line, "sshpass", "docker login", "podman login", "registry login", "az login", "oc login", "mongosh", "mongo", "mongodump", "mongorestore")
	case flag == 'p':
		return has(line, "sshpass", "mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "7z")
	case flag == 'P':
		return apart && has(line, "zip", "unzip")
	case flag == 'a':
		return apart && has(line, "redis-cli")
	case flag == 'w':
		return apart && has(line, "ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami")
	}
	return false
}

// has says whether one of some commands is on a line, as words of their own.
func has(line []byte, commands ...string) bool {
	for _, command := range commands {
		for rest := line; ; {
			n := bytes.Index(rest, []byte(command))
			if n < 0 {
				break
			}
			end := n + len(command)
			if (n == 0 || !isName(rest[n-1])) && (end == len(rest) || rest[end] == ' ') {
				return true
			}
			rest = rest[end:]
		}
	}
	return false
}

// openSSL is the look at pass:value, as openssl is given a password.
func openSSL(r *rule, ms markers) look {
	set := bare()
	return func(t *text, at int) (match, outcome) {
		if !has(t.line(at), "openssl") {
			return match{}, no
		}
		v := value{t: t}
		v.value = at + len(" pass:")
		return v.given(r, ms, set)
	}
}

// identified is the look at what a statement of SQL gives a user for a password: IDENTIFIED BY, and then it in quotes.
func identified(r *rule, ms markers) look {
	return func(t *text, at int) (match, outcome) {
		const longest = 48
		c := cursor{t: t, i: at + len("identified ")}
		if word := "with "; equalFold(t.b[c.i:min(len(t.b), c.i+len(word))], word) {
			c.i += len(word)
			for n := 0; n < longest && (isName(c.peek(0)) || c.peek(0) == '\''); n++ {
				c.i++
			}
			c.is(' ')
		}
		if c.peek(0)|0x20 != 'b' || c.peek(1)|0x20 != 'y' || c.peek(2) != ' ' {
			return match{}, c.say(no)
		}
		c.i += len("by ")
		v := value{t: t}
		if !c.enter(&v.assignment) || v.quote != '\'' || c.short {
			return match{}, c.say(no)
		}
		v.value = c.i
		return v.given(r, ms, nil)
	}
}

// connection is the look at PWD in the middle of a connection string, where no name says whose it is.
func connection(r *rule, ms markers) look {
	set := bare()
	return func(t *text, at int) (match, outcome) {
		v := value{t: t}
		v.value = at + len(";pwd=")
		return v.given(r, ms, set)
	}
}
