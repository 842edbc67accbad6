package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// forms are the ways in which a value is written.
func forms(v string) []string {
	all := map[string]bool{}
	for _, text := range parts(v) {
		all[text] = true
		all[hex.EncodeToString([]byte(text))] = true
		all[strings.ToUpper(hex.EncodeToString([]byte(text)))] = true
		for _, f := range slices.Concat(htmlForms(text), numberForms(text), quotedForms(text), urlForms(text), base64Forms(text)) {
			all[f] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}

// parts are a value, without the white space around it too, and its long lines.
func parts(v string) []string {
	all := []string{v}
	if trimmed := strings.TrimSpace(v); trimmed != v && len(trimmed) >= shortest {
		all = append(all, trimmed)
	}
	const long = 16
	if lines := strings.FieldsFunc(v, func(c rune) bool { return c == '\n' || c == '\r' }); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= long && !strings.HasPrefix(line, "-----") {
				all = append(all, line)
			}
		}
	}
	return all
}

// htmlForms are a value as several languages escape it for HTML and XML.
func htmlForms(v string) []string {
	var all []string
	angles := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(v)
	for _, double := range []string{`"`, "&#34;", "&quot;"} {
		for _, single := range []string{"'", "&#39;", "&#x27;", "&apos;"} {
			all = append(all, strings.NewReplacer(`"`, double, "'", single).Replace(angles))
		}
	}
	return all
}

// numberForms are the bytes of a value as Go and others print them: 97 98, 97, 98 and 97,98.
func numberForms(v string) []string {
	const enough = 6 // fewer numbers are in other text by chance
	if len(v) < enough {
		return nil
	}
	numbers := strings.Trim(fmt.Sprint([]byte(v)), "[]")
	return []string{numbers, strings.ReplaceAll(numbers, " ", ", "), strings.ReplaceAll(numbers, " ", ",")}
}

// quotedForms are a value in JSON in JSON, as Go and other programs write it, and in a shell's quotes.
func quotedForms(v string) []string {
	const depth = 4
	var all []string
	for _, inner := range []string{inJSON(v, false), inJSON(v, true)} {
		all = append(all, strings.ReplaceAll(inner, "/", `\/`))
		for range depth {
			all = append(all, inner)
			inner = inJSON(inner, false)
		}
	}
	all = append(all, strings.ReplaceAll(v, "\n", "\r\n"))
	quoted, ascii := strconv.Quote(v), strconv.QuoteToASCII(v)
	quoted, ascii = quoted[1:len(quoted)-1], ascii[1:len(ascii)-1]
	single := strings.NewReplacer(`\"`, `"`, `'`, `\'`) // as Python and JavaScript print
	all = append(all, quoted, ascii, single.Replace(quoted))
	all = append(all, strings.ReplaceAll(v, `'`, `'\''`), strings.ReplaceAll(v, `'`, `'"'"'`))
	inDouble := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`")
	all = append(all, inDouble.Replace(v))
	var bare strings.Builder
	for _, c := range []byte(v) {
		if !isWord(c) && c < 0x80 && !strings.ContainsRune("_@%+=:,./-", rune(c)) {
			bare.WriteByte('\\')
		}
		bare.WriteByte(c)
	}
	return append(all, bare.String())
}

// inJSON is the inside of a JSON string, with < > & as they are or as Go escapes them.
func inJSON(v string, escapeHTML bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	if err := enc.Encode(v); err != nil {
		return v
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}

// urlForms are a value in a query, in a path and in userinfo, with escapes of either case.
func urlForms(v string) []string {
	var all []string
	for _, f := range []string{url.QueryEscape(v), url.PathEscape(v), url.User(v).String(), everyByte(v, "-_.~"), everyByte(v, "-_.~!*'()")} {
		all = append(all, f, lowerEscapes(f))
	}
	return all
}

// everyByte escapes all but letters, digits and some signs: -_.~ of RFC 3986, 2.3, or those that JavaScript leaves too.
func everyByte(v, but string) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		if isWord(c) || strings.IndexByte(but, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func lowerEscapes(v string) string {
	b := []byte(v)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = b[i+1]|0x20, b[i+2]|0x20
			i += 2
		}
	}
	return string(b)
}

// base64Forms are a value in base64 after zero, one and two other bytes, less the characters that its neighbours decide too.
func base64Forms(v string) []string {
	const enough = 8 // characters; what is shorter is in other text by chance
	var all []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), v...))
			from := (before*8 + 5) / 6
			upto := (before + len(v)) * 8 / 6
			if upto-from >= enough {
				all = append(all, text[from:upto])
			}
		}
		for _, column := range []int{64, 76} { // where programs break lines
			for rest := encoding.EncodeToString([]byte(v)); len(v)*4/3 > column && len(rest) >= 2*enough; rest = rest[min(column, len(rest)):] {
				all = append(all, rest[:min(column, len(rest)-1)]) // the last character is another where more follows
			}
		}
		if len(v) < enough { // too short for its inside, so only alone
			all = append(all, encoding.EncodeToString([]byte(v)))
		}
	}
	return all
}
