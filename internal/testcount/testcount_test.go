package testcount_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/internal/testcount"
)

func known(tests int, runner string) testcount.Count {
	return testcount.Count{Known: true, Tests: tests, Runner: runner}
}

func unknown(runner string) testcount.Count { return testcount.Count{Runner: runner} }

func count(text string) testcount.Count {
	var c testcount.Counter
	fmt.Fprint(c.Stdout(), text)
	return c.Count()
}

// TestRealOutputs has every file of testdata: what it counts was counted by hand.
func TestRealOutputs(t *testing.T) {
	want := map[string]testcount.Count{
		"go-v.txt": known(8, "go"), "go-json.txt": known(8, "go"), "go-cover.txt": known(8, "go"), "go-binary.txt": known(8, "go"),
		"go-v-fail.txt": known(10, "go"), "go-v-midline.txt": known(2, "go"),
		"go-plain.txt": unknown("go"), "go-plain-fail.txt": unknown("go"),
		"go-none-v.txt": known(0, "go"), "go-none-json.txt": known(0, "go"), "go-nofiles.txt": known(0, "go"),
		"go-buildfail.txt": known(0, "go"), "go-buildfail-json.txt": known(0, "go"),
		"pytest.txt": known(4, "pytest"), "pytest-q.txt": known(4, "pytest"), "pytest-fail-color.txt": known(5, "pytest"),
		"pytest-none.txt": known(0, "pytest"), "pytest-q-none.txt": known(0, "pytest"), "pytest-collect.txt": known(0, "pytest"),
		"pytest-junit.xml.txt": known(3, "junit"), // an expected failure is written as skipped there
		"jest.txt":             known(2, "jest"), "jest-fail-color.txt": known(3, "jest"), "jest-none.txt": known(0, "jest"), "jest-notfound.txt": known(0, "jest"),
		"vitest.txt": known(3, "vitest"), "vitest-fail-color.txt": known(4, "vitest"), "vitest-none.txt": known(0, "vitest"), "vitest-notfound.txt": known(0, "vitest"),
		"vitest-tap.txt": known(3, "tap"), "vitest-tap-flat.txt": known(3, "tap"), "vitest-junit.txt": known(3, "junit"),
		"node-tap.txt": known(2, "tap"), "node-tap-empty.txt": known(0, "tap"), "node-junit.txt": known(2, "junit"),
		"perl-tap.txt": known(2, "tap"), "prove-v.txt": known(2, "tap"),
		"cargo.txt": known(4, "cargo"), "cargo-fail-color.txt": known(3, "cargo"), "cargo-none.txt": known(0, "cargo"),
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want) {
		t.Errorf("%d files, %d expectations", len(files), len(want))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if got := count(string(data)); got != want[name] {
			t.Errorf("%s: %+v, want %+v", name, got, want[name])
		}
		if got := count(strings.ReplaceAll(string(data), "\n", "\r\n")); got != want[name] {
			t.Errorf("%s with CRLF: %+v, want %+v", name, got, want[name])
		}
		// In any pieces it is the same.
		var c testcount.Counter
		for i := range data {
			if _, err := c.Stderr().Write(data[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.Count(); got != want[name] {
			t.Errorf("%s byte by byte: %+v, want %+v", name, got, want[name])
		}
	}
}

func TestCount(t *testing.T) {
	goPassed := "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n"
	pytest := "3 passed in 0.01s\n"
	for name, tt := range map[string]struct {
		text string
		want testcount.Count
	}{
		"nothing":                       {"", unknown("")},
		"no runner":                     {"all good\nok\n3 passed\nTests: 3\nPASS\n1..3\n", unknown("")},
		"several runs":                  {goPassed + goPassed, known(2, "go")},
		"several runners":               {goPassed + pytest, known(4, "go+pytest")},
		"one of them unknown":           {"ok  \tp\t0.1s\n" + pytest, unknown("go+pytest")},
		"one package without -v":        {goPassed + "ok  \tq\t0.1s\n", unknown("go")},
		"only skipped":                  {"=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", known(0, "go")},
		"cached":                        {strings.Replace(goPassed, "0.1s", "(cached)", 1), known(1, "go")},
		"panic":                         {"=== RUN   TestA\n--- FAIL: TestA (0.00s)\npanic: no\n=== RUN   TestB\nFAIL\tp\t0.1s\nFAIL\n", unknown("go")},
		"cut":                           {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n", unknown("go")},
		"cut after the last":            {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n", unknown("go")},
		"result of a long line":         {"=== RUN   TestA\n" + strings.Repeat("x", 1<<20) + "--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", known(1, "go")},
		"result that a test made up":    {"=== RUN   TestA\n--- PASS: TestZ (0.00s)\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", unknown("go")},
		"JSON that is cut":              {`{"Action":"start","Package":"p"}` + "\n" + `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n", unknown("go")},
		"JSON of test2json":             {`{"Action":"run","Test":"TestA"}` + "\n" + `{"Action":"pass","Test":"TestA"}` + "\n" + `{"Action":"pass"}` + "\n", known(1, "go")},
		"JSON of somebody else":         {`{"Action":"run"` + "\n" + `{"level":"info"}` + "\n", unknown("")},
		"pytest, long":                  {"===== 1 failed, 2 passed, 1 error, 3 warnings in 75.01s (0:01:15) =====\n", known(3, "pytest")},
		"pytest, words unknown":         {"2 passed, 1 quarantined in 0.01s\n", unknown("")},
		"pytest, too many":              {"99999999999999999999 passed in 0.01s\n", unknown("")},
		"jest without a word on tests":  {"Test Suites: 1 passed, 1 total\n", unknown("jest")},
		"jest, words unknown":           {"Test Suites: 1 passed, 1 total\nTests:       1 maybe, 1 total\n", unknown("jest")},
		"jest, none":                    {"Test Suites: 0 total\nTests:       0 total\n", known(0, "jest")},
		"Tests: without jest":           {"Tests:       5 passed, 5 total\n", unknown("")},
		"vitest, words unknown":         {" Test Files  1 passed (1)\n      Tests  1 odd (1)\n", unknown("vitest")},
		"vitest, none":                  {" Test Files  1 failed (1)\n      Tests  no tests\n", known(0, "vitest")},
		"cargo without an end":          {"running 3 tests\n", unknown("")},
		"cargo, second without an end":  {"running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\nrunning 3 tests\n", unknown("cargo")},
		"TAP, plan at the end":          {"ok 1\nnot ok 2 - b\n1..2\n", known(2, "tap")},
		"TAP, all skipped":              {"TAP version 13\n1..0 # SKIP no database\n", known(0, "tap")},
		"TAP, one lost":                 {"1..3\nok 1\nok 2\n", unknown("tap")},
		"TAP, one more":                 {"1..1\nok 1\nok 2\n", unknown("tap")},
		"TAP, no plan":                  {"TAP version 14\nok 1\n", unknown("tap")},
		"TAP, bail out":                 {"1..2\nok 1\nok 2\nBail out! no disk\n", unknown("tap")},
		"TAP, hash in a name":           {"1..2\nok 1 - issue \\# skip\nok 2 - b # TODO later\n", known(1, "tap")},
		"TAP, two documents":            {"1..1\nok 1\n1..2\nok 1\nok 2\n", known(3, "tap")},
		"TAP, too deep":                 {"1..1\n" + strings.Repeat(" ", 400) + "ok 1\n", unknown("tap")},
		"junit":                         {"log <b>\n<testsuite><testcase name='a>b'/><testcase><failure><![CDATA[<testcase>]]></failure></testcase></testsuite>\n", known(2, "junit")},
		"junit, skipped in two ways":    {`<testsuites><testsuite><testcase status="notrun"/><testcase><skipped/><skipped/></testcase><!-- <testcase/> --></testsuite></testsuites>`, known(0, "junit")},
		"junit, empty":                  {`<?xml version="1.0"?><testsuites/>`, known(0, "junit")},
		"junit, cut":                    {`<testsuite><testcase/>`, unknown("junit")},
		"junit, other roots":            {`<testsuitesX><testcase/></testsuitesX><html><testcase/></html>`, unknown("")},
		"junit, nested cases":           {`<testsuite><testcase><testcase/></testcase></testsuite>`, unknown("junit")},
		"junit beside another":          {`<testsuite><testcase/></testsuite>` + "\n" + pytest, unknown("junit+pytest")},
		"lesser than":                   {"1 < 2 <testsuite><testcase/></testsuite>", known(1, "junit")},
		"colours in the middle of it":   {"\x1b[1m3\x1b[0m pass\x1b(Bed\x1b]8;;x\x07 in \x1b[31m0.01s\x1b[m\n", known(3, "pytest")},
		"written over by a progress":    {"50%\r100%\r3 passed in 0.01s", known(3, "pytest")},
		"an escape at the end":          {"3 passed in 0.01s\x1b", known(3, "pytest")},
		"a link without its end":        {"3 passed in 0.01s\x1b]8;;", known(3, "pytest")},
		"only blanks before a carriage": {"\r\n\r\n", unknown("")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := count(tt.text); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestStreamsAreApart: a line of one does not end up in a line of the other, and both count.
func TestStreamsAreApart(t *testing.T) {
	var c testcount.Counter
	fmt.Fprint(c.Stdout(), "3 pas")
	fmt.Fprint(c.Stderr(), "warning: x\n2 passed in 0.01s\n")
	fmt.Fprint(c.Stdout(), "sed in 0.01s")
	if got := c.Count(); got != known(5, "pytest") {
		t.Errorf("%+v", got)
	}
}

// TestOutputOfAnySizeIsCountedInLittleMemory: one line of 64 MB, and as much in lines.
func TestOutputOfAnySizeIsCountedInLittleMemory(t *testing.T) {
	var c testcount.Counter
	long := []byte(strings.Repeat("<x y='", 1<<16))
	allocated := testing.AllocsPerRun(1, func() {
		for range 64 {
			if _, err := c.Stdout().Write(long); err != nil {
				t.Fatal(err)
			}
		}
	})
	fmt.Fprint(c.Stdout(), "\n1 passed in 0.01s\n")
	if got := c.Count(); got != known(1, "pytest") || allocated > 1000 {
		t.Errorf("%+v, %g allocations", got, allocated)
	}
}

// FuzzCount: any output in any pieces gives one count, and never a negative one.
func FuzzCount(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(len(data)))
	}
	f.Add([]byte("<testsuite></testcase></testsuite></x>"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		whole := count(string(data))
		var c testcount.Counter
		for rest := data; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			if _, err := c.Stdout().Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got := c.Count(); got != whole {
			t.Errorf("%+v whole, %+v in pieces", whole, got)
		}
		if whole.Tests < 0 || !whole.Known && whole.Tests != 0 || whole.Known && whole.Runner == "" {
			t.Errorf("%+v", whole)
		}
	})
}
