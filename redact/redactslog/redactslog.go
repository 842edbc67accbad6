// Package redactslog makes logs of log/slog that hold no secrets.
//
//	logger := slog.New(redactslog.New(slog.NewJSONHandler(os.Stderr, nil), redactor))
//
// Everything that a record has is looked at before the handler below sees it, where nothing is escaped: the message, names of groups,
// keys, and values of every kind, also those of With, also what a LogValuer, a marshaler, an error or a Stringer makes. What stands
// under a name that redact.SecretName knows goes whole.
package redactslog

import (
	"context"
	"log/slog"
	"strconv"

	"aesop/redact"
	"aesop/redact/internal/field"
)

// New is a handler that gives every record to below without secrets. Values of slog.KindAny that are not nil come there as a value that
// prints and marshals to what the original does, redacted.
func New(below slog.Handler, r *redact.Redactor) slog.Handler { return &handler{below: below, r: r} }

type handler struct {
	below  slog.Handler
	r      *redact.Redactor
	hidden bool // a group is open whose name is that of a secret
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.below.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	safe := slog.NewRecord(record.Time, record.Level, h.r.String(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		safe.AddAttrs(h.attr(a, h.hidden))
		return true
	})
	return h.below.Handle(ctx, safe)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.below.WithAttrs(h.attrs(attrs, h.hidden)), h.r, h.hidden}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.below.WithGroup(h.r.String(name)), h.r, h.hidden || redact.SecretName(name)}
}

func (h *handler) attrs(attrs []slog.Attr, hidden bool) []slog.Attr {
	safe := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		safe[i] = h.attr(a, hidden)
	}
	return safe
}

func (h *handler) attr(a slog.Attr, hidden bool) slog.Attr {
	hidden = hidden || redact.SecretName(a.Key)
	return slog.Attr{Key: h.r.String(a.Key), Value: h.value(a.Key, a.Value.Resolve(), hidden)}
}

// value is v, which stands under key and is resolved, without secrets; all of it is one if hidden.
func (h *handler) value(key string, v slog.Value, hidden bool) slog.Value {
	text := ""
	switch v.Kind() {
	case slog.KindBool:
		return v
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group(), hidden)...)
	case slog.KindAny:
		if v.Any() == nil {
			return v
		}
		if hidden {
			return slog.StringValue(redact.Marker)
		}
		return slog.AnyValue(render(h.r, key, v.Any()))
	case slog.KindDuration:
		text = strconv.FormatInt(int64(v.Duration()), 10)
	case slog.KindTime:
		text = strconv.FormatInt(v.Time().UnixNano(), 10)
	default:
		text = v.String()
	}
	safe := field.Text(h.r, key, text)
	if hidden && text != "" {
		safe = redact.Marker
	}
	if safe == text {
		return v
	}
	return slog.StringValue(safe)
}

// rendered prints and marshals to what a value did. Handlers that know neither way print it with fmt.
