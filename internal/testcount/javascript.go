package testcount

import (
	"regexp"
	"strings"
)

// jest reads the summary "Tests:  1 failed, 2 passed, 3 total" below that of the suites.
type jest struct {
	result tally
	suites bool // their line came, so that of the tests is next
}

func (*jest) name() string { return "jest" }

var (
	jestSuites = regexp.MustCompile(`^Test Suites: .*\d+ total$`)
	jestTests  = regexp.MustCompile(`^Tests: +(?:(.*), )?\d+ total$`)
	jestNone   = regexp.MustCompile(`^No tests found, exiting with code \d$`)
)

func (j *jest) line(text string) {
	switch {
	case strings.HasPrefix(text, "Test Suites: ") && jestSuites.MatchString(text):
		j.result.seen, j.result.doubt = true, j.result.doubt || j.suites
		j.suites = true
	case strings.HasPrefix(text, "Tests:") && j.suites:
		j.suites = false
		match := jestTests.FindStringSubmatch(text)
		if match == nil {
			j.result.doubt = true
			return
		}
		if match[1] == "" {
			return
		}
		n, ok := sum(strings.Split(match[1], ", "), map[string]bool{"passed": true, "failed": true, "skipped": false, "todo": false})
		j.result.tests += n
		j.result.doubt = j.result.doubt || !ok
	case strings.HasPrefix(text, "No tests found, ") && jestNone.MatchString(text):
		j.result.seen = true
	}
}

func (j *jest) tally() tally {
	j.result.doubt = j.result.doubt || j.suites
	return j.result
}

// vitest reads the summary "Tests  1 failed | 2 passed (3)" below that of the files.
type vitest struct {
	result tally
	files  bool
}

func (*vitest) name() string { return "vitest" }

var (
	vitestFiles = regexp.MustCompile(`^ *Test Files  .*(\(\d+\)|no tests)$`)
	vitestTests = regexp.MustCompile(`^ *Tests  (?:no tests|(.*) \(\d+\))$`)
	vitestNone  = regexp.MustCompile(`^No test files found, exiting with code \d$`)
)

func (v *vitest) line(text string) {
	switch {
	case strings.Contains(text, "Test Files  ") && vitestFiles.MatchString(text):
		v.result.seen, v.result.doubt = true, v.result.doubt || v.files
		v.files = true
	case v.files && strings.HasPrefix(strings.TrimLeft(text, " "), "Tests  "):
		v.files = false
		match := vitestTests.FindStringSubmatch(text)
		if match == nil {
			v.result.doubt = true
			return
		}
		if match[1] == "" {
			return
		}
		n, ok := sum(strings.Split(match[1], " | "), map[string]bool{"passed": true, "failed": true, "expected fail": true, "skipped": false, "todo": false})
		v.result.tests += n
		v.result.doubt = v.result.doubt || !ok
	case strings.HasPrefix(text, "No test files found, ") && vitestNone.MatchString(text):
		v.result.seen = true
	}
}

func (v *vitest) tally() tally {
	v.result.doubt = v.result.doubt || v.files
	return v.result
}
