package redactzap

import (
	"bytes"
	"errors"

	"go.uber.org/zap/zapcore"

	"aesop/redact"
)

type redacting struct {
	zapcore.Core
	r      *redact.Redactor
	hidden bool // a namespace is open whose name is that of a secret
}

// Level lets zap find the level of the core below.
func (c *redacting) Level() zapcore.Level { return zapcore.LevelOf(c.Core) }

func (c *redacting) With(fields []zapcore.Field) zapcore.Core {
	safe, hidden := c.fields(fields)
	return &redacting{c.Core.With(safe), c.r, hidden}
}

// Check asks the core below and keeps its answer: a tee or a sampler that is written to directly would write more than it agreed to.
func (c *redacting) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	below := c.Core.Check(entry, nil)
	if below == nil {
		return checked
	}
	if checked == nil {
		entry = c.entry(entry) // zap panics with the message of the first entry
	}
	return checked.AddCore(entry, &agreed{c, below})
}

func (c *redacting) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	safe, _ := c.fields(fields)
	return c.Core.Write(c.entry(entry), safe)
}

func (c *redacting) entry(entry zapcore.Entry) zapcore.Entry {
	entry.Message = c.r.String(entry.Message)
	entry.LoggerName = c.r.String(entry.LoggerName)
	entry.Stack = c.r.String(entry.Stack)
	entry.Caller.File = c.r.String(entry.Caller.File)
	entry.Caller.Function = c.r.String(entry.Caller.Function)
	return entry
}

// agreed is a core for one entry, which the cores below have agreed to write.
type agreed struct {
	*redacting
	below *zapcore.CheckedEntry
}

func (a *agreed) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	safe, _ := a.fields(fields)
	a.below.Entry = a.entry(entry)
	var failed bytes.Buffer // its Write returns nothing
	a.below.ErrorOutput = zapcore.AddSync(&failed)
	a.below.Write(safe...)
	if failed.Len() > 0 {
		return errors.New(string(bytes.TrimSpace(failed.Bytes())))
	}
	return nil
}
