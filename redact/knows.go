package redact

import "io"

// Knows reads from to its end, or to the first known value in it, and says whether there is one, in any form that Register looks for. What only
// looks like a secret does not count. It needs little memory, however much from gives.
func (r *Redactor) Knows(from io.Reader) (bool, error) {
	found := false
	text, in, out := reading{text: text{sign: -1}}, make([]byte, piece/2), []byte(nil)
	for {
		n, err := from.Read(in)
		if err != nil && err != io.EOF {
			return false, err
		}
		text.take(in[:n], err == io.EOF)
		out = r.known.pass.Load().read(&text, out[:0], func(match, int) { found = true })
		if found || err == io.EOF {
			return found, nil
		}
	}
}
