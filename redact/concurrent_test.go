package redact_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"aesop/redact"
)

// TestOneRedactorForAll: many use it, and some tell it values meanwhile. What was registered before a call is taken out by it.
func TestOneRedactorForAll(t *testing.T) {
	r := redactor(t, redact.Logs)
	more, err := r.With(redact.Rule{ID: "our-key", Pattern: `\bours-[a-z]{8,}`})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			value := fmt.Sprintf("opaque-value-%d", n)
			for _, one := range []*redact.Redactor{r, more} {
				if err := one.Register(value); err != nil {
					t.Error(err)
				}
				text := strings.Repeat("clean\n", n) + "see " + value + " and token=" + value
				want := strings.ReplaceAll(text, value, "[REDACTED:known-value]")
				var out bytes.Buffer
				w := one.NewWriter(&out)
				if _, err := w.Write([]byte(text)); err != nil {
					t.Error(err)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				for _, got := range []string{one.String(text), string(one.Bytes([]byte(text))), string(one.AppendTo(nil, []byte(text))), out.String()} {
					if got != want {
						t.Errorf("%q becomes %q", text, got)
					}
				}
				if found := one.Explain([]byte(text)); len(found) != 2 {
					t.Errorf("%q: %+v", text, found)
				}
			}
		})
	}
	all.Wait()
}
