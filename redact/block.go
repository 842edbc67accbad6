package redact

import "bytes"

// block is the match of a text of YAML that has lines of its own below its name: password: |
func (v *value) block(r *rule, ms markers) (match, outcome) {
	indent, ok := v.t.nameIndent(v.begin)
	y := lines{cursor: cursor{t: v.t, i: v.value + 1}}
	for n := 0; n < 2 && (isDigit(y.peek(0)) || y.peek(0) == '-' || y.peek(0) == '+'); n++ {
		y.i++
	}
	y.blank(false)
	y.json = y.peek(0) == '\\'
	if !ok || !y.next() || y.depth() <= indent {
		return match{}, y.say(no)
	}
	y.i += y.depth()
	begin := y.i
	y.skip()
	if y.short || y.i == begin || ms.in(v.t.b[begin:y.i]) == judged {
		return match{}, y.say(no)
	}
	return match{start: begin, end: y.i, rule: r, tail: tail{block: true, indent: indent, json: y.json}}, yes
}

// nameIndent is how far the name that begins at i is from the beginning of its line, if it is the first there or in an item of a list.
func (t *text) nameIndent(i int) (n int, ok bool) {
	b := t.before(i)
	from := max(bytes.LastIndexByte(b, '\n')+1, 0)
	if n := bytes.LastIndex(b, []byte(`\n`)); n >= from {
		from = n + len(`\n`)
	}
	if from == 0 && len(b) == context {
		return 0, false
	}
	line := b[from:]
	n = len(line) - len(bytes.TrimLeft(line, " "))
	return n, len(bytes.Trim(line, ` -"`)) == 0
}

// eatBlock says how much of b belongs to a block, and whether it ends there. Whatever is in them, its lines are indented more than its name.
func (t tail) eatBlock(b []byte, done bool) (n int, ended bool) {
	for n < len(b) {
		end := 0 // of a line, how long it is
		switch c := b[n]; {
		case c == '\n' && !t.json:
			end = 1
		case c == '\n' || c == '"' && t.json:
			return n, true
		case c == '\\' && t.json:
			if n+1 == len(b) {
				return n, done
			}
			if b[n+1] != 'n' {
				n += 2
				continue
			}
			end = 2
		default:
			n++
			continue
		}
		next := n + end
		for next < len(b) && b[next] == ' ' {
			next++
		}
		if next == len(b) {
			return n, done
		}
		blank := b[next] == '\n' || b[next] == '\r' || t.json && b[next] == '\\' && next+1 < len(b) && b[next+1] == 'n'
		if t.json && b[next] == '\\' && next+1 == len(b) && !done {
			return n, false
		}
		if !blank && next-n-end <= t.indent {
			return n, true
		}
		n = next
	}
	return n, done
}
