package scan

import (
	"regexp"
	"strings"
	"unicode"
)

// reference is a value that stands for one which is elsewhere. A default within, as in ${NAME:-value}, would be a value.
var reference = regexp.MustCompile(`^(<[A-Za-z][A-Za-z _.:/-]{0,60}>|\$[A-Z_][A-Z0-9_]*|\$\{[A-Za-z_][\w.]*\}|\$?\{\{ *[\w.\-]+ *\}\}|%[A-Za-z_]\w*%|%\([A-Za-z_]\w*\)s|\$\([A-Za-z_]\w*\))$`)

// placeholder says that a value is none: not that it has such words in it, but that it has nothing else.
func placeholder(value string) bool {
	value = strings.Trim(value, "\"'`")
	if reference.MatchString(value) {
		return true
	}
	fillers := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. :/", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, value)
	if fillers == "" || strings.Trim(fillers, fillers[:1]) == "" || strings.Trim(fillers, "…") == "" {
		return true
	}
	marked := false
	for _, word := range strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune("-_. :/[]()", r) }) {
		switch {
		case len(word) >= 3 && strings.Trim(word, "x") == "":
			marked = true
		case strings.Contains(saysPlaceholder, " "+word+" "):
			marked = true
		case !strings.Contains(besidePlaceholder, " "+word+" "):
			return false
		}
	}
	return marked
}

const (
	// Words that say that the value is none.
	saysPlaceholder = " changeme example placeholder dummy fake sample redacted your yourkey replaceme todo change insert replace "
	// Words that may stand beside them.
	besidePlaceholder = " a an the my me here this that with it to key keys token secret password passwd pass pwd api access auth client private id " +
		"value string user username account app "
)
