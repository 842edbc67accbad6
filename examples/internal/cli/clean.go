package cli

import (
	"bytes"
	"io"
	"strings"

	"aesop/redact"
)

// secretless makes sure that the context has a redactor that knows the secrets of an environment.
func (c *Context) secretless(environ []string) error {
	if c.Redactor != nil {
		return nil
	}
	var err error
	if c.Redactor, err = redact.New(redact.Config{}); err == nil {
		c.Redactor.RegisterEnvironment(environ)
	}
	return err
}

// people passes on what is for people to read, without secrets and control characters. Each Write must hold whole characters, as those of
// package fmt do, and what belongs together to be known for a secret.
type people struct {
	to       io.Writer
	redactor *redact.Redactor
}

func (p people) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.to, Lines(p.redactor.String(string(text)))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Print writes a document under --json, and what human writes otherwise, without control characters, both without secrets.
func (c *Context) Print(document any, human func(io.Writer)) {
	if c.JSON {
		c.document(document)
		return
	}
	var text bytes.Buffer
	human(&text) // whole, since a secret may have several lines
	_, _ = people{c.Stdout, c.Redactor}.Write(text.Bytes())
}

// PrintAsIs is Print for what must be seen as it is: a secret that its holder asked for, such as the token of a claim, or what people are to
// decide about. Nothing is taken out.
func (c *Context) PrintAsIs(document any, human func(io.Writer)) {
	if c.JSON {
		c.encoded(c.Stdout, document)
		return
	}
	human(plain{c.Stdout})
}

// AsIs is the writer of a context that says things to people, for what they must see as it is.
func AsIs(w io.Writer) io.Writer {
	switch w := w.(type) {
	case people:
		return plain{w.to}
	case talker:
		w.asIs = true
		return w
	}
	return w
}

// WithoutCredentials takes out what is known, or a credential by its shape, and leaves what only its surroundings call a secret: whoever
// decides about a change must see what it does, and a scan has let that pass.
func (c *Context) WithoutCredentials(text string) string {
	var b strings.Builder
	done := 0
	for _, f := range c.Redactor.Explain([]byte(text)) {
		if f.Severity == redact.Critical && f.Start >= done {
			b.WriteString(text[done:f.Start] + redact.Marker)
			done = f.End
		}
	}
	return b.String() + text[done:]
}

// Follow is where a text that goes on is written for people to read, at once.
func (c *Context) Follow() io.Writer { return people{c.Stdout, c.Redactor} }
