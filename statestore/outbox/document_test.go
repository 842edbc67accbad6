package outbox_test

import (
	"bytes"
	"strings"
	"testing"

	"aesop/statestore/outbox"
)

func FuzzParseDocument(f *testing.F) {
	intent := news("s", 1, "job.complete")
	intent.ID = outbox.ID(intent.Subject, intent.Seq, intent.Kind)
	good, err := outbox.Document(intent)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(good), string(good[:20]), "", "null", "{}", `{"schemaVersion":2}`, strings.Replace(string(good), `"seq":1`, `"seq":2`, 1)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		i, err := outbox.ParseDocument(text)
		if err != nil {
			return
		}
		again, err := outbox.Document(i)
		must(t, err)
		if same, err := outbox.ParseDocument(again); err != nil || same.ID != i.ID || same.Seq != i.Seq || bytes.ContainsAny(again, "\n") {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	})
}
