package redact_test

import (
	"strings"
	"testing"

	"aesop/redact"
)

// TestPasswordsThatLookLikeSomethingElse: like templates, like prose, like numbers. § is where the value stands.
func TestPasswordsThatLookLikeSomethingElse(t *testing.T) {
	r := redactor(t, redact.Logs)
	for _, row := range []struct{ text, value string }{
		{"DB_PASSWORD='§'", "ab$sword1"},
		{"DB_PASSWORD='§'", "pa$$w0rd"},
		{`{"password": "§"}`, "pa$$w0rd1"},
		{`password: "§"`, "Qx{word}9z"},
		{"DB_PASSWORD=§", "<abc>9x"},
		{"mysql -u root -p'§' db", "ab$cdefgh"},
		{"Authorization: Bearer §", "sunflowerfield"},
		{"AccountKey=§;", "8271936455"},
		{"run --token=§", "8271936455"},
		{`{"db_password":{"value":"§","type":"string"}}`, "sunflowerfield"},
		{`{"ParameterKey":"DBPassword","ParameterValue":"§"}`, "sunflowerfield"},
		{`#define PASSWORD "§"`, "sunflowerfield"},
		{"DB_PASSWORD=§", "pa$$w0rd!x"},
		{"DB_PASSWORD=§", "Kx$dfQ2zz"},
		{`DB_PASSWORD="§"`, "Kx$dfQ{2z"},
		{`"client_secret": "§"`, "Zq7 pL9 xW2 mK4"},
		{"password: §\nuser: x", "abcd1"},
	} {
		if got := r.String(strings.ReplaceAll(row.text, "§", row.value)); strings.Contains(got, row.value) || !strings.Contains(got, "[REDACTED") {
			t.Errorf("%s with %s becomes %s", row.text, row.value, got)
		}
	}
	for _, text := range []string{"url = f\"https://{user}:{password}@{host}\"", "see authorization: see documentation", "password: {{ .Values.password }}", `"password": "<your password>"`} {
		if got := r.String(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
