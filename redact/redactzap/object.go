package redactzap

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"go.uber.org/zap/zapcore"

	"aesop/redact"
	"aesop/redact/internal/field"
)

// object redacts what is added to it and adds that to another.
type object struct {
	to     zapcore.ObjectEncoder
	r      *redact.Redactor
	hidden bool // everything in it is a secret
}

// add adds value, which prints as text, or the marker.
func add[T any](o *object, to func(string, T), key string, value T, text string) {
	if safe := hide(o.r, key, text, o.hidden); safe != text {
		o.to.AddString(o.r.String(key), safe)
	} else {
		to(o.r.String(key), value)
	}
}

func (o *object) secret(key string) bool { return o.hidden || redact.SecretName(key) }

func (o *object) AddArray(key string, value zapcore.ArrayMarshaler) error {
	if o.secret(key) {
		o.to.AddString(o.r.String(key), redact.Marker)
		return nil
	}
	return o.to.AddArray(o.r.String(key), elements{value, o.r, key})
}

func (o *object) AddObject(key string, value zapcore.ObjectMarshaler) error {
	if o.secret(key) {
		o.to.AddString(o.r.String(key), redact.Marker)
		return nil
	}
	return o.to.AddObject(o.r.String(key), members{value, o.r})
}

func (o *object) AddReflected(key string, value any) error {
	safe, err := reflected(o.r, key, value, o.hidden)
	if err != nil {
		return err
	}
	return o.to.AddReflected(o.r.String(key), safe)
}

// AddBinary looks at the bytes, and at what the encoder makes of them.
func (o *object) AddBinary(key string, value []byte) {
	encoded := base64.StdEncoding.EncodeToString(value)
	if hide(o.r, key, encoded, o.hidden) != encoded || !bytes.Equal(o.r.Bytes(value), value) {
		o.to.AddString(o.r.String(key), redact.Marker)
	} else {
		o.to.AddBinary(o.r.String(key), value)
	}
}

func (o *object) AddByteString(key string, value []byte) {
	o.to.AddByteString(o.r.String(key), []byte(hide(o.r, key, string(value), o.hidden)))
}

func (o *object) AddString(key, value string) {
	o.to.AddString(o.r.String(key), hide(o.r, key, value, o.hidden))
}

func (o *object) AddBool(key string, value bool) { o.to.AddBool(o.r.String(key), value) }

func (o *object) OpenNamespace(key string) {
	o.to.OpenNamespace(o.r.String(key))
	o.hidden = o.secret(key)
}

func (o *object) AddComplex128(key string, v complex128) {
	add(o, o.to.AddComplex128, key, v, strconv.FormatComplex(v, 'g', -1, 128))
}
func (o *object) AddComplex64(key string, v complex64) {
	add(o, o.to.AddComplex64, key, v, strconv.FormatComplex(complex128(v), 'g', -1, 64))
}
func (o *object) AddDuration(key string, v time.Duration) {
	add(o, o.to.AddDuration, key, v, integer(v))
}
func (o *object) AddTime(key string, v time.Time) {
	add(o, o.to.AddTime, key, v, integer(v.UnixNano()))
}
func (o *object) AddFloat64(key string, v float64) { add(o, o.to.AddFloat64, key, v, float(v, 64)) }
func (o *object) AddFloat32(key string, v float32) { add(o, o.to.AddFloat32, key, v, float(v, 32)) }
func (o *object) AddInt(key string, v int)         { add(o, o.to.AddInt, key, v, integer(v)) }
func (o *object) AddInt64(key string, v int64)     { add(o, o.to.AddInt64, key, v, integer(v)) }
func (o *object) AddInt32(key string, v int32)     { add(o, o.to.AddInt32, key, v, integer(v)) }
func (o *object) AddInt16(key string, v int16)     { add(o, o.to.AddInt16, key, v, integer(v)) }
func (o *object) AddInt8(key string, v int8)       { add(o, o.to.AddInt8, key, v, integer(v)) }
func (o *object) AddUint(key string, v uint)       { add(o, o.to.AddUint, key, v, natural(v)) }
func (o *object) AddUint64(key string, v uint64)   { add(o, o.to.AddUint64, key, v, natural(v)) }
func (o *object) AddUint32(key string, v uint32)   { add(o, o.to.AddUint32, key, v, natural(v)) }
func (o *object) AddUint16(key string, v uint16)   { add(o, o.to.AddUint16, key, v, natural(v)) }
func (o *object) AddUint8(key string, v uint8)     { add(o, o.to.AddUint8, key, v, natural(v)) }
func (o *object) AddUintptr(key string, v uintptr) { add(o, o.to.AddUintptr, key, v, natural(v)) }

// reflected is the JSON of value, without secrets. It is made here: what an encoder would make of value nobody could look at.
func reflected(r *redact.Redactor, key string, value any, hidden bool) (any, error) {
	if value == nil {
		return nil, nil
	}
	if hidden {
		return redact.Marker, nil
	}
	text, _, err := field.JSON(r, key, value)
	return json.RawMessage(text), err
}

func integer[T ~int | ~int8 | ~int16 | ~int32 | ~int64](v T) string {
	return strconv.FormatInt(int64(v), 10)
}

func natural[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr](v T) string {
	return strconv.FormatUint(uint64(v), 10)
}

func float[T ~float32 | ~float64](v T, bits int) string {
	return strconv.FormatFloat(float64(v), 'f', -1, bits)
}

// members is an object whose members are redacted.
type members struct {
	of zapcore.ObjectMarshaler
	r  *redact.Redactor
}

func (m members) MarshalLogObject(to zapcore.ObjectEncoder) error {
	return m.of.MarshalLogObject(&object{to: to, r: m.r})
}
