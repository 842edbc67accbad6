package redacttest

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// specialSecrets are those that have a setting of their own. The secret is what stands between « and ».
func specialSecrets(rng *rand.Rand) []Secret {
	var all []Secret
	for _, s := range specials() {
		for range 4 {
			text := strings.ReplaceAll(s.shape, "<pem>", pem(rng))
			text = strings.ReplaceAll(text, "<indented pem>", strings.ReplaceAll(pem(rng), "\n", "\n  "))
			text = Fill(rng, text)
			text = strings.ReplaceAll(text, "<basic>", base64.StdEncoding.EncodeToString([]byte(Fill(rng, "builder:{alnum:20}"))))
			before, rest, _ := strings.Cut(text, "«")
			value, after, _ := strings.Cut(rest, "»")
			all = append(all, Secret{s.vendor, s.kind, s.setting, before + value + after, len(before), len(before) + len(value)})
		}
	}
	return all
}

// pem is the body of a key, as lines.
func pem(rng *rand.Rand) string {
	lines := make([]string, 12)
	for i := range lines {
		lines[i] = random(rng, alphabet("base64"), 64)
	}
	return strings.Join(append(lines, random(rng, alphabet("base64"), 22)+"=="), "\n")
}

type special struct{ vendor, kind, setting, shape string }

func specials() []special {
	// The words are put together so that this file has no header of a key.
	begin := func(kind string) string { return "-----BEGIN " + kind + "PRIVATE " + "KEY-----\n" }
	end := func(kind string) string { return "\n-----END " + kind + "PRIVATE " + "KEY-----\n" }
	all := []special{
		{"azure", "storage key", "connection string", "DefaultEndpointsProtocol=https;AccountName=store{digit:3};AccountKey=«{base64:86}==»;EndpointSuffix=core.windows.net\n"},
		{"azure", "shared key", "connection string", "Endpoint=sb://bus{digit:2}.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{base64:43}=»\n"},
		{"azure", "sas", "url", "https://store.blob.core.windows.net/c/file?sv=2024-11-04&sr=b&se=2026-01-01T00%3A00%3A00Z&sp=r&sig=«{alnum:20}%2B{alnum:20}%3D»\n"},
		{"azure", "sas", "escaped json", `{"url":"https://store.blob.core.windows.net/c/f?sv=2024-11-04\u0026sp=r\u0026sig=«{alnum:20}%2F{alnum:20}%3D»"}` + "\n"},
		{"aws", "both keys", "credentials file", "[default]\naws_access_key_id = AKIA{ALNUM:16}\naws_secret_access_key = «{base64:40}»\nregion = eu-west-1\n"},
		{"aws", "both keys", "escaped json", `{"content":"{\"AccessKeyId\": \"ASIA{ALNUM:16}\", \"SecretAccessKey\": \"«{base64:40}»\"}"}` + "\n"},
		{"docker", "login", "config.json", "{\n\t\"auths\": {\n\t\t\"registry.internal\": {\n\t\t\t\"auth\": \"«<basic>»\"\n\t\t}\n\t}\n}\n"},
		{"npm", "token", "npmrc", "//registry.host.test/:_authToken=«npm_{alnum:36}»\n"},
		{"npm", "old token", "npmrc", "//npm.internal/:_authToken=«" + uuid + "»\n"},
		{"telegram", "bot token", "url", "POST https://api.telegram.org/bot{digit:10}:«AA{base64url:33}»/sendMessage\n"},
		{"mailgun", "key", "curl", "$ curl -s --user 'api:«key-{hex:32}»' https://api.mailgun.net/v3/domains\n"},
		{"discord", "bot token", "header", "Authorization: Bot «MT{alnum:22}.G{alnum:5}.{base64url:38}»\n"},
		{"okta", "token", "header", "Authorization: SSWS «00{base64url:40}»\n"},
		{"github", "token", "git remote", "origin\thttps://x-access-token:«ghs_{alnum:36}»@github.com/acme/tool.git (fetch)\n"},
		{"gitlab", "token", "git remote", "fatal: unable to access 'https://oauth2" + ":«glpat-{base64url:20}»@gitlab.internal/a/b.git/': 403\n"},
		{"any", "bearer", "header", "> Authorization: Bearer «{base64url:40}»\r\n> Accept: */*\r\n"},
		{"any", "bearer", "curl", "$ curl -sS -H \"Authorization: Bearer «{base64url:40}»\" https://api.internal/v1/me\n"},
		{"any", "basic", "header", "Authorization: Basic «<basic>»\n"},
		{"any", "api key", "header", "x-api-key: «{alnum:40}»\n"},
		{"any", "api key", "curl", "$ curl https://api.internal/v1 -H 'X-API-Key: «{alnum:40}»' -d '{}'\n"},
		{"any", "cookie", "header", "Cookie: theme=dark; session_token=«{alnum:40}»\n"},
		{"any", "login", "curl", "$ curl -u builder:«{alnum:20}» https://files.internal/x\n"},
		{"any", "login", "netrc", "machine git.internal login builder password «{alnum:20}»\n"},
		{"any", "login", "url", "postgres://app:«{alnum:8}@{alnum:8}»@db.internal:5432/app?sslmode=require\n"},
		{"any", "login", "url", "connecting to redis://:«{alnum:24}»@cache.internal:6379/0\n"},
		{"any", "login", "url", "amqp+ssl://guest:«{alnum:12}%2F{alnum:4}»@[2001:db8::1]:5671/vhost\n"},
		{"any", "login", "escaped json", `{"content":"DATABASE_URL=mysql://root:«{alnum:18}»@10.0.0.7/app\nOK"}` + "\n"},
		{"any", "token", "query", "GET /hook?access_token=«{alnum:32}»&v=2 HTTP/1.1\n"},
		{"any", "password", "flag", "$ tool login --user builder --password «{alnum:18}»\n"},
		{"any", "password", "flag", "$ tool login --token=«{alnum:32}» --quiet\n"},
		{"any", "password", "xml", "<settings><password>«{alnum:18}»</password></settings>\n"},
		{"any", "password", "jdbc", "jdbc:sqlserver://db.internal:1433;user=sa;password=«{alnum:16}»;encrypt=true\n"},
		{"any", "password", "pod", "      env:\n        - name: DB_PASSWORD\n          value: «{alnum:18}»\n"},
		{"any", "password", "json of name and value", `{"env":[{"name":"DB_PASSWORD","value":"«{alnum:18}»"}]}` + "\n"},
		{"any", "password", "hash rocket", "  :password => \"«{alnum:18}»\",\n"},
		{"any", "password", "typed constant", "const dbPassword: string = \"«{alnum:18}»\";\n"},
		{"any", "password", "call", "os.Setenv(\"DB_PASSWORD\", \"«{alnum:18}»\")\n"},
	}
	for _, kind := range []string{"", "RSA ", "EC ", "OPENSSH ", "DSA "} {
		text := begin(kind) + "«<pem>»" + end(kind)
		escaped := strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "<pem>", "{base64:64}\\n{base64:64}\\n{base64:64}\\n{base64:30}==")
		all = append(all,
			special{"ssh", kind + "key", "file", text},
			special{"ssh", kind + "key", "yaml", "key: |\n  " + strings.ReplaceAll(strings.ReplaceAll(text, "<pem>", "<indented pem>"), "\n", "\n  ")},
			special{"ssh", kind + "key", "json", `{"type":"service_account","private_key_id":"x","private_key":"` + escaped + `","client_id":"1"}` + "\n"},
			special{"ssh", kind + "key", "escaped json", `{"content":"{\"private_key\":\"` + strings.ReplaceAll(escaped, `\n`, `\\n`) + `\"}"}` + "\n"})
	}
	return all
}
