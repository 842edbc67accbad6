package wave_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// two is a folder with a backlog beside the repositories api and web, each with a remote of its own.
type two struct {
	*world
	api, web *world
}

func newTwo(t *testing.T) two {
	t.Helper()
	dir := t.TempDir()
	all := two{world: &world{t: t, dir: dir, repo: dir, state: filepath.Join(dir, "state"), backlog: filepath.Join(dir, "tracker.json"),
		scriptFile: filepath.Join(dir, "script.json")}}
	one := func(name string) *world {
		w := &world{t: t, dir: dir, repo: filepath.Join(dir, name), remote: filepath.Join(dir, name+".git"), state: all.state}
		w.git("", "init", "--quiet", "--bare", "--initial-branch=main", w.remote)
		w.git("", "init", "--quiet", "--initial-branch=main", w.repo)
		w.write("README.md", "# "+name+"\n")
		w.commit("Begin")
		w.git(w.repo, "remote", "add", "origin", w.remote)
		w.git(w.repo, "push", "--quiet", "origin", "main")
		return w
	}
	all.api, all.web = one("api"), one("web")
	all.items(item{"id": "a", "repo": "api", "ownsFiles": []string{"same.txt"}, "testCmd": "grep -q api same.txt"},
		item{"id": "w", "repo": "web", "ownsFiles": []string{"same.txt"}, "testCmd": "grep -q web same.txt"},
		item{"id": "v", "repo": "web"})
	all.script(map[string][]attempt{"a": {writes("same.txt", "api\n")}, "w": {writes("same.txt", "web\n")}, "v": good("v")})
	return all
}

func repositoryOf(t *testing.T, r wave.Report, name string) wave.RepositoryReport {
	t.Helper()
	for _, row := range r.Repositories {
		if row.Repo == name {
			return row
		}
	}
	t.Fatalf("no repository %s in the report: %s", name, asJSON(r))
	return wave.RepositoryReport{}
}

// wantShipped looks at the remote itself.
func wantShipped(t *testing.T, w *world, report wave.Report, ids ...string) {
	t.Helper()
	refs := w.refs()
	if refs["refs/heads/aesop/"+report.Wave] == "" {
		t.Errorf("%s has no branch of the wave: %v", w.remote, refs)
	}
	for _, id := range ids {
		if refs["refs/aesop/items/"+id] == "" {
			t.Errorf("%s does not hold %s: %v", w.remote, id, refs)
		}
	}
	for ref := range refs {
		if id, isItem := strings.CutPrefix(ref, "refs/aesop/items/"); isItem && !strings.Contains(" "+strings.Join(ids, " ")+" ", " "+id+" ") {
			t.Errorf("%s holds %s too", w.remote, id)
		}
	}
}

// TestEachRepositoryHasItsOwn base, branch, union and record; files of one name in two repositories do not overlap.
func TestEachRepositoryHasItsOwn(t *testing.T) {
	all := newTwo(t)
	report := all.run()
	wantOutcome(t, report, journal.Good)
	wantShipped(t, all.api, report, "a")
	wantShipped(t, all.web, report, "w", "v")
	api, web := repositoryOf(t, report, "api"), repositoryOf(t, report, "web")
	for name, r := range map[string]wave.RepositoryReport{"api": api, "web": web} {
		if !r.Pushed || r.Error != nil || r.Base != "main" || *r.Branch != "aesop/"+report.Wave {
			t.Errorf("%s: %s", name, asJSON(r))
		}
	}
	if *api.BaseCommit == *web.BaseCommit || *api.SHA == *web.SHA || report.Base != nil {
		t.Errorf("the repositories share what they must not: %s", asJSON(report))
	}
	if all.api.show(*api.SHA, "same.txt") != "api" || all.web.show(*web.SHA, "same.txt") != "web" || all.web.show(*web.SHA, "v.txt") != "good" {
		t.Error("a repository holds what belongs to another")
	}
	for id, repo := range map[string]string{"a": "api", "w": "web", "v": "web"} {
		i := wantState(t, report, id, journal.StateShipped)
		if row := all.read(id); i.Repo != repo || row.Status != tracker.Done || row.Shipped.Commit != *i.Commit {
			t.Errorf("%s: in %s, backlog %+v", id, i.Repo, row)
		}
	}
	// The branch of web joins two items, that of api is the item itself.
	if parents := strings.Fields(all.web.git("", "--git-dir="+all.web.remote, "log", "-1", "--format=%P", *web.SHA)); len(parents) != 2 {
		t.Errorf("the tip of web has the parents %v", parents)
	}
}

// TestRepositoryThatCannotBeReadLeavesTheOthersAlone, with what git said in its record; a later run makes up for it.
func TestRepositoryThatCannotBeReadLeavesTheOthersAlone(t *testing.T) {
	all := newTwo(t)
	must(t, os.Rename(all.web.remote, all.web.remote+".away"))
	report := all.run()
	wantOutcome(t, report, journal.Partial)
	wantShipped(t, all.api, report, "a")
	web := repositoryOf(t, report, "web")
	if web.Error == nil || *web.Error != "remote_unreachable" || !strings.Contains(*web.ErrorDetail, "does not appear to be a git repository") {
		t.Errorf("the record of web: %s", asJSON(web))
	}
	for _, skip := range report.Skipped {
		if skip.Reason != "repository_failed" || !strings.Contains(skip.Detail, "web.git") {
			t.Errorf("skipped: %+v", skip)
		}
	}
	if len(report.Skipped) != 2 {
		t.Errorf("skipped: %s", asJSON(report.Skipped))
	}
	for _, id := range []string{"w", "v"} {
		if row := all.read(id); row.Status != tracker.Todo || row.Attempts != 0 || row.Claim != nil {
			t.Errorf("%s: %+v", id, row)
		}
	}
	must(t, os.Rename(all.web.remote+".away", all.web.remote))
	report = all.run()
	wantOutcome(t, report, journal.Good)
	wantShipped(t, all.web, report, "w", "v")
}

// afterClaim is a tracker that does something once it has granted claims.
type afterClaim struct {
	tracker.Tracker
	then func()
}

func (a afterClaim) Claim(ctx context.Context, by tracker.Holder, lease time.Duration, want ...tracker.Want) ([]tracker.Claim, error) {
	claims, err := a.Tracker.Claim(ctx, by, lease, want...)
	a.then()
	return claims, err
}

// TestRemoteThatGoesAwayLeavesTheOthersAlone: the wave stays open for it, and a resume ships the rest, without asking an agent again.
func TestRemoteThatGoesAwayLeavesTheOthersAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		leave func(c *wave.Config, away func())
		word  string
	}{
		"before agents work": {func(c *wave.Config, away func()) { c.Tracker = afterClaim{c.Tracker, away} }, "git"},
		"before the push": {func(c *wave.Config, away func()) {
			c.Observers = []wave.Observer{&watcher{look: func(_ *journal.Wave, e journal.Event) {
				if e.Type() == "attempt_started" {
					away()
				}
			}}}
		}, "remote_unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			all := newTwo(t)
			store := all.store()
			away := sync.OnceFunc(func() { must(t, os.Rename(all.web.remote, all.web.remote+".away")) })
			report := all.runOn(store, func(c *wave.Config) { tt.leave(c, away) })
			wantOutcome(t, report, journal.Partial)
			wantShipped(t, all.api, report, "a")
			if web := repositoryOf(t, report, "web"); web.Error == nil || *web.Error != tt.word || !strings.Contains(*web.ErrorDetail, all.web.remote) {
				t.Errorf("the record of web: %s", asJSON(web))
			}
			for _, id := range []string{"w", "v"} {
				if row := all.read(id); row.Status != tracker.InProgress || row.Claim == nil {
					t.Errorf("%s: %+v", id, row)
				}
			}
			must(t, os.Rename(all.web.remote+".away", all.web.remote))
			reports, err := all.schedulerOn(store).Resume(t.Context(), report.Wave)
			must(t, err)
			wantOutcome(t, reports[0], journal.Good)
			wantShipped(t, all.web, report, "w", "v")
			wantShipped(t, all.api, report, "a")
			for _, i := range reports[0].Items {
				if len(i.Attempts) != 1 {
					t.Errorf("%s was given to an agent %d times", i.ID, len(i.Attempts))
				}
			}
		})
	}
}

// TestRefusedPushOfOneRepository has git's words in its record, and keeps no other from shipping.
func TestRefusedPushOfOneRepository(t *testing.T) {
	all := newTwo(t)
	hook := filepath.Join(all.api.remote, "hooks", "pre-receive")
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\necho closed for the holidays >&2\nexit 1\n"), 0o755))
	store := all.store()
	report := all.runOn(store)
	wantOutcome(t, report, journal.Partial)
	wantShipped(t, all.web, report, "w", "v")
	wantState(t, report, "a", journal.StateShipFailed)
	if api := repositoryOf(t, report, "api"); api.Pushed || *api.Error != "push_refused" || !strings.Contains(*api.ErrorDetail, "closed for the holidays") {
		t.Errorf("the record of api: %s", asJSON(api))
	}
	must(t, os.Remove(hook))
	reports, err := all.schedulerOn(store).Resume(t.Context(), "")
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
	wantShipped(t, all.api, report, "a")
}

// TestRedBaseOfOneRepository keeps its agents from being paid, and no other's.
func TestRedBaseOfOneRepository(t *testing.T) {
	all := newTwo(t)
	report := all.run(func(c *wave.Config) {
		c.Repositories = func(root string, common wave.Repository) (wave.Repository, error) {
			if filepath.Base(root) == "web" {
				common.Verify = tracker.Command{Shell: "echo broken; exit 1"}
			}
			return common, nil
		}
	})
	wantOutcome(t, report, journal.Partial)
	wantState(t, report, "a", journal.StateShipped)
	for _, id := range []string{"w", "v"} {
		if i := wantState(t, report, id, journal.StateCancelled); len(i.Attempts) > 0 {
			t.Errorf("%s was given to an agent", id)
		}
	}
	if web := repositoryOf(t, report, "web"); *web.Error != "base_red" || !strings.Contains(*web.ErrorDetail, "broken") {
		t.Errorf("the record of web: %s", asJSON(web))
	}
}

func TestBacklogOfRepositoriesIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		items []item
		says  []string
	}{
		"repo on some items": {[]item{{"id": "a", "repo": "api"}, {"id": "b", "repo": "web"}, {"id": "c"}}, []string{"2 of 3", "items[2]"}},
		"two names":          {[]item{{"id": "a", "repo": "api"}, {"id": "b", "repo": "link"}}, []string{`"api"`, `"link"`, "one name"}},
		"a folder only":      {[]item{{"id": "a", "repo": "api/docs"}}, []string{"api/docs is a folder of the repository", "root"}},
		"one remote":         {[]item{{"id": "a", "repo": "api"}, {"id": "b", "repo": "clone"}}, []string{"api and clone ship to one place"}},
		"a work tree of it":  {[]item{{"id": "a", "repo": "api"}, {"id": "b", "repo": "tree"}}, []string{"api and tree are folders of one repository"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := newTwo(t)
			must(t, os.Symlink("api", filepath.Join(all.dir, "link")))
			must(t, os.Mkdir(filepath.Join(all.api.repo, "docs"), 0o755))
			all.git(all.api.repo, "worktree", "add", "--quiet", "-b", "side", filepath.Join(all.dir, "tree"))
			all.git("", "clone", "--quiet", all.api.remote, filepath.Join(all.dir, "clone"))
			all.items(tt.items...)
			worked := &agent{work: func(context.Context, driver.Task) (driver.Result, error) {
				t.Error("an agent was started")
				return driver.Result{}, nil
			}}
			report, err := all.scheduler(with(worked)).Run(t.Context())
			if err == nil || report.Outcome != journal.ErrorOutcome {
				t.Fatalf("outcome %s, error %v", report.Outcome, err)
			}
			fault := asJSON(report.Error)
			for _, want := range tt.says {
				if !strings.Contains(strings.ReplaceAll(fault, `\"`, `"`), want) {
					t.Errorf("%s does not say %s", fault, want)
				}
			}
		})
	}
}

// TestDrainGoesOnInEachRepository from what the wave before shipped there.
func TestDrainGoesOnInEachRepository(t *testing.T) {
	all := newTwo(t)
	all.items(item{"id": "a", "repo": "api"}, item{"id": "w", "repo": "web"},
		item{"id": "later", "repo": "web", "dependsOn": []string{"w"}, "testCmd": "cat w.txt later.txt"})
	all.script(map[string][]attempt{"a": good("a"), "w": good("w"), "later": good("later")})
	reports, err := all.scheduler().Drain(t.Context())
	must(t, err)
	if len(reports) != 2 {
		t.Fatalf("%d waves: %s", len(reports), asJSON(reports))
	}
	wantState(t, reports[1], "later", journal.StateShipped)
	first, second := repositoryOf(t, reports[0], "web"), repositoryOf(t, reports[1], "web")
	if *second.BaseCommit != *first.SHA {
		t.Errorf("the second wave began at %s, the first ended at %s", *second.BaseCommit, *first.SHA)
	}
}

// TestKilledBetweenTwoRepositories: what one remote took is not pushed again, and the other gets what is its.
func TestKilledBetweenTwoRepositories(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not applicable: needs SIGKILL")
	}
	for _, point := range []string{"push_intent", "push", "shipped", "integrated", "base_tested", "settled"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			all := newTwo(t)
			all.world.write("aesop.json", `{"verify": "true"}`)
			if code, out := all.binary(point, "run"); code != -1 {
				t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
			}
			if code, out := all.binary("", "resume"); code != 0 {
				t.Fatalf("resume: exit %d\n%s", code, out)
			}
			report := wave.Report{Wave: all.newest()}
			wantShipped(t, all.api, report, "a")
			wantShipped(t, all.web, report, "w", "v")
			for _, w := range []*world{all.api, all.web} {
				if n := strings.Count(w.git("", "--git-dir="+w.remote, "for-each-ref", "refs/heads/aesop"), "\n"); n != 0 {
					t.Errorf("%s has several branches of waves", w.remote)
				}
			}
		})
	}
}

// TestResumeAfterAFailedRepositoryIsBack: web could not be opened when the wave was planned; the wave is interrupted, web comes back,
// and the wave is resumed.
func TestResumeAfterAFailedRepositoryIsBack(t *testing.T) {
	all := newTwo(t)
	must(t, os.Rename(all.web.remote, all.web.remote+".away"))
	store := all.store()
	var s *wave.Scheduler
	s = all.schedulerOn(store, atEvent("attempt_started", func(journal.Event) { s.Stop() }))
	report, err := s.Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Interrupted)
	must(t, os.Rename(all.web.remote+".away", all.web.remote))
	reports, err := all.schedulerOn(store).Resume(t.Context(), report.Wave)
	if err != nil {
		t.Fatalf("the wave can not be resumed: %v", err)
	}
	wantOutcome(t, reports[0], journal.Good)
	wantShipped(t, all.api, report, "a")
}

// TestUnreachableRepositoryTakesNoPlaces: items of a repository that cannot be opened take no place of those that can ship.
func TestUnreachableRepositoryTakesNoPlaces(t *testing.T) {
	all := newTwo(t)
	all.items(item{"id": "w", "repo": "web", "priority": "P0"}, item{"id": "a", "repo": "api", "priority": "P1"})
	all.script(map[string][]attempt{"a": good("a")})
	must(t, os.Rename(all.web.remote, all.web.remote+".away"))
	store := all.store()
	report := all.runOn(store, func(c *wave.Config) { c.MaxItems = 1 })
	wantOutcome(t, report, journal.Partial)
	wantShipped(t, all.api, report, "a")
}

// TestRepositoryOfAFailedItemOnly: nothing is to be done in old, which is gone.
func TestRepositoryOfAFailedItemOnly(t *testing.T) {
	all := newTwo(t)
	all.items(item{"id": "o", "repo": "old", "status": "failed"}, item{"id": "a", "repo": "api", "status": "done"})
	all.script(map[string][]attempt{})
	report, err := all.scheduler().Run(t.Context())
	if err != nil {
		t.Errorf("nothing is selectable, and the wave is broken: %v, %s", err, report.Outcome)
	}
	all.items(item{"id": "o", "repo": "old", "status": "failed"}, item{"id": "a", "repo": "api"})
	all.script(map[string][]attempt{"a": good("a")})
	report = all.run()
	for _, r := range report.Repositories {
		if r.Error != nil {
			t.Errorf("%s: the record of a repository in which nothing was to do: %s", report.Outcome, asJSON(r))
		}
	}
}

// TestRedBaseBesideAnIdleRepository: the only repository with work is red.
func TestRedBaseBesideAnIdleRepository(t *testing.T) {
	rows := []item{{"id": "a", "repo": "api"}, {"id": "w", "repo": "web", "dependsOn": []string{"a"}}}
	for _, order := range [][]item{{rows[0], rows[1]}, {rows[1], rows[0]}} {
		t.Run(order[0]["id"].(string)+" first", func(t *testing.T) { redBesideIdle(t, order) })
	}
}

func redBesideIdle(t *testing.T, rows []item) {
	all := newTwo(t)
	all.items(rows...)
	all.script(map[string][]attempt{})
	ran := filepath.Join(all.dir, "ran-web")
	report := all.run(func(c *wave.Config) {
		c.Repositories = func(root string, common wave.Repository) (wave.Repository, error) {
			common.Verify = tracker.Command{Shell: "exit 1"}
			if filepath.Base(root) == "web" {
				common.Verify = tracker.Command{Shell: "touch '" + ran + "'"}
			}
			return common, nil
		}
	})
	if _, err := os.Stat(ran); err == nil {
		t.Error("the test of a repository in which the wave has no item was run")
	}
	if report.Outcome != journal.BaseRed {
		t.Errorf("outcome %s", report.Outcome)
	}
}

// TestLastOpenRepositoryFails: one repository was away from the start, the other goes away later.
func TestLastOpenRepositoryFails(t *testing.T) {
	all := newTwo(t)
	must(t, os.Rename(all.web.remote, all.web.remote+".away"))
	store := all.store()
	report, err := all.schedulerOn(store, func(c *wave.Config) {
		c.Tracker = afterClaim{c.Tracker, func() { must(t, os.Rename(all.api.remote, all.api.remote+".away")) }}
	}).Run(t.Context())
	must(t, err)
	if api := repositoryOf(t, report, "api"); api.Error == nil {
		t.Error("the record of api has no error")
	}
}
