package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
)

// errShort says that the text ended inside a value; of a whole line that is damage, of the beginning of one it is not.
var (
	errShort  = errors.New("the text ends inside a value")
	errSyntax = errors.New("not JSON")
)

// maxDepth is more nesting than any session has.
const maxDepth = 512

// scanner walks through the text of a JSON value once, from front to back, and can stop early: most lines are known to be of no
// interest after their first hundred bytes. Structure, numbers and literals are held to the grammar; of strings that nobody asks for
// only the end is looked for.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// peek is the next byte that is no space.
func (s *scanner) peek() (byte, error) {
	s.space()
	if s.at >= len(s.text) {
		return 0, errShort
	}
	return s.text[s.at], nil
}

// byte takes the next byte, which must be c.
func (s *scanner) byte(c byte) error {
	next, err := s.peek()
	if err == nil && next != c {
		err = errSyntax
	}
	s.at++
	return err
}

// object calls member for each name of an object, which has to take the value. It stops at the first error.
func (s *scanner) object(member func(name []byte) error) error {
	if err := s.byte('{'); err != nil {
		return err
	}
	if next, err := s.peek(); err != nil || next == '}' {
		s.at++
		return err
	}
	for {
		name, err := s.raw()
		if err == nil {
			err = s.byte(':')
		}
		if err == nil {
			err = member(name)
		}
		if err != nil {
			return err
		}
		if done, err := s.more('}'); done || err != nil {
			return err
		}
	}
}

// more takes the comma before another element, or the end.
func (s *scanner) more(end byte) (done bool, err error) {
	next, err := s.peek()
	s.at++
	switch {
	case err != nil:
		return false, err
	case next == end:
		return true, nil
	case next != ',':
		return false, errSyntax
	}
	return false, nil
}

// raw takes a string as it is written, without the quotes.
func (s *scanner) raw() ([]byte, error) {
	if err := s.byte('"'); err != nil {
		return nil, err
	}
	begin := s.at
	for {
		n := bytes.IndexByte(s.text[s.at:], '"')
		if n < 0 {
			s.at = len(s.text)
			return nil, errShort
		}
		s.at += n + 1
		escapes := 0
		for i := s.at - 2; i >= begin && s.text[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 0 {
			return s.text[begin : s.at-1], nil
		}
	}
}

// string takes a string; null is "".
func (s *scanner) string() ([]byte, error) {
	next, err := s.peek()
	if err != nil {
		return nil, err
	}
	if next != '"' {
		if next == 'n' {
			return nil, s.skip(0)
		}
		return nil, errSyntax
	}
	begin := s.at
	raw, err := s.raw()
	if err != nil || bytes.IndexByte(raw, '\\') < 0 && plain(raw) {
		return raw, err
	}
	var text string
	if json.Unmarshal(s.text[begin:s.at], &text) != nil {
		return nil, errSyntax
	}
	return []byte(text), nil
}

// plain says whether text is printable ASCII, which is most of what is asked for.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// said says whether the next value is not null.
func (s *scanner) said() bool {
	next, err := s.peek()
	return err == nil && next != 'n'
}

// count takes a value that should be one. Where it is not, bad becomes name, if it is not set.
func (s *scanner) count(name string, into *int64, bad *string) error {
	next, err := s.peek()
	if err != nil {
		return err
	}
	begin := s.at
	if err := s.skip(0); err != nil {
		return err
	}
	*into = 0
	if next == 'n' {
		return nil // null is not said
	}
	for _, c := range s.text[begin:s.at] {
		if c < '0' || c > '9' || *into > 1<<50 {
			*bad = cmp.Or(*bad, name)
			return nil
		}
		*into = *into*10 + int64(c-'0')
	}
	return nil
}

// inner takes an object as object does, and says so; any other value is passed over.
func (s *scanner) inner(member func(name []byte) error) (bool, error) {
	if next, err := s.peek(); err != nil || next != '{' {
		return false, s.skip(0)
	}
	return true, s.object(member)
}

// bool takes a value that is true or not.
func (s *scanner) bool() (bool, error) {
	next, err := s.peek()
	if err != nil {
		return false, err
	}
	return next == 't', s.skip(0)
}

// skip takes a value.
func (s *scanner) skip(depth int) error {
	next, err := s.peek()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return errSyntax
	}
	switch next {
	case '"':
		_, err := s.raw()
		return err
	case '{':
		return s.object(func([]byte) error { return s.skip(depth + 1) })
	case '[':
		return s.array(func() error { return s.skip(depth + 1) })
	}
	return s.scalar()
}

func (s *scanner) array(element func() error) error {
	if err := s.byte('['); err != nil {
		return err
	}
	if next, err := s.peek(); err != nil || next == ']' {
		s.at++
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if done, err := s.more(']'); done || err != nil {
			return err
		}
	}
}

// scalar takes a number, true, false or null.
func (s *scanner) scalar() error {
	begin := s.at
	for s.at < len(s.text) && s.text[s.at] != ',' && s.text[s.at] != '}' && s.text[s.at] != ']' && s.text[s.at] > ' ' {
		s.at++
	}
	if s.at == len(s.text) {
		return errShort // whatever a value is in goes on
	}
	switch text := s.text[begin:s.at]; {
	case number(text):
	case string(text) == "null", string(text) == "true", string(text) == "false":
	default:
		return errSyntax
	}
	return nil
}

// number says whether text is a number of JSON.
func number(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("-"))
	whole := digits(text)
	if whole == 0 || whole > 1 && text[0] == '0' {
		return false
	}
	text = text[whole:]
	if len(text) > 0 && text[0] == '.' {
		part := digits(text[1:])
		if part == 0 {
			return false
		}
		text = text[1+part:]
	}
	if len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		power := digits(text)
		return power > 0 && power == len(text)
	}
	return len(text) == 0
}

// digits is how many text begins with.
func digits(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// end says whether nothing follows.
func (s *scanner) end() error {
	if s.space(); s.at < len(s.text) {
		return errSyntax
	}
	return nil
}
