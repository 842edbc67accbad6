package redact_test

import (
	"strings"
	"testing"

	"aesop/redact"
)

func TestTheDataOfAKubernetesSecretGoesAndThatOfOthersStays(t *testing.T) {
	const value = "Y29ubmVjdCB0byBpdA"
	r := redactor(t, redact.Logs)
	for name, test := range map[string]struct {
		text string
		gone bool
	}{
		"before":               {"kind: §\ntype: Opaque\ndata:\n  dsn: " + value + "\n  ca: " + value + "\n", true},
		"after, as of kubectl": {"apiVersion: v1\ndata:\n  dsn: " + value + "\nkind: §\nmetadata:\n  name: web\n", true},
		"of a list":            {"items:\n- apiVersion: v1\n  data:\n    dsn: " + value + "\n  kind: §\n", true},
		"block of text":        {"kind: §\nstringData:\n  conf: |\n    dsn " + value + "\n    x\n", true},
		"lines of Windows":     {"kind: §\r\ndata:\r\n  dsn: " + value + "\r\n", true},
		"in JSON":              {`{"content":"kind: §\ndata:\n  dsn: \"` + value + `\"\n","n":1}`, true},
		"at the end of JSON":   {`{"content":"kind: §\ndata:\n  dsn: ` + value + `","n":1}`, true},
		"another kind":         {"kind: ConfigMap\ndata:\n  dsn: " + value + "\n", false},
		"another document":     {"kind: §\nmetadata:\n  name: web\n---\nkind: ConfigMap\ndata:\n  dsn: " + value + "\n", false},
		"another after":        {"data:\n  dsn: " + value + "\n---\nkind: §\n", false},
		"a store of secrets":   {"data:\n  dsn: " + value + "\nkind: §Store\n", false},
		"no block":             {"kind: §\nmetadata:\n  name: data: \n  dsn: " + value + "\n", false},
	} {
		test.text = strings.ReplaceAll(test.text, "§", "Secret")
		got := r.String(test.text)
		if strings.Contains(got, value) == test.gone {
			t.Errorf("%s: %q", name, got)
		}
		if again := r.String(got); again != got {
			t.Errorf("%s: %q becomes %q", name, got, again)
		}
		for cut := range test.text {
			var out strings.Builder
			w := r.NewWriter(&out)
			for _, part := range []string{test.text[:cut], test.text[cut:]} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != got {
				t.Errorf("%s, cut at %d: %q", name, cut, out.String())
			}
		}
	}
}
