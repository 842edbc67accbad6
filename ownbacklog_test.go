//go:build unix

package aesop_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop"
	"aesop/driver/drivertest/modelserver"
	"aesop/internal/agentproc/agenttest"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// TestOwnBacklog: aesop works off its own backlog with its own programs. The real codex builds a command in a clone that lacks it, the
// real tests of the packages run in the wave, and what ships is the very tree that was taken apart; then once more with a person who
// approves only what they have corrected. Both waves compile from scratch, which takes a minute or more each.
func TestOwnBacklog(t *testing.T) {
	codex := agenttest.Installed(t, "codex")
	needsCheckout(t)
	keepGoCaches(t)
	programs := t.TempDir()
	output(t, "", "go", "build", "-buildvcs=false", "-o", programs, "./examples/wave", "./examples/tracker")

	t.Run("unattended", func(t *testing.T) {
		p := newProject(t, codex, programs)
		var report aesop.Report
		decode(t, output(t, p.repo, p.wave, "run", "--config", ownConfig, "--json"), &report)
		item := p.shipped(t, report)
		if tree := p.onRemote(t, "rev-parse", *item.Commit+"^{tree}"); tree != p.onRemote(t, "rev-parse", p.whole+"^{tree}") {
			t.Errorf("what shipped is not this tree:\n%s", p.onRemote(t, "diff", "--stat", p.whole, *item.Commit))
		}
		if len(item.Corrections)+len(item.Corrected)+len(item.Judgements) != 0 || report.Steps.Approve != "not_configured" {
			t.Errorf("corrections %q, corrected %+v, judgements %+v", item.Corrections, item.Corrected, item.Judgements)
		}
		p.commandWorks(t, *item.Commit, "has no items")
		p.allTestsRan(t, item)
	})

	t.Run("supervised", func(t *testing.T) {
		t.Setenv("AESOP_VERIFY", "go build ./tracker/...") // the command's scripts would compile all of aesop from scratch once more
		p := newProject(t, codex, programs)
		supervised := p.begin(t, "run", "--config", ownConfig, "--supervise", "--json")
		supervised.await(t, p, `waits for approval: template-validate at \w+ in wave \S+\n`)
		better := p.better(t)
		var made struct {
			Of, Commit string
			Verified   bool
		}
		decode(t, output(t, p.repo, p.wave, "correct", p.item.ID, "--config", ownConfig, "--from", better, "--reason", "say what to do", "--json"), &made)
		supervised.await(t, p, `waits for approval: template-validate .*its tests pass`)
		if refs := p.onRemote(t, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" || !made.Verified {
			t.Errorf("before the approval the remote has %q; the correction: %+v", refs, made)
		}
		output(t, p.repo, p.wave, "approve", p.item.ID, "--config", ownConfig, "--commit", made.Commit)
		var report aesop.Report
		decode(t, supervised.end(t), &report)

		item, zero := p.shipped(t, report), 0
		want := []wave.CorrectionReport{{By: "tester", Reason: "say what to do", Files: corrected(), Of: made.Of, Commit: item.Commit, Verified: true, TestExit: &zero}}
		if diff := cmp.Diff(want, item.Corrected); diff != "" || *item.Commit != made.Commit || len(item.Corrections) != 1 {
			t.Errorf("shipped %s; corrections %q, corrected %s", *item.Commit, item.Corrections, diff)
		}
		approved := []wave.JudgementReport{{Seat: "approve", OK: true, By: "tester"}}
		if diff := cmp.Diff(approved, item.Judgements); diff != "" || report.Steps.Approve != "done" {
			t.Errorf("approve is %s; judgements %s", report.Steps.Approve, diff)
		}
		if changed := p.onRemote(t, "diff", "--name-only", p.whole, *item.Commit); changed != strings.Join(corrected(), "\n") {
			t.Errorf("beside the correction, %q differs from this tree", changed)
		}
		for _, file := range corrected() {
			if git(t, p.remote, "show", *item.Commit+":"+file) != readFile(t, filepath.Join(better, file)) {
				t.Errorf("%s did not ship as it was corrected", file)
			}
		}
		p.commandWorks(t, *item.Commit, "has no items; write one")
		p.allTestsRan(t, item) // with that of the correction
	})
}

// keepGoCaches leaves the caches of the Go command where they are when the home folder is another. From here on nothing is fetched.
func keepGoCaches(t *testing.T) {
	t.Helper()
	output(t, "", "go", "list", "-deps", "-test", "./tracker/...", "./examples/...") // fetches what is missing
	var caches map[string]string
	decode(t, output(t, "", "go", "env", "-json", "GOCACHE", "GOMODCACHE"), &caches)
	for name, folder := range caches {
		t.Setenv(name, folder)
	}
	t.Setenv("GOPROXY", "off")
}

// project is a clone of this repository in which the command does not exist yet, and its remote.
type project struct {
	repo, remote  string
	base, whole   string // commits: of main, and of this tree as it is
	item          tracker.Item
	wave, tracker string // programs
	talk          *modelserver.Talk
}

func newProject(t *testing.T, codex, programs string) *project {
	t.Helper()
	dir := t.TempDir()
	newUser(t, filepath.Join(dir, "home"))
	t.Setenv("USER", "tester")
	p := &project{repo: filepath.Join(dir, "repo"), remote: filepath.Join(dir, "remote.git"), item: ownItem(t),
		wave: filepath.Join(programs, "wave"), tracker: filepath.Join(programs, "tracker")}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	commit := []string{"-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--allow-empty"}
	git(t, dir, "clone", "--quiet", "--single-branch", "--no-tags", "--no-checkout", root, p.repo)
	git(t, root, "--git-dir="+filepath.Join(p.repo, ".git"), "--work-tree="+root, "add", "--all") // also what is not committed
	git(t, p.repo, append(commit, "--message=The tree as it is")...)
	git(t, p.repo, "checkout", "--quiet", "--force", "-B", "main")
	p.whole = strings.TrimSpace(git(t, p.repo, "rev-parse", "HEAD"))
	git(t, p.repo, "apply", "--reverse", "--index", filepath.Join(root, ownPatch))
	git(t, p.repo, append(commit, "--message=Before the command")...)
	p.base = strings.TrimSpace(git(t, p.repo, "rev-parse", "HEAD"))
	git(t, dir, "clone", "--quiet", "--bare", "--single-branch", p.repo, p.remote)
	git(t, p.repo, "remote", "remove", "origin")
	git(t, p.repo, "remote", "add", "origin", p.remote)

	var steps []modelserver.Step
	for n, file := range patchOfFiles(t) {
		command := map[string]any{"cmd": "git apply <<'END OF PATCH'\n" + file.text + "END OF PATCH\n"}
		steps = append(steps, modelserver.Step{Calls: []modelserver.Call{{Name: "exec_command", Input: command}}, Usage: tokens(int64(n + 1))})
	}
	server := playedModels(t, codex, filepath.Join(dir, "home"))
	p.talk = server.Talk(p.item.Prompt, append(steps, modelserver.Step{Text: "The command exists.", Usage: tokens(20)})...)
	t.Cleanup(func() {
		for _, stray := range server.Strays() {
			t.Errorf("a request that no script is for: %q", stray.Texts)
		}
	})
	return p
}

// shipped checks what holds of every wave here, in the report, on the remote, and in the backlog.
func (p *project) shipped(t *testing.T, report aesop.Report) wave.ItemReport {
	t.Helper()
	if report.Outcome != journal.Good || report.Driver != "codex" || len(report.Items) != 1 || report.Base == nil || *report.Base != p.base {
		t.Fatalf("outcome %s, %+v", report.Outcome, report)
	}
	item := report.Items[0]
	if item.State != journal.StateShipped || !item.Pushed || item.Commit == nil || item.TestsRun == nil || item.TestOnBase == nil ||
		item.TestsOnBase == nil || item.SpotCheck == nil || item.Proof == nil {
		t.Fatalf("%+v", item)
	}
	if !item.Verified || *item.Proof != "counter_proved" || *item.TestOnBase != "passed" || *item.TestsOnBase == 0 ||
		*item.TestsRun <= *item.TestsOnBase || len(item.Attempts) != 1 || *item.SpotCheck != "passed" {
		t.Errorf("tests %d, on the base %d, proof %s, %+v", *item.TestsRun, *item.TestsOnBase, *item.Proof, item)
	}
	if want := served(p.talk, 0); anonymous(item.Usage) != want || !want.Metered {
		t.Errorf("used %+v, and %+v was served", item.Usage, want)
	}
	told := strings.Join(p.talk.Requests()[0].Texts, "\n")
	for _, text := range append([]string{p.item.Prompt, p.item.TestCmd.String()}, p.item.AcceptanceCriteria...) {
		if !strings.Contains(told, text) {
			t.Errorf("the agent was told %q, without %q", told, text)
		}
	}

	refs := fmt.Sprintf("%s refs/aesop/items/%s\n%[1]s refs/heads/aesop/%[3]s\n%[4]s refs/heads/main", *item.Commit, p.item.ID, report.Wave, p.base)
	if got := p.onRemote(t, "for-each-ref", "--format=%(objectname) %(refname)"); got != refs {
		t.Errorf("the remote has\n%s\nand not\n%s", got, refs)
	}
	if parent := p.onRemote(t, "rev-parse", *item.Commit+"^@"); parent != p.base {
		t.Errorf("what shipped stands on %s", parent)
	}
	if changed := p.onRemote(t, "diff", "--name-only", p.base, *item.Commit); changed != strings.Join(p.item.OwnsFiles, "\n") {
		t.Errorf("what shipped changes %q", changed)
	}
	if row := onlyItem(t, filepath.Join(p.repo, ownBacklog)); row.Status != tracker.Done || row.Shipped == nil || row.Shipped.Commit != *item.Commit {
		t.Errorf("the backlog says %s, %+v", row.Status, row.Shipped)
	}
	if dirty := git(t, p.repo, "status", "--porcelain"); dirty != " M "+ownBacklog+"\n" {
		t.Errorf("the user's repository was changed: %q", dirty)
	}
	return item
}

// onRemote is what git says there.
func (p *project) onRemote(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSuffix(git(t, p.remote, args...), "\n")
}

// commandWorks builds the command from the remote's commit and runs it. empty is what it says of a template without items.
func (p *project) commandWorks(t *testing.T, commit, empty string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "tracker")
	output(t, p.checkout(t, commit), "go", "build", "-buildvcs=false", "-o", program, "./examples/tracker")
	var document struct {
		OK        bool
		Templates []struct{ Valid bool }
	}
	decode(t, output(t, dir, program, "template", "validate", "--json"), &document)
	if !document.OK || len(document.Templates) == 0 || slices.ContainsFunc(document.Templates, func(t struct{ Valid bool }) bool { return !t.Valid }) {
		t.Errorf("the command says %+v", document)
	}
	write(t, filepath.Join(dir, "empty.json"), "[]")
	cmd := exec.CommandContext(t.Context(), program, "template", "validate", "empty.json")
	cmd.Dir = dir
	said, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || string(said) != "empty.json:1: "+empty+" (no_items)\n" {
		t.Errorf("of an empty template the command says %q: %v", said, err)
	}
}

// allTestsRan compares the report's count with what the wave's log and the Go command say: every test that there is has passed, and
// the count is theirs with their subtests.
func (p *project) allTestsRan(t *testing.T, item wave.ItemReport) {
	t.Helper()
	place, err := aesop.Locate(t.Context(), p.repo, aesop.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, log, found := strings.Cut(readFile(t, filepath.Join(place.State, item.Log)), fmt.Sprintf(" on %s: %s\n", (*item.Commit)[:10], item.TestCmd))
	log, _, ended := strings.Cut(log, "\n--- exit 0 after ")
	var passed, listed []string
	for _, match := range regexp.MustCompile(`(?m)^--- PASS: (\S+) `).FindAllStringSubmatch(log, -1) {
		passed = append(passed, match[1])
	}
	for line := range strings.Lines(output(t, p.checkout(t, *item.Commit), "go", "test", "-list", ".", "./tracker/template")) {
		if fields := strings.Fields(line); len(fields) == 1 {
			listed = append(listed, fields[0])
		}
	}
	slices.Sort(passed)
	slices.Sort(listed)
	all := len(regexp.MustCompile(`(?m)^ *--- PASS: `).FindAllString(log, -1))
	if !found || !ended || all != *item.TestsRun || !slices.Equal(passed, listed) {
		t.Errorf("%d tests in the report, %d in the log, of which %q; the Go command lists %q", *item.TestsRun, all, passed, listed)
	}
	t.Logf("%d tests were executed, %d before the change", *item.TestsRun, *item.TestsOnBase)
}

// checkout is a folder with the remote's commit.
func (p *project) checkout(t *testing.T, commit string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	git(t, p.repo, "clone", "--quiet", "--no-checkout", p.remote, dir)
	git(t, dir, "checkout", "--quiet", "--detach", commit)
	return dir
}

// corrected are the files that the person corrects.
func corrected() []string {
	return []string{"tracker/template/validate.go", "tracker/template/validate_test.go"}
}

// better is a folder with the correction: another message, and a test of it.
func (p *project) better(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	code, test := readFile(t, corrected()[0]), readFile(t, corrected()[1])
	better := strings.Replace(code, `"has no items"`, `"has no items; write one"`, 1)
	if better == code {
		t.Fatal("the message that the person corrects is not there")
	}
	write(t, filepath.Join(dir, corrected()[0]), better)
	write(t, filepath.Join(dir, corrected()[1]), test+`
func TestEmptyTemplatesSayWhatToDo(t *testing.T) {
	if d := (template.Template{Name: "mine", Text: []byte("[]")}).Validate(); len(d) != 1 || d[0].Message != "has no items; write one" {
		t.Error(d)
	}
}
`)
	return dir
}

// background is a program that runs beside the test.
type background struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan error
}

// begin starts the wave program.
func (p *project) begin(t *testing.T, args ...string) *background {
	t.Helper()
	b := &background{cmd: exec.CommandContext(t.Context(), p.wave, args...), ended: make(chan error, 1)}
	b.cmd.Dir, b.cmd.Stdout, b.cmd.Stderr = p.repo, &b.stdout, &b.stderr
	b.cmd.Cancel = func() error { return b.cmd.Process.Signal(os.Interrupt) } // it ends its agents and tests
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		b.ended <- b.cmd.Wait()
	}()
	t.Cleanup(func() { <-waited })
	return b
}

// await waits until the status of the waves says something.
func (b *background) await(t *testing.T, p *project, pattern string) {
	t.Helper()
	wanted, tick := regexp.MustCompile(pattern), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for !wanted.MatchString(output(t, p.repo, p.wave, "status", "--config", ownConfig)) {
		select {
		case err := <-b.ended:
			t.Fatalf("ended too early: %v\n%s%s", err, &b.stdout, &b.stderr)
		case <-tick.C:
		}
	}
}

// end waits for the end, which must be good, and returns the output.
func (b *background) end(t *testing.T) string {
	t.Helper()
	if err := <-b.ended; err != nil {
		t.Fatalf("%v\n%s%s", err, &b.stdout, &b.stderr)
	}
	return b.stdout.String()
}

// output runs a program, which must end well, and returns its standard output.
func output(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var said []byte
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			said = exit.Stderr
		}
		t.Fatalf("%s %v: %v\n%s%s", program, args, err, out, said)
	}
	return string(out)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
