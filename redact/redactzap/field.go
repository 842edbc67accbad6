package redactzap

import (
	"strconv"

	"go.uber.org/zap/zapcore"

	"aesop/redact"
	"aesop/redact/internal/field"
)

// fields are fields without secrets, and whether what follows them stands in a namespace that hides it.
func (c *redacting) fields(fields []zapcore.Field) (safe []zapcore.Field, hidden bool) {
	hidden = c.hidden
	safe = make([]zapcore.Field, len(fields))
	for i, f := range fields {
		safe[i] = redactField(c.r, f, hidden)
		if f.Type == zapcore.NamespaceType && redact.SecretName(f.Key) {
			hidden = true
		}
	}
	return safe, hidden
}

func redactField(r *redact.Redactor, f zapcore.Field, hidden bool) zapcore.Field {
	key := r.String(f.Key)
	number := ""
	switch f.Type {
	case zapcore.SkipType:
		return f
	case zapcore.NamespaceType, zapcore.BoolType:
		f.Key = key
		return f
	case zapcore.StringType:
		return text(key, hide(r, f.Key, f.String, hidden))
	case zapcore.Int64Type, zapcore.Int32Type, zapcore.Int16Type, zapcore.Int8Type, zapcore.DurationType, zapcore.TimeType:
		number = strconv.FormatInt(f.Integer, 10)
	case zapcore.Uint64Type, zapcore.Uint32Type, zapcore.Uint16Type, zapcore.Uint8Type, zapcore.UintptrType:
		number = strconv.FormatUint(uint64(f.Integer), 10)
	default:
		return zapcore.Field{Key: key, Type: zapcore.InlineMarshalerType, Interface: inline{r, f, hidden}}
	}
	if safe := hide(r, f.Key, number, hidden); safe != number {
		return text(key, safe)
	}
	f.Key = key
	return f
}

func text(key, value string) zapcore.Field {
	return zapcore.Field{Key: key, Type: zapcore.StringType, String: value}
}

// hide is value, which stands under key, without secrets; all of it is one if hidden.
func hide(r *redact.Redactor, key, value string, hidden bool) string {
	if hidden && value != "" {
		return redact.Marker
	}
	return field.Text(r, key, value)
}

// inline writes a field through an encoder that redacts, when that is encoded.
type inline struct {
	r      *redact.Redactor
	field  zapcore.Field
	hidden bool
}

func (i inline) MarshalLogObject(to zapcore.ObjectEncoder) error {
	i.field.AddTo(&object{to, i.r, i.hidden})
	return nil
}
