package testcount

import (
	"encoding/json"
	"regexp"
	"strings"
)

// golang reads the output of go test. Only -v tells of every test; without it, a package that is ok says nothing.
type golang struct {
	chunk  goChunk // since the last package ended
	total  int
	unsure bool
	any    bool
}

// goChunk is what was said of one package.
type goChunk struct {
	started, ended, skipped int
	verdict                 bool // a line PASS or FAIL, as the test binary ends with
}

func (*golang) name() string { return "go" }

// goResult is the line by which a test ends. It may stand behind what the test wrote without ending its line.
var goResult = regexp.MustCompile(`--- (PASS|FAIL|SKIP): \S+ \(\d+\.\d\ds\)$`)

func (g *golang) line(text string) {
	switch {
	case strings.HasPrefix(text, "=== RUN   "):
		g.chunk.started++
	case strings.HasSuffix(text, "s)"):
		if match := goResult.FindStringSubmatch(text); match != nil {
			g.chunk.ended++
			if match[1] == "SKIP" {
				g.chunk.skipped++
			}
		}
	case text == "PASS" || text == "FAIL":
		g.chunk.verdict = true
	case strings.HasPrefix(text, "ok  \t"):
		g.close(strings.HasSuffix(text, "[no tests to run]"))
	case strings.HasPrefix(text, "?   \t"):
		g.close(strings.HasSuffix(text, "[no test files]"))
	case strings.HasPrefix(text, "\t") && strings.Contains(text, "\t\tcoverage: "): // a package without tests, under -cover
		g.any = true
	case strings.HasPrefix(text, "FAIL\t"):
		g.close(strings.HasSuffix(text, "[build failed]") || strings.HasSuffix(text, "[setup failed]"))
	}
}

// close ends a package. none says that go itself said that no test ran.
func (g *golang) close(none bool) {
	c := g.chunk
	g.any, g.chunk = true, goChunk{}
	switch {
	case c.started > 0 && c.started == c.ended:
		g.total += c.ended - c.skipped
	case c.started > 0 || c.ended > 0 || !none:
		g.unsure = true
	}
}

func (g *golang) tally() tally {
	if g.chunk.started > 0 || g.chunk.ended > 0 { // a test binary without go around it, or a run that was cut
		if !g.chunk.verdict {
			g.unsure = true
		}
		g.close(false)
	}
	return tally{g.any, g.total, g.unsure}
}

// goJSON reads the output of go test -json, and of test2json.
type goJSON struct {
	open                    map[string]bool // packages that began and have not ended
	started, ended, skipped int
	any, lost               bool
}

func (*goJSON) name() string { return "go" }

func (g *goJSON) line(text string) {
	if !strings.HasPrefix(text, `{"`) || !strings.Contains(text, `"Action":"`) {
		return
	}
	var event struct{ Action, Package, Test string }
	if json.Unmarshal([]byte(text), &event) != nil {
		return // a line too long to be kept whole is output of a test, not its end
	}
	switch event.Action {
	case "start":
		g.begin(event.Package)
	case "run":
		g.begin(event.Package)
		g.started++
	case "pass", "fail", "skip":
		g.any = true
		if event.Test == "" {
			delete(g.open, event.Package)
			return
		}
		g.ended++
		if event.Action == "skip" {
			g.skipped++
		}
	}
}

func (g *goJSON) begin(name string) {
	if g.open == nil {
		g.open = map[string]bool{}
	}
	g.any = true
	if len(g.open) < maxPackages {
		g.open[name] = true
	} else {
		g.lost = true
	}
}

// maxPackages bounds what is kept of packages at work at the same time.
const maxPackages = 1 << 12

func (g *goJSON) tally() tally {
	return tally{g.any, g.ended - g.skipped, g.lost || len(g.open) > 0 || g.started != g.ended}
}
