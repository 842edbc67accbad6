package redactzap_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"aesop/redact"
	"aesop/redact/redactzap"
)

// A token has the shape of one. The word stands under names that hide it, among everything that encoders escape.
var (
	token = "AKIA" + strings.Repeat("Q7", 8)
	word  = "quo\"te<zebra>\n\\back\ttab\u2028\x01 é"
)

func shows(text string) bool {
	return strings.Contains(text, token) || strings.Contains(text, "zebra") ||
		strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(token))[:20]) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(word))[:8])
}

type stringer string

func (s stringer) String() string { return string(s) }

// failure prints more with %+v, as errors with a stack do.
type failure struct{ brief, long string }

func (f failure) Error() string { return f.brief }
func (f failure) Format(s fmt.State, verb rune) {
	if s.Flag('+') {
		fmt.Fprint(s, f.long)
	} else {
		fmt.Fprint(s, f.brief)
	}
}

// mute cannot be marshalled, and says why.
type mute struct{}

func (mute) MarshalJSON() ([]byte, error) { return nil, errors.New("no JSON for " + token) }

type group []error

func (g group) Error() string   { return "several" }
func (g group) Errors() []error { return g }

type login struct {
	User     string
	Password string `json:"db_password"`
	private  string
	Tags     map[string]any
}

func (l login) MarshalLogObject(to zapcore.ObjectEncoder) error {
	to.AddString("user", l.User)
	to.AddString("db_password", l.Password)
	to.AddByteString("apiKey", []byte(l.Password))
	to.AddBinary("secret", []byte(l.Password))
	to.AddBinary("raw", []byte("x "+token))
	if err := to.AddReflected("tags", l.Tags); err != nil {
		return err
	}
	_ = to.AddReflected("auth", l.Tags)
	_ = to.AddObject("credentials", zapcore.ObjectMarshalerFunc(func(to zapcore.ObjectEncoder) error { to.AddString("x", word); return nil }))
	_ = to.AddArray("cookies", words{word})
	_ = to.AddArray("list", words{token})
	to.OpenNamespace("secrets")
	to.AddString("z", l.Password)
	to.AddInt("n", 12345678)
	return nil
}

type words []string

func (w words) MarshalLogArray(to zapcore.ArrayEncoder) error {
	for _, one := range w {
		to.AppendString(one)
		to.AppendByteString([]byte(one))
		if err := errors.Join(to.AppendReflected(one), to.AppendReflected(nil), to.AppendArray(words(nil)),
			to.AppendObject(zapcore.ObjectMarshalerFunc(func(to zapcore.ObjectEncoder) error {
				to.AddString("password", word)
				to.AddString("x", token)
				return nil
			}))); err != nil {
			return err
		}
	}
	return nil
}

// secrets are fields of every type with something to hide.
func secrets() map[string]zap.Field {
	person := login{"ada", word, token, map[string]any{"token": word, token: 1, "list": []any{token, map[string]string{"passwd": word}}, "html": "<" + token + ">"}}
	pointer := stringer(token)
	return map[string]zap.Field{
		"string":           zap.String("a", "see \n"+token+"\""),
		"string, name":     zap.String("password", word),
		"pointer":          zap.Stringp("a", &token),
		"strings":          zap.Strings("a", []string{"x", token}),
		"strings, name":    zap.Strings("cookies", []string{word}),
		"bytes":            zap.ByteString("a", []byte("x\n"+token)),
		"bytes, name":      zap.ByteString("token", []byte(word)),
		"byte strings":     zap.ByteStrings("a", [][]byte{[]byte(token)}),
		"binary":           zap.Binary("a", []byte(token)),
		"binary, inside":   zap.Binary("a", []byte("\x00\xff"+token+"\x00")),
		"binary, name":     zap.Binary("secret", []byte(word)),
		"stringer":         zap.Stringer("a", stringer("\n"+token)),
		"stringer, name":   zap.Stringer("Authorization", stringer(word)),
		"stringer pointer": zap.Stringer("a", &pointer),
		"stringers":        zap.Stringers("a", []stringer{stringer(token)}),
		"error":            zap.Error(errors.New("at\n" + token)),
		"error, name":      zap.NamedError("password", errors.New(word)),
		"error, verbose":   zap.Error(failure{"brief", "at " + token}),
		"errors":           zap.Errors("a", []error{errors.New(token)}),
		"error group":      zap.Error(group{errors.New(token), failure{"x", token}}),
		"reflect":          zap.Reflect("a", person),
		"reflect, name":    zap.Reflect("credentials", person),
		"reflect, string":  zap.Reflect("a", "x\n"+token),
		"reflect, keys":    zap.Reflect("a", map[string]int{token: 1}),
		"reflect, raw":     zap.Reflect("a", json.RawMessage(`{"x": "\u0041KIA`+token[4:]+`", "p\u0061ssword": "z\u0065bra"}`)),
		"reflect, headers": zap.Reflect("a", http.Header{"Authorization": {word}, "X-Api-Key": {word}}),
		"any":              zap.Any("a", person),
		"any, pointer":     zap.Any("a", &person),
		"any, error":       zap.Any("a", failure{"x", token}),
		"any, slice":       zap.Any("a", []any{token, person}),
		"any, map":         zap.Any("a", map[string]string{"client_secret": word}),
		"any, bytes":       zap.Any("a", []byte(token)),
		"any, cannot":      zap.Any("a", []any{mute{}}),
		"object":           zap.Object("a", person),
		"object, name":     zap.Object("secret", person),
		"objects":          zap.Objects("a", []login{person}),
		"object, dict":     zap.Dict("a", zap.String("password", word), zap.String("b", token)),
		"array":            zap.Array("a", words{"x", token}),
		"array, name":      zap.Array("api_keys", words{word}),
		"inline":           zap.Inline(person),
		"key":              zap.String(token, "x"),
		"key of number":    zap.Int(token, 1),
		"key of boolean":   zap.Bool(token, true),
		"key of time":      zap.Time(token, time.Unix(1, 0)),
		"key of namespace": zap.Namespace(token),
		"key of nothing":   zap.Any(token, nil),
	}
}

// loggers write to a buffer in every way in which a core can be wrapped, as JSON and for people.
func loggers(t *testing.T) map[string]func(options ...zap.Option) (*zap.Logger, *bytes.Buffer) {
	t.Helper()
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	config := zap.NewProductionEncoderConfig()
	config.FunctionKey = "func"
	made := map[string]func(options ...zap.Option) (*zap.Logger, *bytes.Buffer){}
	for format, encoder := range map[string]func(zapcore.EncoderConfig) zapcore.Encoder{"JSON": zapcore.NewJSONEncoder, "console": zapcore.NewConsoleEncoder} {
		made["NewCore, "+format] = func(options ...zap.Option) (*zap.Logger, *bytes.Buffer) {
			var out bytes.Buffer
			return zap.New(redactzap.NewCore(encoder(config), zapcore.AddSync(&out), zap.InfoLevel, r), options...), &out
		}
		made["Logger, "+format] = func(options ...zap.Option) (*zap.Logger, *bytes.Buffer) {
			var out bytes.Buffer
			return redactzap.Logger(zap.New(zapcore.NewCore(encoder(config), zapcore.AddSync(&out), zap.InfoLevel), options...), r), &out
		}
		made["Wrap of a tee, "+format] = func(options ...zap.Option) (*zap.Logger, *bytes.Buffer) {
			var out bytes.Buffer
			tee := zapcore.NewTee(zapcore.NewNopCore(), zapcore.NewCore(encoder(config), zapcore.AddSync(&out), zap.InfoLevel))
			return zap.New(redactzap.Wrap(tee, r), options...), &out
		}
	}
	return made
}

func TestNoFieldShowsASecret(t *testing.T) {
	for name, made := range loggers(t) {
		t.Run(name, func(t *testing.T) {
			for kind, field := range secrets() {
				for how, write := range map[string]func(*zap.Logger){
					"write":         func(l *zap.Logger) { l.Info("m", field) },
					"with":          func(l *zap.Logger) { l.With(field).Info("m", zap.Int("n", 1)) },
					"lazy":          func(l *zap.Logger) { l.WithLazy(field).With(zap.Int("n", 1)).Info("m") },
					"option":        func(l *zap.Logger) { l.WithOptions(zap.Fields(field)).Info("m") },
					"sugar":         func(l *zap.Logger) { l.Sugar().Infow("m", field) },
					"in namespace":  func(l *zap.Logger) { l.With(zap.Namespace("n")).Info("m", field) },
					"in dictionary": func(l *zap.Logger) { l.Info("m", zap.Dict("d", field)) },
					"direct": func(l *zap.Logger) {
						_ = l.Core().With([]zap.Field{field}).Write(zapcore.Entry{Message: "m"}, []zap.Field{field})
					},
				} {
					logger, out := made()
					write(logger)
					check(t, kind+", "+how, name, out)
				}
			}
		})
	}
}

func check(t *testing.T, what, name string, out *bytes.Buffer) {
	t.Helper()
	text := out.String()
	if shows(text) || !strings.Contains(text, redact.Marker[:len(redact.Marker)-1]) {
		t.Errorf("%s writes %s", what, text)
	}
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || strings.HasSuffix(name, "JSON") && !json.Valid([]byte(text)) {
		t.Errorf("%s writes no line of its own: %q", what, text)
	}
}

func TestNoPartOfAnEntryShowsASecret(t *testing.T) {
	pem := "-----BEGIN PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEzebra\n", 3) + "-----END PRIVATE " + "KEY-----"
	for name, made := range loggers(t) {
		logger, out := made(zap.AddCaller(), zap.AddStacktrace(zap.WarnLevel), zap.WithPanicHook(zapcore.WriteThenPanic))
		logger.Named("x." + token).Info("m")
		check(t, "name", name, out)
		out.Reset()
		logger.Info("see\n" + token)
		if text := out.String(); shows(text) {
			t.Error(text)
		}
		out.Reset()
		checked := logger.Check(zap.WarnLevel, "m")
		checked.Caller.File, checked.Caller.Function, checked.Stack = "/"+token+"/f.go", "f."+token, "goroutine 1\n\t"+token
		checked.Write()
		if text := out.String(); shows(text) || !strings.Contains(text, "goroutine") {
			t.Error(text)
		}
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); shows(text) || text == "<nil>" {
					t.Errorf("panics with %s", text)
				}
			}()
			logger.Panic("see " + token)
		}()
		out.Reset()
		logger.Info("m", zap.String("a", pem), zap.Error(errors.New(pem))) // one field of many lines
		check(t, "PEM", name, out)
	}
}

// TestNamespaceOfSecrets: all that follows it is one, whatever its type, in the same call and in later ones.
func TestNamespaceOfSecrets(t *testing.T) {
	for name, made := range loggers(t) {
		for how, write := range map[string]func(*zap.Logger){
			"write": func(l *zap.Logger) {
				l.Info("m", zap.Namespace("secrets"), zap.String("z", word), zap.Int("n", 12345678), zap.Any("a", []string{word}))
			},
			"with": func(l *zap.Logger) {
				l.With(zap.Namespace("secrets"), zap.String("z", word)).With(zap.Namespace("x")).Info("m", zap.Strings("z", []string{word}), zap.Uint32("n", 12345678))
			},
		} {
			logger, out := made()
			write(logger)
			check(t, how, name, out)
			if text := out.String(); strings.Contains(text, "12345678") {
				t.Errorf("%s, %s writes %s", name, how, text)
			}
		}
	}
}

// TestKnownValues have quotes, line ends and more that encoders escape, and stand under names that say nothing.
func TestKnownValues(t *testing.T) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Register(word, "12345678"); err != nil {
		t.Fatal(err)
	}
	for _, encoder := range []func(zapcore.EncoderConfig) zapcore.Encoder{zapcore.NewJSONEncoder, zapcore.NewConsoleEncoder} {
		var out bytes.Buffer
		core := zapcore.NewCore(encoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out), zap.InfoLevel)
		logger := redactzap.Logger(zap.New(core), r)
		for _, field := range []zap.Field{
			zap.String("a", word), zap.String(word, "x"), zap.Strings("a", []string{word}), zap.ByteString("a", []byte(word)), zap.Binary("a", []byte(word)),
			zap.Error(errors.New(word)), zap.Error(failure{"x", word}), zap.Any("a", []any{map[string]string{"b": word}}), zap.Any("a", map[string]int{word: 1}),
			zap.Stringer("a", stringer(word)), zap.Dict("a", zap.String("b", word)), zap.Int("a", 12345678), zap.Uint32("a", 12345678), zap.Float64("a", 12345678),
			zap.Ints("a", []int{12345678}), zap.Any("a", map[string]int{"b": 12345678}), zap.Any("a", struct{ B []byte }{[]byte(word)}),
		} {
			out.Reset()
			logger.With(field).Info("m", field)
			if text := out.String(); shows(text) || strings.Contains(text, "12345678") || strings.Count(text, "\n") != 1 {
				t.Errorf("%s", text)
			}
		}
	}
}

func TestCleanEntriesStayAsTheyAre(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	fields := []zap.Field{
		zap.String("s", "x\n<y>"), zap.Int("i", -1), zap.Int64("i64", 1<<60), zap.Int8("i8", 1), zap.Uint64("u", 1<<63), zap.Uintptr("p", 3), zap.Float64("f", 1.5),
		zap.Float32("f32", 0.1), zap.Complex128("c", 1+2i), zap.Complex64("c64", 1i), zap.Bool("b", true), zap.Duration("d", time.Second), zap.Time("t", now),
		zap.Time("far", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), zap.Binary("bin", []byte("\x00\xff")), zap.ByteString("bs", []byte("x")), zap.Skip(),
		zap.Error(failure{"brief", "long"}), zap.NamedError("g", group{errors.New("x"), errors.New("y")}), zap.Stringer("str", stringer("x")),
		zap.Stringer("nil", (*stringer)(nil)), zap.Any("any", map[string]any{"b": 1e100, "a": []int{1, 2}, "n": nil, "t": true}), zap.Any("none", nil),
		zap.Reflect("big", big.NewInt(0).Exp(big.NewInt(10), big.NewInt(30), nil)), zap.Strings("ss", []string{"a"}), zap.Ints("is", []int{1}),
		zap.Int64s("i64s", []int64{1}), zap.Int32s("i32s", []int32{1}), zap.Int16s("i16s", []int16{1}), zap.Int8s("i8s", []int8{1}), zap.Uints("us", []uint{1}),
		zap.Uint64s("u64s", []uint64{1}), zap.Uint32s("u32s", []uint32{1}), zap.Uint16s("u16s", []uint16{1}), zap.Uintptrs("ps", []uintptr{1}),
		zap.Float64s("fs", []float64{1.5}), zap.Float32s("f32s", []float32{0.1}), zap.Complex128s("cs", []complex128{1i}), zap.Complex64s("c64s", []complex64{1i}),
		zap.Bools("bs", []bool{true}), zap.Durations("ds", []time.Duration{1}), zap.Times("ts", []time.Time{now}), zap.Bool("password", false), zap.String("token", ""),
		zap.Int("max_tokens", 7), zap.Inline(zapcore.ObjectMarshalerFunc(func(to zapcore.ObjectEncoder) error { to.AddInt16("i16", 2); to.AddUint8("u8", 2); return nil })),
		zap.Any("bad", func() {}), zap.Namespace("ns"), zap.String("inside", "x"),
	}
	config := zap.NewProductionEncoderConfig()
	var plain, safe bytes.Buffer
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, logger := range []*zap.Logger{
		zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(config), zapcore.AddSync(&plain), zap.InfoLevel), zap.WithClock(clock(now))),
		zap.New(redactzap.NewCore(zapcore.NewJSONEncoder(config), zapcore.AddSync(&safe), zap.InfoLevel, r), zap.WithClock(clock(now))),
	} {
		logger.Named("n").With(fields...).Info("m <x>", fields...)
		logger.Info("m", zap.Dict("d", fields...))
	}
	if plain.String() != safe.String() {
		t.Errorf("clean entries changed:\n%s%s", plain.String(), safe.String())
	}
}

type clock time.Time

func (c clock) Now() time.Time                         { return time.Time(c) }
func (c clock) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// TestWhatIsWrittenIsWhatTheCoresAgreedTo: a tee that is written to without being asked writes to all.
func TestWhatIsWrittenIsWhatTheCoresAgreedTo(t *testing.T) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	all, seenAll := observer.New(zap.DebugLevel)
	errorsOnly, seenErrors := observer.New(zap.ErrorLevel)
	sampled, seenSampled := observer.New(zap.DebugLevel)
	tee := zapcore.NewTee(all, errorsOnly, zapcore.NewSamplerWithOptions(sampled, time.Hour, 1, 0))
	logger := redactzap.Logger(zap.New(tee), r)
	for range 3 {
		logger.Info("m")
	}
	logger.Error("e", zap.String("keeps", "its type"), zap.Error(errors.New("x")))
	if seenAll.Len() != 4 || seenErrors.Len() != 1 || seenSampled.Len() != 2 {
		t.Errorf("%d, %d and %d entries", seenAll.Len(), seenErrors.Len(), seenSampled.Len())
	}
	if seenErrors.FilterField(zap.String("keeps", "its type")).Len() != 1 || seenErrors.FilterFieldKey("error").Len() != 1 {
		t.Errorf("%+v", seenErrors.All())
	}
	if level := redactzap.Logger(zap.New(errorsOnly), r).Level(); level != zap.ErrorLevel {
		t.Errorf("the level is %v", level)
	}
}

// full fails to write and to sync, as a full disk does.
type full struct{ synced int }

func (f *full) Write([]byte) (int, error) { return 0, os.ErrClosed }
func (f *full) Sync() error               { f.synced++; return nil }

func TestErrorsAndSyncPass(t *testing.T) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var to full
	var complaints bytes.Buffer
	core := redactzap.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), &to, zap.InfoLevel, r)
	logger := zap.New(core, zap.ErrorOutput(zapcore.AddSync(&complaints)))
	logger.Info("m")
	if !strings.Contains(complaints.String(), os.ErrClosed.Error()) {
		t.Errorf("a write that failed says %q", complaints.String())
	}
	if err := core.Write(zapcore.Entry{}, nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := logger.Sync(); err != nil || to.synced != 1 {
		t.Errorf("synced %d times, %v", to.synced, err)
	}
}

// TestEncodedEntry: what an encoder brings itself no field shows.
func TestEncodedEntry(t *testing.T) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"\n", "\r\n"} {
		config := zap.NewProductionEncoderConfig()
		config.LineEnding = ending
		encoder := zapcore.NewJSONEncoder(config)
		encoder.AddString("build", "x "+token)
		var out bytes.Buffer
		zap.New(redactzap.NewCore(encoder, zapcore.AddSync(&out), zap.InfoLevel, r)).Info("m")
		if text := out.String(); shows(text) || !json.Valid(out.Bytes()) || !strings.HasSuffix(text, "}"+ending) {
			t.Errorf("%q", text)
		}
	}
}

func ExampleLogger() {
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	given := zap.NewExample() // of the caller
	logger := redactzap.Logger(given, redactor)
	logger.Info("logged in", zap.String("user", "ada"), zap.String("password", "correct horse"))
	// Output: {"level":"info","msg":"logged in","user":"ada","password":"[REDACTED]"}
}

func BenchmarkFields(b *testing.B) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		b.Fatal(err)
	}
	to := zapcore.AddSync(discard{})
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	for name, core := range map[string]zapcore.Core{
		"plain": zapcore.NewCore(encoder, to, zap.InfoLevel), "redacting": redactzap.NewCore(encoder, to, zap.InfoLevel, r),
	} {
		logger := zap.New(core)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				logger.Info("item shipped", zap.String("item", "greet"), zap.Int("attempt", 1), zap.Duration("took", time.Second),
					zap.String("branch", "aesop/wave-7"), zap.Bool("pushed", true))
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
