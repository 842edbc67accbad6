package redactzap

import (
	"strconv"
	"time"

	"go.uber.org/zap/zapcore"

	"aesop/redact"
)

// array redacts what is appended to it, which stands under its key, and appends that to another.
type array struct {
	to  zapcore.ArrayEncoder
	r   *redact.Redactor
	key string
}

// put appends value, which prints as text, or the marker.
func put[T any](a *array, to func(T), value T, text string) {
	if safe := hide(a.r, a.key, text, false); safe != text {
		a.to.AppendString(safe)
	} else {
		to(value)
	}
}

func (a *array) AppendArray(value zapcore.ArrayMarshaler) error {
	return a.to.AppendArray(elements{value, a.r, a.key})
}

func (a *array) AppendObject(value zapcore.ObjectMarshaler) error {
	return a.to.AppendObject(members{value, a.r})
}

func (a *array) AppendReflected(value any) error {
	safe, err := reflected(a.r, a.key, value, false)
	if err != nil {
		return err
	}
	return a.to.AppendReflected(safe)
}

func (a *array) AppendByteString(value []byte) {
	a.to.AppendByteString([]byte(hide(a.r, a.key, string(value), false)))
}

func (a *array) AppendString(value string) { a.to.AppendString(hide(a.r, a.key, value, false)) }
func (a *array) AppendBool(value bool)     { a.to.AppendBool(value) }

func (a *array) AppendComplex128(v complex128) {
	put(a, a.to.AppendComplex128, v, strconv.FormatComplex(v, 'g', -1, 128))
}
func (a *array) AppendComplex64(v complex64) {
	put(a, a.to.AppendComplex64, v, strconv.FormatComplex(complex128(v), 'g', -1, 64))
}
func (a *array) AppendDuration(v time.Duration) { put(a, a.to.AppendDuration, v, integer(v)) }
func (a *array) AppendTime(v time.Time)         { put(a, a.to.AppendTime, v, integer(v.UnixNano())) }
func (a *array) AppendFloat64(v float64)        { put(a, a.to.AppendFloat64, v, float(v, 64)) }
func (a *array) AppendFloat32(v float32)        { put(a, a.to.AppendFloat32, v, float(v, 32)) }
func (a *array) AppendInt(v int)                { put(a, a.to.AppendInt, v, integer(v)) }
func (a *array) AppendInt64(v int64)            { put(a, a.to.AppendInt64, v, integer(v)) }
func (a *array) AppendInt32(v int32)            { put(a, a.to.AppendInt32, v, integer(v)) }
func (a *array) AppendInt16(v int16)            { put(a, a.to.AppendInt16, v, integer(v)) }
func (a *array) AppendInt8(v int8)              { put(a, a.to.AppendInt8, v, integer(v)) }
func (a *array) AppendUint(v uint)              { put(a, a.to.AppendUint, v, natural(v)) }
func (a *array) AppendUint64(v uint64)          { put(a, a.to.AppendUint64, v, natural(v)) }
func (a *array) AppendUint32(v uint32)          { put(a, a.to.AppendUint32, v, natural(v)) }
func (a *array) AppendUint16(v uint16)          { put(a, a.to.AppendUint16, v, natural(v)) }
func (a *array) AppendUint8(v uint8)            { put(a, a.to.AppendUint8, v, natural(v)) }
func (a *array) AppendUintptr(v uintptr)        { put(a, a.to.AppendUintptr, v, natural(v)) }

// elements is an array whose elements are redacted.
type elements struct {
	of  zapcore.ArrayMarshaler
	r   *redact.Redactor
	key string
}

func (e elements) MarshalLogArray(to zapcore.ArrayEncoder) error {
	return e.of.MarshalLogArray(&array{to, e.r, e.key})
}
