package redact

// keyRules are those of tokens: what they match has the shape of a credential wherever it stands.
func keyRules() []Rule {
	return append([]Rule{
		{ID: knownID, Severity: Critical},
		{ID: "private-key", Severity: Critical, words: []string{beginPrivate}, look: privateKeyBlock,
			Match: []string{"-----BEGIN {private}-----\n{base64:64}\n{base64:64}\n-----END {private}-----"},
			Avoid: []string{"-----BEGIN CERTIFICATE-----\n{base64:64}\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n{base64:64}\n-----END PUBLIC KEY-----"}},
		// The base64 of its first line, as in kubeconfig files and in Secrets of Kubernetes.
		token("private-key-base64", `LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVOU1NI|BFTkNS|BEU0Eg)[A-Za-z0-9+/=_-]{40,}`, "LS0tLS1CRUdJTiBSU0Eg{alnum:90}",
			"LS0tLS1CRUdJTiBDRVJU{alnum:90}", "LS0tLS1CRUdJTiBSU0Eg{alnum:20}"),
		token("putty-key", `Private-Lines: [0-9]{1,3}\r?\n[A-Za-z0-9+/=\r\n]{40,}`, "Private-Lines: 1\n{base64:64}", "Public-Lines: 1\n{base64:64}"),
		// The base64 of {"auths":, as docker and podman write it.
		token("docker-config", `\b(?:eyJhdXRocyI6|eyAiYXV0aHMiO|ewoJImF1dGhzIjog|ewogICJhdXRocyI6|ewogICAgImF1dGhzIjog)[A-Za-z0-9+/=_-]{20,}`, "eyJhdXRocyI6{alnum:60}",
			"eyJhdXRocyI6{alnum:8}"),
	}, vendorRules()...)
}

// placeRules are those of values: what they match is a credential because of where it stands.
func placeRules() []Rule {
	return []Rule{
		{ID: "authorization", Severity: High, placed: true, words: []string{"authorization"}, lookIn: header,
			Match: []string{"Authorization: Bearer {alnum:24}", `"Proxy-Authorization": "Basic {base64:20}"`, `-H "authorization: token {hex:40}"`},
			Avoid: []string{"authorization: required", "func Authorization(r *http.Request) string {", "authorization := newAuthorization()"}},
		{ID: "cookie", Severity: High, placed: true, words: []string{"cookie"}, lookIn: header,
			Match: []string{"Cookie: session={alnum:20}; theme=dark", "Set-Cookie: sid={hex:32}; HttpOnly"},
			Avoid: []string{"cookie: required", "cookie := newCookie(w)", "// the cookie: which we set"}},
		{ID: "bearer-token", Severity: High, placed: true, words: []string{"bearer "}, look: bearer,
			Match: []string{"sent Bearer {alnum:20}1"}, Avoid: []string{"the bearer of bad news is a good man", "Bearer realm=\"x\""}},
		{ID: "url-credentials", Severity: High, placed: true, words: []string{"://", `:\/\/`}, look: userinfo, mark: Marker,
			Match: []string{"postgres://{lower:6}:{alnum:12}@db.internal:5432/app", "https://{alnum:20}@host.test/x"},
			Avoid: []string{"https://host.test/a@b", "ssh://git@host.test/a.git", "http://[::1]:8080/@vite/client"}},
		{ID: "login", Severity: High, placed: true, words: []string{" -u", " --user", " --proxy-user"}, lookIn: login,
			Match: []string{"curl -s -u {lower:6}:{alnum:12} https://host.test"}, Avoid: []string{"curl -u {lower:6}: x", "git push -u origin main:main"}},
		{ID: "command-password", Severity: High, placed: true, words: []string{" -p", " -a", " -w"}, lookIn: command,
			Match: []string{"sshpass -p {alnum:12} ssh x", "mysql -uroot -p{alnum:12} db", "redis-cli -a '{alnum:12}' ping", "docker login -u x -p {alnum:12} host.test"},
			Avoid: []string{"mysql -u root -p {lower:8}", "mkdir -p {lower:8}", "ls -a {lower:8}", "sshpass -p $VALUE"}},
		{ID: "openssl-password", Severity: High, placed: true, words: []string{" pass:"}, lookIn: openSSL,
			Match: []string{"openssl rsa -in k -passin pass:{alnum:12}"}, Avoid: []string{"the tests pass:{lower:8}", "openssl rsa -passin pass:$VALUE"}},
		{ID: "sql-password", Severity: High, placed: true, words: []string{"identified "}, lookIn: identified,
			Match: []string{"CREATE USER x IDENTIFIED BY '{alnum:12}'", "create user x identified with caching_sha2_password by '{alnum:12}'"},
			Avoid: []string{"identified by '?'", "identified by its name", "identified with 'x'"}},
		{ID: "connection-password", Severity: High, placed: true, words: []string{";pwd="}, lookIn: connection,
			Match: []string{"Server=x;Uid=y;Pwd={alnum:12};"}, Avoid: []string{";pwd=$(pwd)", ";pwd=/{lower:6}/{lower:6}"}},
		{ID: "kubernetes-secret", Severity: High, placed: true, words: []string{"data:"}, lookIn: manifest,
			Match: []string{"kind: {secret}\ntype: Opaque\ndata:\n  dsn: {base64:40}\n", "data:\n  dsn: {base64:40}\n  x: \"{base64:12}\"\nkind: {secret}\n",
				`{"content":"kind: {secret}\nstringData:\n  dsn: {alnum:8}\n"}`},
			Avoid: []string{"kind: ConfigMap\ndata:\n  level: debug\n", "kind: {secret}\n---\nkind: ConfigMap\ndata:\n  dsn: x\n", "kind: {secret}\ndata: {}\n", "data:\n  a: b\nkind: SecretStore\n"}},
		{ID: pairID, Severity: High, mark: Marker, Match: []string{"{lower:6}:{alnum:10}@{lower:6}.test"}, Avoid: []string{"3:4@scale", "10:30@noon", "mailto:a@host.test"}},
		{ID: NamedSecret, Severity: High, placed: true, lookIn: namedValue,
			words: []string{"pass", "pwd", "secret", "token", "cookie", "session", "sessid", "sig", "auth", "cred", "webhook", "bearer", "jwt", "key"},
			Match: []string{"DB_PASSWORD={alnum:12}", `"apiKey": "{alnum:12}"`, "client_secret: {alnum:12}1", `export TOKEN='{alnum:12}'`},
			Avoid: []string{"token := next()", "password: string", `"max_tokens": 4096`, "secret = ${SECRET}"}},
	}
}

// personalRules are those of personal data.
func personalRules() []Rule {
	return []Rule{
		{ID: emailID, Severity: Low, from: Transcripts, Match: []string{"write to {lower:8}@{lower:6}.test"}, Avoid: []string{"git@host.test:a/b.git", "a@b", "logo@2x.png"}},
		{ID: "home-folder", Severity: Low, from: PublicDataset, placed: true, words: []string{"/home/", "/users/", `\users\`, `\\users\\`}, look: homeFolder,
			Match: []string{"/home/{lower:6}/x", `C:\Users\{lower:6}\x`}, Avoid: []string{"/home/", "at /home or so"}},
	}
}

// NamedSecret is the rule of values that only their names call secret.
const NamedSecret = "named-secret"

const (
	emailID = "email"
	pairID  = "user-and-password"
)
