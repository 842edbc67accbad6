// Package redactzap makes logs of zap that hold no secrets.
//
//	logger := redactzap.Logger(given, redactor)                                           // of a logger that is there
//	core := redactzap.NewCore(encoder, zapcore.AddSync(file), zapcore.InfoLevel, redactor) // of its own
//
// Everything that an entry has is looked at as it is before it is encoded, where nothing is escaped: message, name of the logger, caller,
// stack, and keys and values of fields of every type, also those of With and WithLazy, also what marshalers, errors and Stringers make.
// What stands under a name that redact.SecretName knows goes whole. A core that NewCore made looks at the encoded entry once more.
//
// Not covered is what a logger or a core was given before it was wrapped.
package redactzap

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"aesop/redact"
)

// Logger is given, with every entry redacted before a core of given sees it.
func Logger(given *zap.Logger, r *redact.Redactor) *zap.Logger {
	return given.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return Wrap(core, r) }))
}

// NewCore is zapcore.NewCore with every entry redacted. An entry that was one line of JSON, or one line, is that still.
func NewCore(encoder zapcore.Encoder, to zapcore.WriteSyncer, enabled zapcore.LevelEnabler, r *redact.Redactor) zapcore.Core {
	return Wrap(zapcore.NewCore(encoder, &writer{to, r}, enabled), r)
}

// Wrap is core, with every entry redacted before it sees it. Strings, numbers, booleans and times stay fields of their type; other
// fields keep their key and write themselves, redacted, when core encodes them. Values of zap.Reflect are given to it as their JSON.
func Wrap(core zapcore.Core, r *redact.Redactor) zapcore.Core { return &redacting{Core: core, r: r} }
