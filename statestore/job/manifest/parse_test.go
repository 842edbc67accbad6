package manifest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

const good = `{
  "schemaVersion": 1,
  "job": "j", "attempt": "a", "session": "",
  "report": "/a/report",
  "sha256": "0123456789012345678901234567890123456789012345678901234567abcdef",
  "size": 3,
  "finalizedAt": "2026-03-01T12:00:00+01:00",
  "sideEffects": [
    {"kind": "file", "ref": "x"}
  ]
}`

// TestHandWrittenManifestsAreReadStrictly: a complaint names file, line and field.
func TestHandWrittenManifestsAreReadStrictly(t *testing.T) {
	for _, test := range []struct{ from, to, says string }{
		{good, ``, "f:1: the file is empty"},
		{good, strings.Repeat("\x00", 40), "f:1: the file holds only zero bytes"},
		{good, good[:50], "f:3: "},
		{good, `[]`, "f:1: is an array, must be an object"},
		{good, good + good, "f:11: "},
		{good, "\ufeff" + good, "f: is not plain JSON"},
		{`"size": 3,`, `"size": 3, // as counted`, "f: is not plain JSON"},
		{`"size": 3,`, `"size": 3, "size": 3,`, "f:6: size: the key stands twice, first on line 6"},
		{`"size": 3,`, `"size": 3, "si\u007ae": 3,`, "f:6: size: the key stands twice, first on line 6"},
		{`"size": 3,`, `"size": 3, "Size": 3,`, "f:6: Size: no such key; did you mean \"size\"?"},
		{`"size": 3,`, ``, "f:1: size: the key is missing"},
		{`"size": 3,`, `"size": "3",`, "f:6: size: is a string, must be a number"},
		{`"size": 3,`, `"size": -3,`, "f:6: size: is negative"},
		{`"size": 3,`, `"size": 3.5,`, "f:6: size: is 3.5, must be a whole number"},
		{`"schemaVersion": 1`, `"schemaVersion": 2, "more": 1`, "f:2: schemaVersion: is 2; known is 1"},
		{`"schemaVersion": 1,`, ``, "f:1: schemaVersion: the key is missing"},
		{`"schemaVersion": 1`, `"schemaVersion": "1"`, "f:2: schemaVersion: is a string, must be a number"},
		{`"job": "j"`, `"job": ""`, "f:3: job: is empty"},
		{`"job": "j"`, `"job": "` + strings.Repeat("j", 5000) + `"`, "f:3: job: has more than 4096 bytes"},
		{`"attempt": "a"`, `"attempt": null`, "f:3: attempt: is null, must be a string"},
		{`"attempt": "a"`, "\"attempt\": \"\xff\"", "f:3: the file is not valid UTF-8"},
		{`"session": ""`, `"session": "a\nb"`, "f:3: session: has a control character"},
		{`/a/report`, `report`, "f:4: report: is not an absolute path"},
		{`67abcdef`, `67ABCDEF`, "f:5: sha256: is not 64 digits of lower-case hex"},
		{`67abcdef`, `67`, "f:5: sha256: is not 64 digits of lower-case hex"},
		{`2026-03-01T`, `2026-03-01 `, "f:7: finalizedAt: is not a time"},
		{`, "ref": "x"`, ``, "f:9: sideEffects[0].ref: the key is missing"},
		{`"ref": "x"`, `"ref": ""`, "f:9: sideEffects[0].ref: is empty"},
		{`"kind": "file"`, `"kind": ""`, "f:9: sideEffects[0].kind: is empty"},
		{`"kind": "file"`, `"kind": 1`, "f:9: sideEffects[0].kind: is a number, must be a string"},
		{`"ref": "x"`, `"ref": "x", "proof": "trust me"`, "f:9: sideEffects[0].proof: no such key"},
		{`{"kind": "file", "ref": "x"}`, strings.Repeat(`{"kind": "file", "ref": "x"},`, 100) + `{}`, "f:8: sideEffects: has more than 100 entries"},
		{`{"kind": "file", "ref": "x"}`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "f:9: more than 1000 levels deep"},
	} {
		text := strings.Replace(good, test.from, test.to, 1)
		if text == good {
			t.Fatalf("%q is not there", test.from)
		}
		m, err := parse("f", []byte(text))
		if err == nil {
			t.Errorf("%.100s: read as %v", test.to, m)
			continue
		}
		if !errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%.100s: error is %q, want %q", test.to, err, test.says)
		}
	}
}

func TestGoodManifestIsRead(t *testing.T) {
	m, err := parse("f", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if m.SchemaVersion != 1 || m.Job != "j" || m.Size != 3 || m.FinalizedAt.Hour() != 11 || !reflect.DeepEqual(m.SideEffects, []SideEffect{{File, "x"}}) {
		t.Errorf("read as %+v", m)
	}
}

// FuzzParse: whatever is read can be written and is read as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, `"x"`, `"\u2028 \ud83d\ude00 \ud800"`, 1)))
	f.Add([]byte(strings.Replace(good, `"j"`, `"j", // comment`, 1)))
	f.Add([]byte(`{"schemaVersion": 1}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse("f", data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		text, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse("f", text)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("read as %v, and what was written of that as %v, %v", m, again, err)
		}
	})
}

// TestTheLargestDraftFitsIntoAManifest, so that whatever Finalize accepts can be read.
func TestTheLargestDraftFitsIntoAManifest(t *testing.T) {
	text := strings.Repeat(`"`, maxText)
	m := Manifest{Job: text, Attempt: text, Session: text, Report: text, SHA256: sum(""), SideEffects: make([]SideEffect, MaxSideEffects)}
	for i := range m.SideEffects {
		m.SideEffects[i] = SideEffect{text, text}
	}
	if data, err := m.encode(); err != nil || len(data) > MaxManifest {
		t.Errorf("it has %d bytes, %v", len(data), err)
	}
}
