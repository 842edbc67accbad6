package wave_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	cryptorand "crypto/rand"

	"aesop/driver"
	"aesop/driver/command"
	"aesop/redact"
	"aesop/redact/redacttest"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/job/drop"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// control is planted wherever secrets are, and is none: it must be found.
const control = "marigold-lighthouse"

// canary is a wave in whose every corner secrets are planted, and all that it leaves and tells.
type canary struct {
	*world
	secrets planted
	said    string // all of the secrets, and the control
	line    string // the same on one line
	out     string // folder of what the agents were given
	news    string // folder of what receivers got
	hay     haystack
	refuse  atomic.Bool // pushes
	tokens  *recorder
	holder  *watchedTracker
	store   statestore.Store
	log     *lockedBuffer
	told    *lockedBuffer // to observers
}

// TestCanary runs a wave of everything that can happen, in several processes, with secrets in all that comes from outside, and then looks for
// them in all that there is. What is not looked through is somebody else's: the folders of agents that are parked, what they drop in
// AESOP_ATTEMPT_DIR, and the files in the engine's own git, which are what agents made; what of it is pushed is looked through at the remote.
func TestCanary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not applicable: needs git's http-backend and the binaries of unix")
	}
	c := newCanary(t)
	c.wave()
	c.resume()
	c.look()
	c.breakRemote()
	c.collect()
	c.hay.wantNone(t, c.secrets)
	c.hay.wantNone(t, c.tokens.all(t))
	c.hay.wantSome(t, control, "state/waves/", "state/state.db", "event wave/", "event desk/", "record desk/", "record job/", "record outbox/queue/hook/", "record outbox/queue/refuses/", "news/log.jsonl", "news/mirror/", "log", "observers", "returned", "wave report --json", "wave report",
		"wave show", "wave logs", "wave diff", "wave status", "wave halt", "wave run", "engine commit", "remote commit", "backlog", "report", "state/HALT")
	c.wantTasksVerbatim()
}

func newCanary(t *testing.T) *canary {
	c := &canary{world: newWorld(t), hay: haystack{}, log: &lockedBuffer{}, told: &lockedBuffer{}, tokens: &recorder{}}
	_, err := failing() // while the environment is the machine's own
	must(t, err)
	c.plant()
	c.out, c.news = filepath.Join(c.dir, "out"), filepath.Join(c.dir, "news")
	must(t, os.MkdirAll(c.out, 0o755))
	must(t, os.WriteFile(filepath.Join(c.out, "said"), []byte(c.said), 0o644))
	c.repository()
	c.backlogOfAll()
	c.store = c.world.store()
	c.holder = &watchedTracker{Tracker: c.world.tracker(), fault: errors.New("cannot renew: " + c.said)}
	return c
}

// plant makes the secrets, and the environment with some of them. Known values have no shape, and shapes are not known.
func (c *canary) plant() {
	rng := rand.New(rand.NewPCG(7, 7))
	fill := func(shape string) string { return redacttest.Fill(rng, shape) }
	known := planted{"PASSED_TOKEN": fill(`{alnum:9}&"{alnum:9}/+`), "PROCESS_PASSWORD": fill(`{lower:6} {lower:6}<{lower:6}`), "DRIVER_API_KEY": fill(`{alnum:30}`)}
	shaped := planted{"a GitHub token": fill("ghp_{alnum:36}"), "a GitLab token": fill("glpat-{base64url:20}"), "an AWS key": fill("AKIA{ALNUM:16}"),
		"an npm token": fill("npm_{alnum:36}")}
	named, login, loginOfRemote := fill("{alnum:22}"), fill("{alnum:18}"), fill("{alnum:18}")
	c.secrets = planted{"a value under a name": named, "a login in a URL": login, "the remote's login": loginOfRemote,
		"the receiver's login": fill("{alnum:18}"), "the receiver's path": fill("{alnum:18}")}
	var lines []string
	for _, some := range []planted{known, shaped} {
		for name, value := range some {
			c.secrets[name] = value
			lines = append(lines, "take "+value+" for it")
		}
	}
	for name, value := range known {
		c.t.Setenv(name, value)
	}
	c.t.Setenv("GREETING", "hello "+shaped["an AWS key"])
	lines = append(lines, "DB_PASSWORD="+named, "https://robot:"+login+"@host.example/path", control)
	slices.Sort(lines)
	c.said = strings.Join(lines, "\n") + "\n"
	c.line = strings.Join(strings.Fields(c.said), " ")
	for name, value := range map[string]string{"HOME": filepath.Join(c.dir, "home"), "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "TMPDIR": filepath.Join(c.dir, "tmp"),
		"no_proxy": "127.0.0.1", "HOOK": c.hook(), "XDG_STATE_HOME": "", "USER": "ann"} {
		c.t.Setenv(name, value)
	}
	must(c.t, os.MkdirAll(filepath.Join(c.dir, "tmp"), 0o755))
}

// hook is the URL of a receiver that takes nothing, and quotes everything.
func (c *canary) hook() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, login, _ := r.BasicAuth()
		http.Error(w, control+" no "+r.URL.Path+" "+login, http.StatusNotFound)
	}))
	c.t.Cleanup(server.Close)
	return "http://robot:" + c.secrets["the receiver's login"] + "@" + strings.TrimPrefix(server.URL, "http://") + "/" + c.secrets["the receiver's path"]
}

// receivers are told everything; one refuses it.
func (c *canary) receivers() []outbox.Named {
	refuses := outbox.SinkFunc(func(context.Context, outbox.Intent) error { return errors.New("not with " + c.said) })
	return []outbox.Named{{Subscription: outbox.Subscription{Name: "log", Kinds: []string{"job.", "wave."}}, Sink: sink.NewFile(filepath.Join(c.news, "log.jsonl"))},
		{Subscription: outbox.Subscription{Name: "mirror"}, Sink: sink.NewMirror(filepath.Join(c.news, "mirror"))}, {Subscription: outbox.Subscription{Name: "refuses"}, Sink: refuses}}
}

// repository serves the remote by HTTP with a login in its URL. The base holds a known secret in one file.
func (c *canary) repository() {
	c.git("", "--git-dir="+c.remote, "config", "http.receivepack", "true")
	c.write("owned.conf", "key "+c.secrets["DRIVER_API_KEY"]+"\n")
	c.write(".gitignore", "tracker.json\naesop.json\n")
	c.commit("A file with a secret")
	c.git(c.repo, "push", "--quiet", "origin", "main")
	c.write("aesop.json", `{"passEnv": ["PASSED_TOKEN", "GREETING"], "notify": [{"name": "log", "file": "../news/log.jsonl", "kinds": ["job.", "wave."]}, {"name": "mirror", "mirror": "../news/mirror"},
		{"name": "hook", "webhook": "$HOOK"}]}`)
	backend := &cgi.Handler{Path: filepath.Join(c.git("", "--exec-path"), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + c.dir, "GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_NOSYSTEM=1", "REMOTE_USER=robot"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.refuse.Load() && strings.Contains(r.URL.String(), "git-receive-pack") {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "not with "+c.said)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	c.t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	c.git(c.repo, "remote", "set-url", "origin", "http://robot:"+c.secrets["the remote's login"]+"@"+address+"/remote.git")
	must(c.t, os.WriteFile(filepath.Join(c.remote, "hooks", "post-receive"), []byte("#!/bin/sh\ncat "+filepath.Join(c.out, "said")+" >&2\n"), 0o755))
}

// backlogOfAll has an item for each way in which an item can end. Only their ids have no secrets in them.
func (c *canary) backlogOfAll() {
	var rows []item
	for _, id := range []string{"ships", "repairs", "fails", "panics", "strays", "red", "rejected", "corrected", "found", "owned"} {
		row := item{"id": id, "slug": "slug-" + c.secrets["a GitHub token"] + "-" + id, "title": "Work on " + id + " " + c.line, "prompt": "Do it.\n" + c.said,
			"ownsFiles": []string{id + ".txt", c.secrets["a GitLab token"] + "/" + id}, "notes": c.said,
			"testCmd": "cat " + c.out + "/said; cat " + c.out + "/said >&2; grep -q good " + id + ".txt # " + c.line}
		if id == "owned" {
			row["ownsFiles"] = []string{"owned.txt", "owned.conf"}
		}
		rows = append(rows, row)
	}
	c.items(rows...)
}

// agentScript is what agents do: they keep what they were given, say everything, and then work.
func (c *canary) agentScript() string {
	return strings.NewReplacer("OUT", c.out, "STRAY", c.secrets["a GitHub token"]).Replace(`cat >OUT/$AESOP_ITEM.prompt
env >OUT/$AESOP_ITEM.env
cat OUT/said
cat OUT/said >&2
cp OUT/said "$AESOP_ATTEMPT_DIR/note"
case $AESOP_ITEM in
fails) exit 3 ;;
strays) echo x >STRAY.txt ;;
red) echo poor >red.txt ;;
found) { echo good; cat OUT/said; } >found.txt ;;
repairs) if test -e OUT/once; then echo good >repairs.txt; else echo poor >repairs.txt; : >OUT/once; fi ;;
*) echo good ` + control + ` >$AESOP_ITEM.txt ;;
esac
`)
}

// loud is a driver that runs the agent's script, says everything itself too, and panics for one item.
type loud struct {
	*command.Driver
	said string
}

func (l loud) Info() driver.Info {
	return driver.Info{Name: "loud", Tier: 1, Environment: []string{"DRIVER_API_KEY"}}
}

func (l loud) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	if t.Item == "panics" {
		panic(l.said)
	}
	emit(driver.Event{Kind: "text", Text: l.said})
	fields, err := json.Marshal(map[string]string{"log": l.said})
	if err != nil {
		return driver.Result{}, err
	}
	if _, err := drop.Write(t.AttemptDir, drop.Drop{Attempt: t.AttemptID, Status: job.Failed, Reason: l.said, Fields: fields}); err != nil {
		return driver.Result{}, err
	}
	result, err := l.Driver.Run(ctx, t, emit)
	result.Summary, result.Session = result.Summary+l.said, l.said
	return result, err
}

func (c *canary) scheduler(options ...option) *wave.Scheduler {
	c.t.Helper()
	script := filepath.Join(c.out, "agent.sh")
	must(c.t, os.WriteFile(script, []byte(c.agentScript()), 0o755))
	agent, err := command.New(command.Config{Line: "sh " + script})
	must(c.t, err)
	redactor, err := redact.New(redact.Config{})
	must(c.t, err)
	redactor.RegisterEnvironment(os.Environ()) // as aesop.Open does
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), c.log, zap.DebugLevel)
	observer := tellingAll{c.told}
	return c.world.schedulerOn(c.store, append([]option{with(loud{agent, c.said}), asks(policy.Policy{SpotCheck: 1, Repairs: 1, Review: 1}), supervised(c.store), func(config *wave.Config) {
		config.MaxItems, config.Lookup, config.PassEnv, config.Lease = 20, os.LookupEnv, []string{"PASSED_TOKEN", "GREETING"}, 600*time.Millisecond
		config.Redactor, config.Logger, config.Observers, config.Rand = redactor, zap.New(core), []wave.Observer{observer}, c.tokens
		config.Tracker, config.Sinks = c.holder, c.receivers()
		config.Reviewer = reviewer(func(wave.Change) wave.Judgement { return wave.Judgement{OK: true, Reason: "read " + c.said} })
	}}, options...)...)
}

// wave runs until all is approved or rejected, and a gate stops it before it ships.
func (c *canary) wave() {
	t := c.t
	s := c.scheduler(func(config *wave.Config) {
		config.Gates = []wave.Gate{refusing{"ship", &wave.Stop{Reason: "not with " + c.said}}}
	})
	defer time.AfterFunc(2*time.Minute, s.Stop).Stop() // where something waits for a person that must not
	report := c.began(s)
	d := c.desk()
	for _, id := range []string{"ships", "repairs", "rejected", "corrected"} {
		d.wait(id, any1)
	}
	source := filepath.Join(c.out, "correction")
	must(t, os.WriteFile(source, []byte("good, and better\n"), 0o644))
	secret := filepath.Join(c.out, "said")
	if code := c.cli("wave correct", "correct", "corrected", "--file", "corrected.txt="+secret, "--reason", c.said); code != 4 {
		t.Errorf("a correction with secrets: exit %d", code)
	}
	c.cli("wave correct --json", "correct", "corrected", "--file", "corrected.txt="+secret, "--json")
	for name, args := range map[string][]string{"wave correct, good": {"correct", "corrected", "--file", "corrected.txt=" + source, "--reason", c.said},
		"wave reject": {"reject", "rejected", c.said}, "wave approve": {"approve", "ships", "repairs"}} {
		if code := c.cli(name, args...); code != 0 {
			t.Fatalf("%s: exit %d\n%s", name, code, c.hay[name])
		}
	}
	c.cli("wave status, waiting", "status", "--json")
	d.wait("corrected", func(p wave.Pending) bool { return len(p.Corrected) == 1 })
	c.cli("wave approve", "approve", "corrected")
	ended := report()
	wantOutcome(t, ended, journal.Halted)
	c.hay.addText("report", asJSON(ended))
}

// resume pushes to a remote that refuses, and again to one that does not.
func (c *canary) resume() {
	t := c.t
	c.refuse.Store(true)
	for _, want := range []journal.State{journal.StateShipFailed, journal.StateShipped} {
		reports, err := c.scheduler().Resume(t.Context(), "")
		must(t, err)
		for id, state := range map[string]journal.State{"ships": want, "repairs": want, "corrected": want, "fails": journal.StateDriverFailed,
			"panics": journal.StateDriverFailed, "strays": journal.StateFenceViolation, "red": journal.StateNotVerified, "rejected": journal.StateReviewRejected,
			"found": journal.StateSecretFound, "owned": journal.StateSecretFound} {
			wantState(t, reports[0], id, state)
		}
		c.hay.addText("report", asJSON(reports))
		c.refuse.Store(false)
	}
	c.keepBacklog()
	tokens := c.tokens.all(t)
	for _, token := range c.holder.tokens {
		if len(tokens.in([]byte(token))) == 0 {
			t.Error("a claim's token was not recorded")
		}
	}
}

// look asks for everything that can be asked for afterwards.
func (c *canary) look() {
	for _, how := range []string{"", " --json"} {
		flags := strings.Fields(how)
		for _, command := range []string{"status", "report", "config", "plan", "prune"} {
			c.cli("wave "+command+how, append([]string{command}, flags...)...)
		}
		for _, item := range []string{"ships", "repairs", "fails", "panics", "strays", "red", "rejected", "corrected", "found", "owned"} {
			for _, command := range []string{"show", "logs", "diff"} {
				c.cli("wave "+command+how, append([]string{command, item}, flags...)...)
			}
		}
		c.cli("wave halt set"+how, append([]string{"halt", "set", c.said}, flags...)...)
		c.cli("wave halt status"+how, append([]string{"halt", "status"}, flags...)...)
		c.cli("wave status, halted"+how, append([]string{"status"}, flags...)...)
		c.cli("wave run, halted"+how, append([]string{"run", "--driver", "command", "--agent-cmd", "true"}, flags...)...)
		halt, err := os.ReadFile(filepath.Join(c.state, "HALT"))
		must(c.t, err)
		c.hay.addText("state/HALT", string(halt))
		c.cli("wave halt clear"+how, append([]string{"halt", "clear"}, flags...)...)
		c.cli("wave usage"+how, append([]string{"show", c.line}, flags...)...)
		c.cli("wave usage"+how, append([]string{"reject", "ships", "--" + c.secrets["a GitHub token"]}, flags...)...)
	}
	must(c.t, os.Remove(filepath.Join(c.out, "once")))
	c.items(item{"id": "repairs", "title": c.line, "prompt": c.said}, item{"id": "cli", "title": c.line, "prompt": c.said, "testCmd": "cat " + c.out + "/said; grep -q good cli.txt"})
	for _, how := range []string{"", " --json"} {
		c.cli("wave plan"+how, append([]string{"plan", "--driver", "command", "--agent-cmd", "true", "--prompts"}, strings.Fields(how)...)...)
	}
	if code := c.cli("wave run", "run", "--driver", "command", "--agent-cmd", "sh "+filepath.Join(c.out, "agent.sh")+" # "+c.line); code != 1 {
		c.t.Errorf("a wave of the binary: exit %d\n%s", code, c.hay["wave run"])
	}
}

// breakRemote has git fail with URLs and paths in what it says.
func (c *canary) breakRemote() {
	agent := filepath.Join(c.out, "agent.sh")
	for name, place := range map[string]string{"path": filepath.Join(c.dir, "gone-"+c.secrets["an npm token"]), "host": "http://robot:" + c.secrets["a login in a URL"] + "@127.0.0.1:1/" + c.secrets["DRIVER_API_KEY"],
		"scheme": "nothing://robot:" + c.secrets["a login in a URL"] + "@host/x", "refused": "http://robot:" + c.secrets["the remote's login"] + "@127.0.0.1:1/" + control} {
		c.git(c.repo, "remote", "set-url", "origin", place)
		c.items(item{"id": "more", "title": c.line})
		for _, how := range []string{"", " --json"} {
			if code := c.cli("wave run, "+name+how, append([]string{"run", "--driver", "command", "--agent-cmd", "sh " + agent}, strings.Fields(how)...)...); code != 2 {
				c.t.Errorf("%s: exit %d", name, code)
			}
		}
		report, err := c.scheduler().Run(c.t.Context())
		if err == nil {
			c.t.Errorf("%s: no error", name)
			continue
		}
		c.hay.addText("returned", fmt.Sprintf("%v %+v %s", err, err, asJSON(report)))
	}
	c.cli("wave run, base", "run", "--driver", "command", "--agent-cmd", "true", "--config", filepath.Join(c.out, c.secrets["a GitHub token"]))
}

// cli runs the example binary and keeps what it says.
func (c *canary) cli(name string, args ...string) int {
	c.t.Helper()
	path, err := failing()
	must(c.t, err)
	cmd := exec.CommandContext(c.t.Context(), path, append(args, "--repo", c.repo, "--state", c.state)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		c.t.Fatal(err)
	}
	c.hay.addText(name, out.String())
	return cmd.ProcessState.ExitCode()
}

// collect gathers what is there in the end.
func (c *canary) collect() {
	t := c.t
	agents := regexp.MustCompile(`^/trees/[^/]+/items|^/waves/[^/]+/attempts/[^/]+/(note|publish\.json)$|^/git/[^/]+/objects/(pack|[0-9a-f]{2})$`)
	c.hay.addFolder(t, "state", c.state, agents.MatchString)
	c.hay.addFolder(t, "temporary", filepath.Join(c.dir, "tmp"), func(string) bool { return false })
	c.hay.addFolder(t, "news", c.news, func(string) bool { return false })
	c.hay.addStore(t, c.store)
	engines, err := filepath.Glob(filepath.Join(c.state, "git", "*.git"))
	must(t, err)
	if len(engines) != 1 {
		t.Fatalf("engine's repositories: %v", engines)
	}
	c.addGit(c.hay, "engine", engines[0], "commit", "tag")
	c.addGit(c.hay, "remote", c.remote, "commit", "tag", "tree", "blob")
	for place, data := range c.hay { // what people put there themselves
		if strings.HasPrefix(place, "remote blob ") && string(data) == "key "+c.secrets["DRIVER_API_KEY"] {
			delete(c.hay, place)
		}
	}
	c.hay.addText("log", c.log.String())
	c.hay.addText("observers", c.told.String())
}

// keepBacklog keeps what the engine wrote into the backlog, of which the rest is people's own.
func (c *canary) keepBacklog() {
	backlog, err := c.world.tracker().Backlog(c.t.Context())
	must(c.t, err)
	for _, i := range backlog.Items {
		c.hay.addText("backlog", asJSON(map[string]any{"reason": i.StatusReason, "claim": i.Claim, "shipped": i.Shipped, "status": i.Status}))
	}
}

// wantTasksVerbatim: what agents were given has the secrets, all of them.
func (c *canary) wantTasksVerbatim() {
	c.t.Helper()
	for _, id := range []string{"ships", "found", "cli"} {
		prompt, err := os.ReadFile(filepath.Join(c.out, id+".prompt"))
		must(c.t, err)
		if !strings.Contains(string(prompt), c.said) {
			c.t.Errorf("%s: the prompt is not as people wrote it:\n%s", id, prompt)
		}
		env, err := os.ReadFile(filepath.Join(c.out, id+".env"))
		must(c.t, err)
		for name, want := range map[string]bool{"PASSED_TOKEN": true, "GREETING": true, "DRIVER_API_KEY": id != "cli", "PROCESS_PASSWORD": false} {
			if got := strings.Contains(string(env), name+"="+os.Getenv(name)+"\n"); got != want {
				c.t.Errorf("%s: %s was given as it is: %t", id, name, got)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(c.out, "owned.prompt")); !errors.Is(err, os.ErrNotExist) {
		c.t.Errorf("an agent was given a file with a known secret: %v", err)
	}
}

// tellingAll is an observer that keeps everything it hears.
type tellingAll struct{ to io.Writer }

func (o tellingAll) Observe(w *journal.Wave, e journal.Event) {
	fmt.Fprintf(o.to, "%s %s %s\n", e.Type(), asJSON(e), asJSON(w))
}

func (o tellingAll) Watch(wave, item, attempt string, e driver.Event) {
	fmt.Fprintln(o.to, wave, item, attempt, asJSON(e))
}

// lockedBuffer is a buffer for several goroutines, and a log's.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) Sync() error { return nil }

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// recorder is a source of randomness that remembers what could be tokens.
type recorder struct {
	mu  sync.Mutex
	got []string
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := cryptorand.Read(p)
	if n == 32 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, hex.EncodeToString(p))
	}
	return n, err
}

func (r *recorder) all(t *testing.T) planted {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) < 20 {
		t.Errorf("only %d tokens", len(r.got))
	}
	all := planted{}
	for n, token := range r.got {
		all[fmt.Sprintf("token %d", n)] = token
	}
	return all
}

// watchedTracker keeps the tokens that pass through it, and cannot renew every other time.
type watchedTracker struct {
	tracker.Tracker
	fault  error
	mu     sync.Mutex
	tokens []string
	calls  int
}

func (w *watchedTracker) Claim(ctx context.Context, by tracker.Holder, lease time.Duration, want ...tracker.Want) ([]tracker.Claim, error) {
	claims, err := w.Tracker.Claim(ctx, by, lease, want...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range claims {
		w.tokens = append(w.tokens, c.Token)
	}
	return claims, err
}

func (w *watchedTracker) Renew(ctx context.Context, lease time.Duration, held ...tracker.Claim) error {
	w.mu.Lock()
	w.calls++
	fails := w.calls%2 == 1
	w.mu.Unlock()
	if fails {
		return w.fault
	}
	return w.Tracker.Renew(ctx, lease, held...)
}
