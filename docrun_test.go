//go:build unix

package aesop_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of a page. Its info string says what it is:
//
//	sh            commands, which are executed; with exit=N the last of them must end so
//	LANG file=F   is written to the file F
//	text          what the block before printed on standard output; … at the end of a line stands for the rest, also of any lines
//
// One without any is a drawing.
type block struct {
	line int // of the fence, in the page
	lang string
	file string
	exit int
	body string
}

// blocks reads the blocks of a page.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	var all []block
	var open *block
	for n, line := range strings.Split(page, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case !fence && open != nil:
			open.body += line + "\n"
		case !fence:
		case open != nil:
			all = append(all, *open)
			open = nil
		default:
			open = &block{line: n + 1}
			for i, word := range strings.Fields(info) {
				key, value, _ := strings.Cut(word, "=")
				code, err := strconv.Atoi(value)
				switch {
				case i == 0:
					open.lang = word
				case key == "file":
					open.file = value
				case key == "exit" && err == nil:
					open.exit = code
				default:
					t.Fatalf("line %d: %q says nothing about a block", n+1, word)
				}
			}
		}
	}
	if open != nil {
		t.Fatalf("the block of line %d does not end", open.line)
	}
	return all
}

// script is a program for sh that does what the blocks say, and keeps what each prints.
func script(t *testing.T, all []block, out string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "set -e\n")
	for i, block := range all {
		fmt.Fprintf(&b, "echo %d >'%s/at'\nexec >'%s/%d' 2>'%s/%d.err'\n", block.line, out, out, block.line, out, block.line)
		switch {
		case block.file != "":
			fmt.Fprintf(&b, "mkdir -p \"$(dirname '%s')\"\ncat >'%s' <<'END OF BLOCK'\n%sEND OF BLOCK\n", block.file, block.file, block.body)
		case block.lang == "sh" && block.exit != 0:
			fmt.Fprintf(&b, "set +e\n(set -e\n%s)\ncode=$?\nset -e\n[ $code = %d ] || { echo \"exit $code\" >&2; exit 1; }\n", block.body, block.exit)
		case block.lang == "sh":
			b.WriteString(block.body)
		case block.lang == "text" && i > 0 && all[i-1].lang == "sh" && all[i-1].file == "":
		case block.lang == "": // a drawing
		default:
			t.Errorf("line %d: the block is neither executed nor written nor the output of one", block.line)
		}
	}
	return b.String()
}

// follow does what a page says, from a folder beside a checkout of this module. prepare makes what else is there. The rest is a machine
// like a stranger's: an empty home but for an identity, and the agents that are played.
func follow(t *testing.T, page, from string, prepare func(dir string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, out := filepath.Join(dir, "home"), filepath.Join(dir, "out")
	asStranger(t, "", "")
	copyTree(t, repositoryRoot(t), filepath.Join(dir, "aesop"))
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = You\n\temail = you@example.com\n")
	write(t, filepath.Join(out, "at"), "")
	fakes(t, filepath.Join(dir, "fakes"))
	prepare(dir)
	all := blocks(t, readFile(t, page))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script(t, all, out))
	cmd.Dir = filepath.Join(dir, from)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "XDG_") || strings.HasPrefix(e, "AESOP_") })
	cmd.Env = append(cmd.Env, "HOME="+home, "PWD="+cmd.Dir, "GIT_CONFIG_NOSYSTEM=1", "GOPROXY="+proxy(t), "GOSUMDB=off", // what is here was checked when it came
		"PATH="+strings.Join([]string{filepath.Join(dir, "fakes"), filepath.Join(home, "bin"), os.Getenv("PATH")}, string(os.PathListSeparator)))
	said, err := cmd.CombinedOutput()
	at := strings.TrimSpace(readFile(t, filepath.Join(out, "at")))
	if err != nil {
		t.Fatalf("%s, block of line %s: %v\n%s%s%s", page, at, err, said, readFile(t, filepath.Join(out, at)), readFile(t, filepath.Join(out, at+".err")))
	}
	for i, block := range all {
		if block.lang != "text" {
			continue
		}
		got := usual(readFile(t, filepath.Join(out, strconv.Itoa(all[i-1].line))), home, dir)
		if want := usual(block.body, home, dir); !matches(want, got) {
			t.Errorf("%s, line %d: the page shows\n%s\nit printed\n%s", page, block.line, want, got)
		}
	}
}

// proxy takes modules from the download cache first.
func proxy(t *testing.T) string {
	t.Helper()
	return "file://" + filepath.ToSlash(filepath.Join(os.Getenv("GOMODCACHE"), "cache", "download")) + "," + strings.TrimSpace(goEnv(t, "GOPROXY"))
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// usual is a text with what differs from run to run made equal.
func usual(text, home, dir string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, home, "/home/you"), dir, "/home/you")
	for _, r := range []struct{ pattern, with string }{
		{`\b\d{8}-\d{6}-[0-9a-f]{4}\b`, "WAVE"},
		{`aesop/[0-9a-f]{12}\b`, "aesop/REPOSITORY"},
		{`\b[0-9a-f]{40}\b`, "SHA"},
		{`\b[0-9a-f]{16}\b`, "ATTEMPT"},
		{`\b[0-9a-f]{10}\b`, "SHORT"},
		{`\b\d{4}-\d\d-\d\dT[0-9:.]+Z`, "TIME"},
		{`[0-9.]+m?s\b`, "DURATION"},
		{`(?m)[ \t]+$`, ""},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	return text
}

// matches compares texts in which the first may leave lines out.
func matches(want, got string) bool {
	parts := strings.Split(regexp.QuoteMeta(want), "…\n")
	return regexp.MustCompile(`\A` + strings.Join(parts, `(?s:.*)`) + `\z`).MatchString(got)
}

// fakes are played agents: a claude that talks as the real one, and a my-agent that takes what examples/customdriver gives.
func fakes(t *testing.T, dir string) {
	t.Helper()
	const work = `cat >/dev/null
case $AESOP_SLUG in
first-item) echo 'Hello, reader.' >hello.txt ;;
tax) mkdir -p tests; echo 'tax() { echo $(($1 * 119 / 100)); }' >tax.sh; printf '. ./tax.sh\n. ./deps/check.sh\ncheck 119 "$(tax 100)"\n' >tests/tax.sh ;;
round) mkdir -p tests; echo 'round() { echo $((($1 + 5) / 10 * 10)); }' >round.sh; printf '. ./round.sh\n. ./deps/check.sh\ncheck 30 "$(round 27)"\n' >tests/round.sh ;;
double) printf 'package mathx\n\n// Double is n and n.\nfunc Double(n int) int { return 2 * n }\n' >double.go
	printf 'package mathx\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Error("no")\n\t}\n}\n' >double_test.go ;;
esac
`
	const session = "b08ee51a-7e89-4ad9-8334-080c9491d66b"
	for name, text := range map[string]string{
		"claude": work + `echo '{"type":"system","subtype":"init","session_id":"` + session + `"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"` + session + `","terminal_reason":"completed"}'
`,
		"my-agent": work + `echo '{"model": "'"$2"'", "input": 900, "output": 40}' >"$AESOP_ATTEMPT_DIR/usage.json"
`} {
		write(t, filepath.Join(dir, name), "#!/bin/sh\nset -e\n"+text)
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
