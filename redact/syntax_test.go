package redact_test

import (
	"strings"
	"testing"

	"aesop/redact"
)

// TestWaysToWriteASecret has texts with @ where the secret is. It goes, and what is around it stays.
func TestWaysToWriteASecret(t *testing.T) {
	r := redactor(t, redact.Logs)
	for _, shape := range []string{
		// Settings.
		"password: |\n  @\nother: x",
		"password: >-\n    @\n\n    @\nother: x",
		`{"content":"db:\n  password: |\n    @\n  x: y"}`,
		"password = '''@'''",
		"password = \"\"\"\n@\"\"\"",
		`<add key="ApiKey" value="@" />`,
		`<property name="password" value="@"/>`,
		`<string name="api_key">@</string>`,
		`<meta name="csrf-token" content="@">`,
		"<wsse:Password>@</wsse:Password>",
		"ENV DB_PASSWORD @",
		// Headers, forms and terminals.
		`{"authorization":["Bearer @"],"x":1}`,
		`http.Header{"X-Api-Key":[]string{"@"}}`,
		"Content-Disposition: form-data; name=\"password\"\r\n\r\n@\r\n--x--",
		"DB_PASSWORD=" + "\x1b[32m@\x1b[0m",
		"\x1b[36mpassword\x1b[0m: " + "\x1b[32m@\x1b[0m",
		`"\u001b[36mpassword\u001b[0m: \u001b[32m@"`,
		// Code.
		`let password: &str = "@";`,
		`var password string = "@"`,
		`char password[32] = "@";`,
		`user.setPassword("@");`,
		`builder.password("@")`,
		`define( 'AUTH_KEY', '@' );`,
		// Databases.
		"CREATE USER x IDENTIFIED BY '@';",
		"ALTER USER x IDENTIFIED WITH mysql_native_password BY '@';",
		"CREATE ROLE x LOGIN PASSWORD '@';",
		"Server=h;Database=d;Uid=sa;Pwd=@;Encrypt=true",
		"x:@@tcp(127.0.0.1:3306)/db",
		// Commands.
		"sshpass -p '@' ssh x",
		"mysql -uroot -p@ db",
		"redis-cli -h h -a @ ping",
		"docker login -u x -p @ registry.test",
		"ldapsearch -D cn=x -w @ -b dc=y",
		"openssl rsa -in k -passin pass:@",
		"curl --proxy-user x:@ https://x.test",
	} {
		for _, value := range []string{"kX9mP2vL8qR4", "Tr0ub4dor!3"} {
			text := strings.Replace(strings.ReplaceAll(shape, "@", value), value+value+"tcp", value+"@tcp", 1)
			got := r.String(text)
			if strings.Contains(got, value) || len(got) > len(text)+len(text)/2+30 {
				t.Errorf("%q becomes %q", text, got)
			}
			properties(t, r, []byte(text), 1)
		}
	}
}

func TestWhatOnlyLooksLikeThem(t *testing.T) {
	r := redactor(t, redact.Logs)
	for _, text := range []string{
		"mysql -u root -p mydatabase", "mkdir -p some/f0lder", "ls -a f0lder1", "docker run -p 8080:80 image1", "git log -p HEAD~10", "go test ./... -w 12345",
		"a header identified by `name1`", "token: |\nx: y", `currentToken = ['word1', x]`, `<a class="token">word1</a>`, "BadToken  Reason = \"bad-1\"",
		`t.Log("password") // "x1"`, "tests pass:1234 fail:0",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestALongSecretOfKubernetesGoesWhole: also what is further from its beginning than a writer looks ahead.
func TestALongSecretOfKubernetesGoesWhole(t *testing.T) {
	r := redactor(t, redact.Logs)
	text := "kind: Secret\ndata:\n" + strings.Repeat("  a: "+strings.Repeat("QUJD", 100)+"\n", 100) + "  dsn: Zm9vYmFy\nmetadata:\n  name: x\n"
	got := r.String(text)
	if strings.Contains(got, "QUJD") || strings.Contains(got, "Zm9vYmFy") || !strings.HasSuffix(got, "\nmetadata:\n  name: x\n") {
		t.Errorf("%d bytes stay: …%q", len(got), got[max(0, len(got)-200):])
	}
	properties(t, r, []byte(text), 1)
}
