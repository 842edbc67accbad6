package redact

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secretNames and plainNames are separated by spaces; no name here is a secret itself.
const secretNames = `password Password PASSWORD passwd passphrase passcode db_password dbPassword DB-PASSWORD db.password PGPASSWORD mypassword
	password1 PASSWORD_2 newPassword password_old passwordConfirmation old-password
	spring.datasource.password SA_PASSWORD RootPassword DB_PASS userPass HTTPPass smtp_pass ROUTER_PASS dbpass MYSQL_PWD userPwd
	secret client_secret clientSecret CLIENT_SECRET clientsecret app.secret webhook-secret secrets
	token authToken auth_token access_token accesstoken refreshToken id_token GITHUB_TOKEN GITHUB_TOKEN_PROD tokenValue TOKEN_2 X-Vault-Token
	npm_config__authToken //registry.example/:_authToken _authToken X-CSRF-Token X-Amz-Security-Token PRIVATE-TOKEN reset_password_token SUPER_TOKEN
	BRAVE_SEARCH_API_KEY x-goog-api-key X-Api-Key apikey apiKey APIKey api.key API_KEYS googleapikey x-functions-key Ocp-Apim-Subscription-Key
	AWS_SECRET_ACCESS_KEY secret_key SECRET_KEY_BASE private_key privateKey private_key_pem client-key-data signing_key AccountKey SharedAccessKey
	service_role_key encryption_key APP_KEY DD-APPLICATION-KEY sshKey
	Authorization authorization Proxy-Authorization HTTP_AUTHORIZATION _auth auth basic_auth bearer authBearer jwt SESSION_JWT
	Cookie Set-Cookie session_cookie cookies JSESSIONID credential aws_credentials X-Amz-Credential creds DB_CREDS password_hash
	sig X-Amz-Signature X-Goog-Signature SharedAccessSignature webhook_url slackWebhookUrl`

const plainNames = `tokens max_tokens maxTokens tokenizer author authority keyboard monkey primary_key foreign_key key Key public_key publicKey passed
	compass bypass byPass secretary token_count input_tokens cookie_banner cookieBanner token_type tokenType max_token next_page_token
	nextPageToken NextToken pagetoken stop_token pad_token price_per_token sub_token
	PASS pass tests_pass first_pass secondPass proxy_pass lastPass passthrough password_length passwordLength has_password isSecret noToken no-token
	PWD OLDPWD pwd INIT_CWD secret_name secretName token_file TOKEN_EXPIRES access_key_id client_id session_id sessionId
	Sec-WebSocket-Key Idempotency-Key cache_key partition_key host_key publickey
	authors authenticated oauth oauth2 WWW-Authenticate authorization_endpoint author_key requires_auth
	signature Signature signal sigma SIG_IGN design x_sig webhook jwt_issuer unbearer forbearer forbearers
	name value data old _old user email path url status id a A 1 - _ . `

func TestSecretName(t *testing.T) {
	for _, name := range strings.Fields(secretNames) {
		if !SecretName(name) || !secretName([]byte(name)) {
			t.Errorf("%s is not taken for the name of a secret", name)
		}
	}
	for _, name := range append(strings.Fields(plainNames), "", "naïve", "contraseña", "日本", "\xff", "--- PASS") {
		if SecretName(name) || secretName([]byte(name)) {
			t.Errorf("%s is taken for the name of a secret", name)
		}
	}
	for _, name := range []string{"API key", "contraseña token", "数据库password", "[token]", `"token"`, "headers['x-api-key']"} {
		if !SecretName(name) {
			t.Errorf("%s is not taken for the name of a secret", name)
		}
	}
}

// TestEverySecretWordIsUsed: each word of the lists makes a name secret, and each harmless word takes that back.
func TestEverySecretWordIsUsed(t *testing.T) {
	for last := range byte(255) {
		for _, word := range strings.Fields(secretWords(last)) {
			bare := strings.TrimLeft(word, ".+=")
			name := bare
			if word[0] == '+' {
				name = "x_" + bare
			}
			if !SecretName(name) || !SecretName(strings.ToUpper(name)) {
				t.Errorf("%s is not taken for the name of a secret", name)
			}
			if marked := bare != word; SecretName("q"+bare) == marked {
				t.Errorf("q%s: %v", bare, !marked)
			}
			if whole := word[0] == '='; SecretName("x_"+bare) == whole {
				t.Errorf("x_%s: %v", bare, !whole)
			}
			for _, harmless := range strings.Fields(harmlessBefore(bare)) {
				if name := harmless[1:] + "_" + bare; SecretName(name) {
					t.Errorf("%s is taken for the name of a secret", name)
				}
			}
			for _, suffix := range allSuffixes() {
				if !SecretName(name + "_" + suffix[1:]) {
					t.Errorf("%s_%s is not taken for the name of a secret", name, suffix[1:])
				}
			}
			if SecretName(name + "_banner") {
				t.Errorf("%s_banner is taken for the name of a secret", name)
			}
		}
	}
}

func allSuffixes() []string {
	var all []string
	for last := range byte(255) {
		all = append(all, strings.Fields(nameSuffixes(last))...)
	}
	return all
}

// FuzzSecretName compares with another way to read the same lists.
func FuzzSecretName(f *testing.F) {
	for _, name := range strings.Fields(secretNames + " " + plainNames) {
		f.Add(name)
	}
	f.Add("pass token_b_2~old")
	other := parted(f)
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 200 {
			return
		}
		if got, want := SecretName(name), other(name); got != want || secretName([]byte(name)) != got {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	})
}

// parted first makes |db|password of dbPassword, and then looks for endings with regular expressions.
func parted(f *testing.F) func(name string) bool {
	f.Helper()
	compile := func(word string) *regexp.Regexp {
		bare := strings.TrimLeft(word, ".+=")
		mark := map[byte]string{'.': `\|`, '+': `[a-z0-9~]\|`, '=': `^\|`}[word[0]]
		return regexp.MustCompile(mark + "(" + strings.Join(strings.Split(bare, ""), `\|?`) + `)\|?$`)
	}
	type rule struct {
		ending   *regexp.Regexp
		harmless []*regexp.Regexp
	}
	var rules []rule
	for last := range byte(255) {
		for _, word := range strings.Fields(secretWords(last)) {
			r := rule{ending: compile(word)}
			for _, h := range strings.Fields(harmlessBefore(strings.TrimLeft(word, ".+="))) {
				r.harmless = append(r.harmless, compile(h))
			}
			rules = append(rules, r)
		}
	}
	var suffixes []*regexp.Regexp
	for _, word := range allSuffixes() {
		suffixes = append(suffixes, compile(word))
	}
	edges, hump, after := regexp.MustCompile(`[^A-Za-z0-9~]+`), regexp.MustCompile(`[A-Z][a-z~]`), regexp.MustCompile(`([a-z~])([A-Z])`)
	number := regexp.MustCompile(`[0-9]+`)
	digits, several := regexp.MustCompile(`[0-9|]+$`), regexp.MustCompile(`\|+`)
	return func(name string) bool {
		var flat []byte
		for _, b := range []byte(name) {
			switch {
			case b == '~':
				b = '|'
			case b >= 0x80:
				b = '~'
			}
			flat = append(flat, b)
		}
		text := "|" + hump.ReplaceAllString(edges.ReplaceAllString(string(flat), "|"), "|$0")
		text = several.ReplaceAllString(strings.ToLower(number.ReplaceAllString(after.ReplaceAllString(text, "$1|$2"), "$0|")), "|")
		for text = digits.ReplaceAllString(text, ""); text != ""; {
			for _, r := range rules {
				at := r.ending.FindStringSubmatchIndex(text)
				if at != nil && !slices.ContainsFunc(r.harmless, func(h *regexp.Regexp) bool { return h.MatchString(text[:at[2]]) }) {
					return true
				}
			}
			i := slices.IndexFunc(suffixes, func(s *regexp.Regexp) bool { return s.MatchString(text) })
			if i < 0 {
				return false
			}
			text = digits.ReplaceAllString(text[:strings.LastIndex(text, "|")], "")
		}
		return false
	}
}

func TestSecretNameAllocatesNothing(t *testing.T) {
	names := strings.Fields(secretNames + " " + plainNames)
	if n := testing.AllocsPerRun(10, func() {
		for _, name := range names {
			SecretName(name)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSecretName(b *testing.B) {
	names := strings.Fields(secretNames + " " + plainNames)
	for b.Loop() {
		for _, name := range names {
			SecretName(name)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(names)), "ns/name")
}
