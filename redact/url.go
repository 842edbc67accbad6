package redact

import "bytes"

// farthest is how far from :// the end of the userinfo is looked for.
const farthest = 4 << 10

// userinfo is the look at ://, behind which a user and a password, or a token, may stand before the host. The password may have any
// sign in it, also those that a URL must escape: it goes up to the last @ that a host can follow.
func userinfo(r *rule) look {
	signs := *classOf("\"'`<>\x7f\\:")
	for c := range ' ' + 1 {
		signs[c] = true
	}
	return func(t *text, at int) (match, outcome) {
		if at <= t.back(at) || !isWord(t.b[at-1]) {
			return match{}, no
		}
		begin := at + len("://")
		if t.b[at+1] == '\\' {
			begin = at + len(`:\/\/`)
		}
		window := t.b[min(begin, len(t.b)):min(len(t.b), begin+farthest)]
		if (t.done || len(window) == farthest) && bytes.IndexByte(window, '@') < 0 { // as of most URLs
			return match{}, no
		}
		n, ended := authority(window, &signs)
		if !ended && !t.done && len(window) < farthest {
			return match{}, more
		}
		run := t.b[begin : begin+n]
		end := userinfoEnd(run, web(t, at))
		if end <= 0 || string(run[:end]) == Marker || string(run[:end]) == "git" || interpolated(run[:end]) {
			return match{}, no
		}
		return match{start: begin, end: begin + end, rule: r}, yes
	}
}

// web says whether the scheme before at is one whose paths have @ in them.
func web(t *text, at int) bool {
	i := at
	for i > t.back(at) && at-i < 8 && (isWord(t.b[i-1])) {
		i--
	}
	return oneOf(t.b[i:at], "http https ws wss git ssh ftp file")
}

// authority is how far a URL goes from its host on: to white space, a quote, or the next URL. What is not among the signs belongs to it.
func authority(b []byte, signs *class) (n int, ended bool) {
	for n < len(b) {
		switch c := b[n]; {
		case !signs[c]:
			n++
		case c == '\\':
			if n+1 == len(b) {
				return n, false
			}
			if b[n+1] != '\\' && b[n+1] != '/' && !bytes.HasPrefix(b[n+1:], []byte("u0026")) {
				return n, len(b)-n >= 6
			}
			n += 2
		case c == ':':
			if begin := nextURL(b, n); begin > 0 && bytes.IndexByte([]byte(",;|=&()[]{}"), b[begin-1]) >= 0 {
				return begin - 1, true
			}
			n++
		default:
			return n, true
		}
	}
	return n, false
}

// nextURL is where the scheme begins whose colon is at i; 0 where there is none.
func nextURL(b []byte, i int) int {
	if !bytes.HasPrefix(b[i:], []byte("://")) {
		return 0
	}
	n := i
	for n > 0 && (isWord(b[n-1]) || b[n-1] == '+' || b[n-1] == '-' || b[n-1] == '.') {
		n--
	}
	if n == i {
		return 0
	}
	return n
}

// userinfoEnd is where the userinfo of what follows :// ends, at its @; 0 where there is none.
func userinfoEnd(run []byte, web bool) int {
	host := bytes.IndexAny(run, "/?#")
	if host < 0 {
		host = len(run)
	}
	last := bytes.LastIndexByte(run, '@')
	if last <= 0 || digest(run[last+1:]) {
		return 0
	}
	if at := bytes.LastIndexByte(run[:host], '@'); at >= 0 {
		if at == last || plausible(run[at+1:host]) && web {
			return at
		}
		if query := bytes.IndexByte(run[host:], '?'); plausible(run[at+1:host]) && query >= 0 && host+query < last {
			return max(at, bytes.LastIndexByte(run[:host+query], '@'))
		}
		return last
	}
	colon := bytes.IndexByte(run[:host], ':')
	switch {
	case colon < 0 || run[0] == '[':
		return 0
	case colon > 0 && port(run[colon+1:host]) && web:
		return 0
	}
	return last
}

// digest says whether what follows an @ is that of a container image.
func digest(b []byte) bool {
	return bytes.HasPrefix(b, []byte("sha256:")) || bytes.HasPrefix(b, []byte("sha512:"))
}

func port(b []byte) bool {
	return len(b) <= 5 && !bytes.ContainsFunc(b, func(c rune) bool { return c < '0' || c > '9' })
}

// plausible says whether a name is more likely a host than the middle of a password: it has a port, or a domain, or is an address.
func plausible(host []byte) bool {
	if len(host) > 0 && host[0] == '[' {
		return true
	}
	if n := bytes.LastIndexByte(host, ':'); n >= 0 {
		return n > 0 && n+1 < len(host) && port(host[n+1:])
	}
	if string(host) == "localhost" {
		return true
	}
	n := bytes.LastIndexByte(host, '.')
	return n > 0 && n+2 < len(host) && (letters(host[n+1:]) || port(host[n+1:]))
}
