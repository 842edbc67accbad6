package redact_test

import (
	"bytes"
	"database/sql/driver"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"log"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/redact"
)

const told = "correct horse battery staple"

// holder has secrets in every place that printing and marshalling reach in their own ways.
type holder struct {
	Shown   redact.Secret
	hidden  redact.Secret
	Pointer *redact.Secret
	hiddenP *redact.Secret
	List    []redact.Secret
	hiddenL []redact.Secret
	ByName  map[string]redact.Secret
	AsKey   map[redact.Secret]string
	hiddenK map[redact.Secret]redact.Secret
	Any     any
	hiddenA any
	Inner   struct{ hidden redact.Secret }
}

func held() holder {
	s := redact.NewSecret(told)
	return holder{
		Shown: s, hidden: s, Pointer: &s, hiddenP: &s, List: []redact.Secret{s}, hiddenL: []redact.Secret{s},
		ByName: map[string]redact.Secret{"x": s}, AsKey: map[redact.Secret]string{s: "x"}, hiddenK: map[redact.Secret]redact.Secret{s: s},
		Any: s, hiddenA: &s, Inner: struct{ hidden redact.Secret }{s},
	}
}

// shows says whether text has the secret in a form that a verb of fmt, or an encoding, gives it.
func shows(text string) bool {
	numbers := strings.Trim(fmt.Sprint([]byte(told)), "[]")
	for _, form := range []string{told, "horse", numbers, strings.ReplaceAll(numbers, " ", ", "), fmt.Sprintf("%x", told), fmt.Sprintf("%X", told),
		fmt.Sprintf("% x", told), fmt.Sprintf("%#x", told), fmt.Sprintf("%U", []rune(told)[:4])} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

func TestSecretPrintsNowhere(t *testing.T) {
	s, h := redact.NewSecret(told), held()
	for _, verb := range strings.Fields("%v %+v %#v %s %q %x %X %d %t %c %U %o %b %e %g %T %p %z %10.3s %-v %+q %#q %#x %[1]*v %w") {
		for _, value := range []any{s, &s, h, &h, []any{s, h}, map[any]any{s: h}, struct{ s redact.Secret }{s}, [1]redact.Secret{s}, errWith{s}} {
			if text := fmt.Sprintf(verb, value); shows(text) {
				t.Errorf("%s of %T prints %s", verb, value, text)
			}
		}
	}
	for _, verb := range strings.Fields("%v %+v %#v %s %q %x %d %t") {
		if text := fmt.Sprintf(verb, s); text != redact.Marker {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	if text := s.String() + s.GoString() + s.LogValue().String(); text != strings.Repeat(redact.Marker, 3) {
		t.Error(text)
	}
	if text := fmt.Sprint(reflect.ValueOf(h), reflect.ValueOf(&s).Elem().Field(0)); shows(text) {
		t.Error(text)
	}
	if s.Reveal() != told {
		t.Errorf("revealed %q", s.Reveal())
	}
}

type errWith struct{ s redact.Secret }

func (e errWith) Error() string { return fmt.Sprintf("logging in with %s", e.s) }

type document struct {
	Attr redact.Secret `xml:"attr,attr"`
	Text redact.Secret `xml:"text"`
}

func TestSecretMarshalsNowhere(t *testing.T) {
	s, h := redact.NewSecret(told), held()
	if text, err := json.Marshal(h); err != nil || shows(string(text)) || strings.Count(string(text), redact.Marker) != 6 {
		t.Errorf("JSON is %s, %v", text, err)
	}
	if text, err := xml.Marshal(document{s, s}); err != nil || shows(string(text)) || strings.Count(string(text), redact.Marker) != 2 {
		t.Errorf("XML is %s, %v", text, err)
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(struct{ S redact.Secret }{s}); err != nil || shows(out.String()) || !strings.Contains(out.String(), redact.Marker) {
		t.Errorf("gob is %q, %v", out.String(), err)
	}
	out.Reset()
	if err := template.Must(template.New("").Parse(`{{.}} <script>x = {{.}}</script>`)).Execute(&out, h.Shown); err != nil || shows(out.String()) {
		t.Errorf("template is %s, %v", out.String(), err)
	}
	out.Reset()
	log.New(&out, "", 0).Print(s, &h, h)
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(handler).With("with", s).Info("in", "s", s, "p", &s, "h", h, "err", errWith{s})
	}
	if shows(out.String()) {
		t.Errorf("logs are %s", out.String())
	}
	if value, err := driver.DefaultParameterConverter.ConvertValue(s); err == nil || shows(err.Error()) {
		t.Errorf("a database gets %v, %v", value, err)
	}
	if text := cmp.Diff(s, redact.NewSecret("other"), cmp.AllowUnexported(redact.Secret{})); text == "" || shows(text) {
		t.Errorf("a difference is %s", text)
	}
}

func TestSecretOfPanic(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); shows(text) || !strings.Contains(text, redact.Marker) {
			t.Error(text)
		}
	}()
	panic(errors.Join(errWith{redact.NewSecret(told)}))
}

func TestSecretZeroAndEqual(t *testing.T) {
	var zero redact.Secret
	if zero.Reveal() != "" || fmt.Sprint(zero) != redact.Marker || zero != redact.NewSecret("") {
		t.Errorf("the zero secret is %v with %q", zero, zero.Reveal())
	}
	if text, err := json.Marshal(struct {
		S redact.Secret `json:"s,omitzero"`
	}{}); err != nil || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
	s := redact.NewSecret(told)
	for _, tt := range []struct {
		a, b redact.Secret
		same bool
	}{
		{s, s, true}, {s, redact.NewSecret(told), true}, {zero, zero, true}, {zero, s, false}, {s, zero, false},
		{s, redact.NewSecret(told + "x"), false}, {s, redact.NewSecret("correct horse battery stapls"), false},
	} {
		if tt.a.Equal(tt.b) != tt.same {
			t.Errorf("equal: %v", !tt.same)
		}
	}
	if keys := map[redact.Secret]int{s: 1}; keys[s] != 1 || keys[redact.NewSecret(told)] != 0 {
		t.Error("copies are one key, others are not")
	}
	if !cmp.Equal(s, redact.NewSecret(told)) {
		t.Error("compared by what it holds, a copy differs")
	}
}

func ExampleSecret() {
	config := struct{ User, Password any }{"ada", redact.NewSecret("correct horse")}
	fmt.Printf("%+v\n", config)
	text, _ := json.Marshal(config)
	fmt.Println(string(text))
	fmt.Println(config.Password.(redact.Secret).Reveal() == "correct horse")
	// Output:
	// {User:ada Password:[REDACTED]}
	// {"User":"ada","Password":"[REDACTED]"}
	// true
}
