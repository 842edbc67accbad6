package redact_test

import (
	"fmt"
	"os"

	"aesop/redact"
)

func Example() {
	r, err := redact.New(redact.Config{})
	if err != nil {
		panic(err)
	}
	if err := r.Register("open sesame"); err != nil {
		panic(err)
	}
	fmt.Println(r.String(`said "open sesame" to {"password": "correct horse"}`))
	// Output: said "[REDACTED:known-value]" to {"password": "[REDACTED:named-secret]"}
}

func ExampleRedactor_NewWriter() {
	r, err := redact.New(redact.Config{})
	if err != nil {
		panic(err)
	}
	w := r.NewWriter(os.Stdout)
	for _, chunk := range []string{"clone https:/", "/builder:hun", "ter2@host.example/a.git\n"} { // a child writes as it likes
		if _, err := w.Write([]byte(chunk)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	// Output: clone https://[REDACTED]@host.example/a.git
}

func ExampleRedactor_Explain() {
	r, err := redact.New(redact.Config{})
	if err != nil {
		panic(err)
	}
	for _, f := range r.Explain([]byte("export DEPLOY_PASSWORD=correct-horse\n")) {
		fmt.Printf("%s, %s, bytes %d to %d\n", f.Rule, f.Severity, f.Start, f.End)
	}
	// Output: named-secret, high, bytes 23 to 36
}
