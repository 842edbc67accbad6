package scan

import (
	"bytes"
	"net/netip"
	"strings"
)

// userinfo finds out whether the range is the part before the @ of a URL or address. It returns the password in it, or the user where
// that is empty and the user is no plain word, as where a token stands before the colon, and what follows the @; otherwise the range itself.
func userinfo(text []byte, start, end int) (secret, host []byte, ok bool) {
	secret = text[start:end]
	if !bytes.HasPrefix(text[end:], []byte("@")) {
		return secret, nil, false
	}
	if user, password, found := bytes.Cut(secret, []byte(":")); found {
		const least = 16 // of a token before the colon
		secret = password
		if len(password) == 0 && !words(string(user)) || len(user) >= least && !words(string(user)) && placeholder(string(password)) {
			secret = user
		}
	}
	host = text[end+1 : min(len(text), end+1+1024)]
	if i := bytes.IndexAny(host, "/?# \t\r\n\"'`<>()\\;|&"); i >= 0 {
		host = host[:i]
	}
	return secret, host, true
}

// localHost says that every one of the hosts, which can have ports, is the machine itself, on its own network, or reserved for examples.
func localHost(hosts []byte) bool {
	for host := range strings.SplitSeq(strings.ToLower(string(hosts)), ",") {
		if !localName(host) {
			return false
		}
	}
	return true
}

func localName(host string) bool {
	if address, err := netip.ParseAddrPort(host); err == nil {
		return address.Addr().IsLoopback()
	}
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return address.IsLoopback()
	}
	host, _, _ = strings.Cut(host, ":")
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	switch last {
	case "localhost", "local", "localdomain", "example", "invalid":
		return true
	}
	return len(labels) >= 2 && labels[len(labels)-2] == "example" && (last == "com" || last == "org" || last == "net" || last == "edu")
}
