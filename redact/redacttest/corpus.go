package redacttest

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// Secret is a text with one secret in it.
type Secret struct {
	Vendor  string // whose it is, lower case
	Kind    string // which of the vendor's
	Setting string // where the secret stands: env, json, log …
	Text    string
	// Start and End are the offsets of what must not survive: no byte of it.
	Start, End int
}

func (s Secret) String() string { return fmt.Sprintf("%s/%s in %s", s.Vendor, s.Kind, s.Setting) }

// Value is the secret itself, as the text has it.
func (s Secret) Value() string { return s.Text[s.Start:s.End] }

// Corpus is secrets of the vendors, each in varied settings, and clean text that looks like them: 2,000 pieces or more of one line or
// few. The same state of rng gives the same corpus.
func Corpus(rng *rand.Rand) (secrets []Secret, clean []string) {
	return append(vendorSecrets(rng), specialSecrets(rng)...), cleanText(rng)
}

func vendorSecrets(rng *rand.Rand) []Secret {
	var all []Secret
	for _, k := range kinds() {
		settings := namedSettings()
		if k.name == "" {
			settings = bareSettings()
		}
		for _, s := range settings {
			all = append(all, k.in(rng, s))
		}
	}
	return all
}

// in makes a secret of the kind in a setting.
func (k kind) in(rng *rand.Rand, s setting) Secret {
	name := k.name
	if name == "" {
		name = []string{"BUILD_ITEM", "NEXT_STEP", "WORKER_INPUT"}[rng.IntN(3)]
	}
	text := Fill(rng, s.shape)
	text = strings.NewReplacer("<NAME>", name, "<name>", strings.ToLower(name), "<camel>", camel(name)).Replace(text)
	lead, value := Fill(rng, k.lead), Fill(rng, k.shape)
	if s.query {
		lead, value = url.QueryEscape(lead), url.QueryEscape(value)
	}
	before, after, _ := strings.Cut(text, "§")
	start := len(before) + len(lead)
	return Secret{k.vendor, k.kind, s.name, before + lead + value + after, start, start + len(value)}
}

// camel is A_NAME as aName.
func camel(name string) string {
	var b strings.Builder
	for i, word := range strings.Split(strings.ToLower(name), "_") {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String()
}

// setting is a shape of the text around a secret, which stands at §.
type setting struct {
	name, shape string
	query       bool // the secret is escaped as in a query
}

// bareSettings are those whose names say nothing: what stands there shows by its own form that it is a secret.
func bareSettings() []setting {
	return []setting{
		{"prose", "The agent tried §, which the server refused with 401.\n", false},
		{"end of prose", "Log in as the build user with §\n", false},
		{"env", "CI=true\n<NAME>=§\nHOME=/root\n", false},
		{"export", "export <NAME>='§' && make\n", false},
		{"json", `{"<name>": "§", "retries": 3}` + "\n", false},
		{"yaml", "steps:\n  - run: deploy\n    <name>: §\n", false},
		{"shell", "$ printf '%s' \"§\" | tool login --stdin\n", false},
		{"url", "GET https://build.internal:8443/run?<name>=§&page=2 200\n", true},
		{"header", "> X-Item: §\r\n> Accept: */*\r\n", false},
		{"go", "\t<camel> := \"§\"\n\treturn run(ctx, <camel>)\n", false},
		{"python", "<name> = '§'  # of the build\n", false},
		{"log", "2026-03-{digit:2}T12:00:05.123Z INFO  client: using § in eu-west-1\n", false},
		{"escaped json", `{"type":"tool_result","content":"{\"<name>\": \"§\"}\nexit 0"}` + "\n", false},
		{"after an escaped line end", `{"type":"tool_result","content":"checking\n§\ndone"}` + "\n", false},
		{"colours", "\x1b[32m§\x1b[0m ok\n", false},
		{"nested query", "https://idp.internal/cb?state=next%3D§\n", true},
		{"markdown", "| item | `§` |\n|---|---|\n", false},
		{"diff", "@@ -1,2 +1,2 @@\n-    <name>: old\n+    <name>: §\n", false},
		{"list", "args: [\"--retries\",\"3\",\"§\"]\n", false},
	}
}

// namedSettings are those where a name says what the value is.
func namedSettings() []setting {
	return []setting{
		{"env", "CI=true\n<NAME>=§\nHOME=/root\n", false},
		{"export", "export <NAME>=\"§\"\n", false},
		{"docker", "$ docker run --rm -e <NAME>=§ tools:latest\n", false},
		{"json", `{"region":"eu-west-1","<camel>":"§"}` + "\n", false},
		{"json of many lines", "{\n  \"<name>\": \"§\",\n  \"retries\": 3\n}\n", false},
		{"yaml", "env:\n  <NAME>: §\n  LEVEL: debug\n", false},
		{"quoted yaml", "<name>: '§'\n", false},
		{"toml", "<name> = \"§\"\n", false},
		{"go", "\t<camel> := \"§\"\n", false},
		{"python", "os.environ[\"<NAME>\"] = \"§\"\n", false},
		{"ruby", "config = { '<name>' => '§' }\n", false},
		{"log", "2026-03-{digit:2}T12:00:05.123Z DEBUG env: <NAME>=§ LEVEL=debug\n", false},
		{"escaped json", `{"type":"tool_result","content":"{\"<name>\": \"§\"}\nexit 0"}` + "\n", false},
		{"after an escaped line end", `{"type":"tool_result","content":"$ env\n<NAME>=§\nHOME=/root"}` + "\n", false},
	}
}
