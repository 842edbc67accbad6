// Testlog reads the output of go test -json: it prints a line for each package and the output of what failed, and fails where a
// test failed, where a test was skipped because something is missing here, or where no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// applies begins the reason of a skip that says nothing about the machine: the case does not exist for what is tested.
const applies = "not applicable: "

type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func main() {
	output := map[string]*strings.Builder{}
	passed, failed, skipped, bad := 0, 0, 0, false
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			os.Stdout.Write(line) // what the build says
			continue
		}
		key := e.Package + " " + e.Test
		if output[key] == nil {
			output[key] = &strings.Builder{}
		}
		switch e.Action {
		case "output", "build-output":
			output[key].WriteString(e.Output)
			if e.Action == "build-output" {
				fmt.Print(e.Output)
			}
			continue
		case "pass", "fail", "skip":
		default:
			continue
		}
		text := output[key].String()
		delete(output, key)
		switch {
		case e.Test == "":
			if e.Action != "skip" { // a package without tests
				fmt.Printf("%-5s %s %.1fs\n", map[string]string{"pass": "ok", "fail": "FAIL"}[e.Action], e.Package, e.Elapsed)
			}
			if e.Action == "fail" {
				bad = true
				fmt.Print(text)
			}
		case e.Action == "pass":
			passed++
		case e.Action == "fail":
			failed++
			fmt.Printf("--- FAIL: %s\n%s", key, text)
		case strings.Contains(text, applies):
			skipped++
		default:
			bad = true
			fmt.Printf("--- SKIP: %s\n%s", key, text)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if bad || failed > 0 || passed == 0 {
		os.Exit(1)
	}
}
