package scan_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"aesop/redact/scan"
)

func Example() {
	dir, err := os.MkdirTemp("", "scan-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text := "region = eu\nkey = " + "AK" + "IA" + strings.Repeat("Q7", 8) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "app.conf"), []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	result, err := scanner.Paths(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Findings {
		fmt.Println(filepath.Base(f.Path), f.Line, f.Column, f.Rule, f.Length)
	}
	fmt.Println(result.Summary())
	// Output:
	// app.conf 2 7 aws-access-key-id 20
	// FOUND: 1 secret (1 file scanned)
}
