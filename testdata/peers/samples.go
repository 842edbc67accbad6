package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"aesop/redact/redacttest"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// sample is a text in which gitleaks finds a secret by a rule.
type sample struct {
	rule       string
	text       string
	start, end int // of what gitleaks calls the secret
}

// fileOnly are the rules of gitleaks that look at no content, with who does their work.
func fileOnly() map[string]string {
	return map[string]string{"pkcs12-file": "a file name, which the scanner knows"}
}

// natural are the shapes of rules whose expressions alone make text that nobody writes, with the reason.
func natural(rule string) []string {
	switch rule {
	case "curl-auth-header": // the expression makes garbage between the words of the command
		return []string{"$ curl -sS https://api.internal/v1 -H \"Authorization: Bearer {alnum:40}\" -o out\n", "$ curl --header 'X-Api-Key: {alnum:32}' https://api.internal/v1\n",
			"curl -H \"Authorization: Basic {alnum:24}\" https://api.internal\n", "curl -X POST -H 'Authorization: {alnum:40}' https://api.internal\n",
			"curl https://api.internal/v2 \\\n  --header \"Authorization: Token {hex:40}\"\n"}
	case "curl-auth-user":
		return []string{"$ curl -u \"bot:{alnum:24}\" https://files.internal/x\n", "$ curl --user bot:{alnum:24} -sS https://files.internal/x\n",
			"curl -fsSL -u 'bot:{alnum:20}!' https://files.internal/x\n", "curl -X POST https://files.internal/x \\\n  -u bot:{alnum:20}\n"}
	case "kubernetes-secret-yaml": // the same, between the lines
		return []string{"apiVersion: v1\nkind: " + "Secret\nmetadata:\n  name: web\ntype: Opaque\ndata:\n  dsn: {base64:60}\n",
			"kind: " + "Secret\napiVersion: v1\ndata:\n  dsn: \"{base64:39}=\"\nmetadata:\n  name: web\n", "apiVersion: v1\ndata:\n  password: {base64:60}\nkind: " + "Secret\nmetadata:\n  name: web\n"}
	case "jwt": // a header that is JSON begins with eyJ
		return []string{"eyJ{alnum:33}.eyJ{base64url:80}.{base64url:42}{alnum:1}\n", "x = \"eyJ{alnum:33}.eyJ{base64url:80}.{base64url:85}{alnum:1}\"\n"}
	case "jwt-base64": // the expression goes on over line ends and backslashes
		return []string{"ZXlKaGJHY2lPaU{alnum:90}\n", "x: ZXlKMGVYQWlPaUp{alnum:80}==\n", "ZXlKcmFXUWlP{alnum:120}=\n"}
	case "facebook-access-token": // nothing but the word somewhere near tells it from other numbers
		return []string{"facebook_app: {digit:16}|{base64url:27}\n", "https://graph.facebook.com/me?access_token={digit:15}%7C{base64url:27}\n"}
	case "hashicorp-tf-password": // the quotes belong to the value
		return []string{"  administrator_login_password = \"{alnum:16}\"\n", "  password = \"{alnum:8}-{alnum:8}\"\n"}
	case "freemius-secret-key": // anything but white space
		return []string{"    'secret_key' => 'sk_{alnum:12}~;{alnum:8}!{alnum:6}',\n"}
	case "nuget-config-password": // anything, also what ends an attribute
		return []string{"<add key=\"ClearTextPassword\" value=\"{alnum:8}$! {alnum:6}\" />\n", "<add key=\"Password\" value=\"{base64:40}=\"/>\n"}
	case "nytimes-access-token": // a comma got into one of the names
		return []string{"nytimes_id: {base64url:32}\n", "newyorktimes = \"{base64url:32}\"\n"}
	case "mailchimp-api-key": // one of the names has a dot that is free
		return []string{"mailchimp: {hex:32}-us1{digit:1}\n", "mailchimp_value = \"{hex:32}-us2{digit:1}\"\n", "MailchimpSDK.initialize = \"{hex:32}-us1{digit:1}\"\n"}
	case "sourcegraph-access-token": // one of its choices is every SHA-1 in a text that has the word
		return []string{"sourcegraph: {hex:40}\n", "sgp_{hex:16}_{hex:40}\n", "sgp_local_{hex:40}\n", "sgp_{hex:40}\n"}
	case "vault-service-token": // the old form has no more than "s." before it, like a field of s in code
		return []string{"hvs.{base64url:95}\n", "vault: s.{alnum:24}\n", "VAULT_TOKEN=" + "s.{alnum:24}\n"}
	case "square-access-token": // EAAA is also how zero bytes look in base64
		return []string{"EAAAE{base64url:59}\n", "EAAAF{base64url:58}\n", "sq0atp-{base64url:22}\n"}
	case "slack-webhook-url": // the dots of the host are free
		return []string{"https://hooks.slack.com/services/T{ALNUM:10}/B{ALNUM:10}/{alnum:24}\n", "hooks.slack.com/workflows/T{ALNUM:8}/A{ALNUM:10}/{alnum:24}\n"}
	case "slack-config-access-token": // a dot and the case of letters are free
		return []string{"xoxe.xoxp-1-{ALNUM:163}\n", "xoxe.xoxb-1-{ALNUM:166}\n"}
	case "aws-amazon-bedrock-api-key-short-lived": // the expression ends before what is secret begins
		return []string{"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{alnum:200}\n"}
	case "private-key":
		return []string{"-----BEGIN RSA " + "PRIVATE KEY-----\n{base64:64}\n{base64:64}\n{base64:64}\n-----END RSA " + "PRIVATE KEY-----\n",
			"-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n{base64:64}\n{base64:64}\n=ab3D\n-----END PGP " + "PRIVATE KEY BLOCK-----\n"}
	case "generic-api-key": // a name that ends in key, access or auth alone says little: {"cache_key": …}
		return []string{"client_secret = \"{alnum:40}\"\n", "\"apiKey\": \"{alnum:32}\",\n", "ACCESS_TOKEN={alnum:40}\n", "db_password: '{alnum:20}'\n",
			"access_key => \"{alnum:24}\"\n", "credential: {alnum:30}\n", "auth := \"{alnum:30}\"\n", "aws_creds = {alnum:30}\n"}
	}
	return nil
}

// fileOf is a file in which a rule that looks at names looks.
func fileOf(rule string) string {
	switch rule {
	case "nuget-config-password":
		return "nuget.config"
	case "kubernetes-secret-yaml":
		return "secret.yaml"
	case "freemius-secret-key":
		return "config.php"
	case "hashicorp-tf-password":
		return "main.tf"
	}
	return ""
}

// samplesOf are count texts in which gitleaks finds what rule is for.
func (p *peers) samplesOf(rng *rand.Rand, rule config.Rule, count int) ([]sample, error) {
	const tries = 400
	var all []sample
	for n := 0; len(all) < count; n++ {
		if n == tries {
			return nil, fmt.Errorf("rule %s: gitleaks found %d of %d texts that were made for it", rule.RuleID, len(all), tries)
		}
		text, err := textFor(rng, rule, len(all))
		if err != nil {
			return nil, err
		}
		if s, ok := p.gitleaksFinds(rule.RuleID, text); ok && text[s.start] != '=' { // else nobody knows where the value begins
			all = append(all, s)
		}
	}
	return all, nil
}

// textFor makes text number n for a rule.
func textFor(rng *rand.Rand, rule config.Rule, n int) (string, error) {
	if shapes := natural(rule.RuleID); len(shapes) > 0 {
		return redacttest.Fill(rng, shapes[n%len(shapes)]), nil
	}
	expression := rule.Regex.String()
	if !strings.Contains(expression, signs) {
		text, err := redacttest.Generate(rng, expression)
		return inContext(text, rule), err
	}
	// By itself the expression makes any mixture of quotes and signs: it is given those that people write, one after the other.
	form := forms()[n%len(forms())]
	expression = strings.NewReplacer(afterName, "(?:_id|_value|)", assignment, "§", grouped, ")§", ending, "§").Replace(expression)
	text, err := redacttest.Generate(rng, expression)
	return inContext(form.before+strings.Replace(strings.Replace(text, "§", form.between, 1), "§", form.after, 1), rule), err
}

// What gitleaks has after a name, between it and its value, and after that.
const (
	afterName  = `[ \t\w.-]{0,20}`
	signs      = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
	assignment = `[\s'"]{0,3}` + signs
	grouped    = `[\s'"]{0,3})` + signs // where the name's part is a group
	ending     = `(?:[\x60'"\s;]|\\[nr]|$)`
)

type form struct{ before, between, after string }

// forms have each of the signs that gitleaks knows.
func forms() []form {
	return []form{{"", "=", ""}, {"", " = \"", "\""}, {"export ", "='", "'"}, {"{\"", "\": \"", "\"}"}, {"  ", ": ", ""}, {"", ": '", "'"}, {"", " := \"", "\""},
		{"", " => '", "',"}, {"", " ::= ", ""}, {"", " ?= ", ""}, {"x = ", " || '", "';"}, {"set(\"", "\", \"", "\")"}, {"<", ">", " "}}
}

// inContext puts a text on a line of its own, near a word without which gitleaks does not look.
func inContext(text string, rule config.Rule) string {
	text = "\n" + text + "\n"
	if len(rule.Keywords) > 0 && !slices.ContainsFunc(rule.Keywords, func(word string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(word)) }) {
		return "# of " + rule.Keywords[0] + text
	}
	return text
}

// gitleaksFinds says what gitleaks finds in a text by a rule.
func (p *peers) gitleaksFinds(rule, text string) (sample, bool) {
	for _, f := range p.gitleaks.Detect(detect.Fragment{Raw: text, FilePath: fileOf(rule)}) {
		if f.RuleID != rule {
			continue
		}
		if at := strings.Index(text, f.Secret); at >= 0 && f.Secret != "" {
			return sample{rule, text, at, at + len(f.Secret)}, true
		}
	}
	return sample{}, false
}

// class is what both find of a rule of gitleaks.
type class struct {
	rule    string
	samples int // all of which gitleaks finds
	missed  []sample
	by      map[string]bool // rules of aesop
}

// classes compares rule by rule.
func (p *peers) classes(rng *rand.Rand) ([]class, error) {
	const each = 13
	var all []class
	for _, id := range slices.Sorted(maps.Keys(p.gitleaks.Config.Rules)) {
		if fileOnly()[id] != "" {
			continue
		}
		samples, err := p.samplesOf(rng, p.gitleaks.Config.Rules[id], each)
		if err != nil {
			return nil, err
		}
		c := class{rule: id, samples: len(samples), by: map[string]bool{}}
		for _, s := range samples {
			rules, taken := p.takes(s.text, s.start, s.end, false)
			if !taken {
				c.missed = append(c.missed, s)
				continue
			}
			for _, rule := range rules {
				c.by[rule] = true
			}
		}
		all = append(all, c)
	}
	return all, nil
}
