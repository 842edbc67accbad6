package redactslog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"aesop/redact"
	"aesop/redact/redactslog"
)

// A token has the shape of one. The word stands under names that hide it, among everything that handlers escape.
var (
	token = "AKIA" + strings.Repeat("Q7", 8)
	word  = "quo\"te<zebra>\n\\back\ttab\u2028\x01 é"
)

func shows(text string) bool { return strings.Contains(text, token) || strings.Contains(text, "zebra") }

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHandlerConforms(t *testing.T) {
	r := redactor(t)
	var out bytes.Buffer
	slogtest.Run(t, func(t *testing.T) slog.Handler {
		out.Reset()
		return redactslog.New(slog.NewJSONHandler(&out, nil), r)
	}, func(t *testing.T) map[string]any {
		var record map[string]any
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		return record
	})
}

type valuer struct{ of any }

func (v valuer) LogValue() slog.Value { return slog.AnyValue(v.of) }

type stringer struct{ text string }

func (s stringer) String() string { return s.text }

type texter struct{ text string }

func (t texter) MarshalText() ([]byte, error) { return []byte(t.text), nil }

type jsoner struct{ text string }

func (j jsoner) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]string{"x": j.text}) }

// failure prints more with %+v.
type failure struct{ brief, long string }

func (f failure) Error() string { return f.brief }
func (f failure) Format(s fmt.State, verb rune) {
	if s.Flag('+') {
		fmt.Fprint(s, f.long)
	} else {
		fmt.Fprint(s, f.brief)
	}
}

// marshalledFailure is an error with JSON of its own.
type marshalledFailure struct {
	error
	jsoner
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("in " + token) }

type login struct {
	User     string
	Password string `json:"db_password"`
	private  string
}

func secrets() map[string]slog.Attr {
	person := login{"ada", word, token}
	return map[string]slog.Attr{
		"string":            slog.String("a", "see\n"+token+"\""),
		"string, name":      slog.String("password", word),
		"key":               slog.Int(token, 1),
		"number, name":      slog.Int("password", 12345678),
		"group":             slog.Group("a", "b", token, "password", word),
		"group, name":       slog.Group("credentials", "b", word, slog.Group("c", "d", word)),
		"group, key":        slog.Group(token, "b", 1),
		"inline":            slog.Group("", "token", word),
		"any, nil":          slog.Any(token, nil),
		"error":             slog.Any("a", errors.New("at\n"+token)),
		"error, verbose":    slog.Any("a", failure{"at " + token, "at " + token}),
		"error, marshalled": slog.Any("a", marshalledFailure{errors.New(token), jsoner{token}}),
		"error, name":       slog.Any("password", errors.New(word)),
		"errors":            slog.Any("a", errors.Join(errors.New("x"), errors.New(token))),
		"stringer":          slog.Any("a", stringer{token}),
		"texter":            slog.Any("a", texter{"\n" + token}),
		"texter, name":      slog.Any("token", texter{word}),
		"jsoner":            slog.Any("a", jsoner{token}),
		"struct":            slog.Any("a", person),
		"struct, pointer":   slog.Any("a", &person),
		"struct, name":      slog.Any("secret", person),
		"map":               slog.Any("a", map[string]string{"api_key": word, token: "x"}),
		"headers":           slog.Any("a", http.Header{"Authorization": {word}}),
		"slice":             slog.Any("a", []any{token, person}),
		"bytes, name":       slog.Any("token", []byte(word)),
		"raw":               slog.Any("a", json.RawMessage(`"\u0041KIA`+token[4:]+`"`)),
		"valuer":            slog.Any("a", valuer{token}),
		"valuer of valuer":  slog.Any("a", valuer{valuer{valuer{person}}}),
		"valuer of group":   slog.Any("a", valuer{slog.GroupValue(slog.String("password", word), slog.Any("x", valuer{token}))}),
		"valuer of error":   slog.Any("a", valuer{errors.New(token)}),
		"valuer, name":      slog.Any("Authorization", valuer{word}),
		"panics":            slog.Any("a", panics{}),
		"attrs":             slog.Any("a", []slog.Attr{slog.String("b", token)}),
	}
}

func TestNoRecordShowsASecret(t *testing.T) {
	r := redactor(t)
	var out bytes.Buffer
	handlers := map[string]slog.Handler{
		"JSON": slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true}),
		"text": slog.NewTextHandler(&out, nil),
	}
	for format, handler := range handlers {
		logger := slog.New(redactslog.New(handler, r))
		for kind, attr := range secrets() {
			for how, write := range map[string]func(){
				"write":       func() { logger.Info("m", attr) },
				"with":        func() { logger.With(attr).Info("m", "n", 1) },
				"in group":    func() { logger.WithGroup("g").With("x", 1).Info("m", attr) },
				"with, twice": func() { logger.With("x", 1).WithGroup("g").With(attr).WithGroup("h").Info("m", attr) },
			} {
				out.Reset()
				write()
				text := out.String()
				nothing := kind == "stringer" && format == "JSON" // has no JSON to speak of
				if shows(text) || !nothing && !strings.Contains(text, redact.Marker[:len(redact.Marker)-1]) {
					t.Errorf("%s, %s, %s writes %s", format, kind, how, text)
				}
				if strings.Count(text, "\n") != 1 || format == "JSON" && !json.Valid([]byte(text)) {
					t.Errorf("%s, %s, %s writes no line of its own: %q", format, kind, how, text)
				}
			}
		}
		for what, write := range map[string]func(){
			"message":           func() { logger.Info("see\n" + token) },
			"group":             func() { logger.WithGroup(token).Info("m", "x", 1) },
			"group of a secret": func() { logger.WithGroup("secrets").With("x", word).WithGroup("y").Info("m", "z", word, "n", 12345678) },
		} {
			out.Reset()
			write()
			if text := out.String(); shows(text) || strings.Contains(text, "12345678") || !strings.Contains(text, "REDACTED") {
				t.Errorf("%s, %s writes %s", format, what, text)
			}
		}
	}
}

func TestCleanRecordsStayAsTheyAre(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	attrs := []any{
		"s", "x\n<y>", "i", -1, "u", uint64(1) << 63, "f", 1.5, "b", true, "d", time.Second, "t", at, "nil", nil, "err", failure{"brief", "long"}, "password", false,
		"token", "", slog.Group("g", "a", 1, slog.Group("", "inline", 1)), slog.Group("empty"), slog.Attr{}, "struct", struct{ A, b int }{1, 2}, "bytes", []byte("x y"),
		"map", map[string]any{"b": 1e100, "a": []int{1}}, "texter", texter{"x y"}, "jsoner", jsoner{"<x>"}, "stringer", stringer{"x"}, "valuer", valuer{valuer{1}}, "max_tokens", 7,
	}
	var plain, safe bytes.Buffer
	for _, format := range []func(*bytes.Buffer) slog.Handler{
		func(out *bytes.Buffer) slog.Handler {
			return slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: noTime})
		},
		func(out *bytes.Buffer) slog.Handler {
			return slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: noTime})
		},
	} {
		for _, logger := range []*slog.Logger{slog.New(format(&plain)), slog.New(redactslog.New(format(&safe), redactor(t)))} {
			logger.With(attrs...).WithGroup("h").Info("m <x>", attrs...)
			logger.Debug("not enabled")
		}
	}
	if plain.String() != safe.String() || plain.Len() == 0 {
		t.Errorf("clean records changed:\n%s%s", plain.String(), safe.String())
	}
}

func noTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}

func ExampleNew() {
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: noTime})
	logger := slog.New(redactslog.New(handler, redactor))
	logger.Info("logged in", "user", "ada", "password", "correct horse")
	// Output: {"level":"INFO","msg":"logged in","user":"ada","password":"[REDACTED]"}
}
