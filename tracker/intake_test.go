package tracker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sound(id string, change ...func(*Item)) Item {
	item := Item{ID: id, Slug: id, Status: Todo, Priority: "P3", OwnsFiles: []string{id + "/"}, Prompt: "p", TestCmd: Command{Shell: "t"}}
	for _, c := range change {
		c(&item)
	}
	return item
}

func owns(entries ...string) func(*Item) { return func(i *Item) { i.OwnsFiles = entries } }
func depends(ids ...string) func(*Item)  { return func(i *Item) { i.DependsOn = ids } }
func is(status Status) func(*Item)       { return func(i *Item) { i.Status = status } }
func ships(commit string) func(*Item)    { return func(i *Item) { i.Shipped = &Shipped{Commit: commit} } }
func inRepo(repo string) func(*Item)     { return func(i *Item) { i.Repo = repo } }
func leased(until time.Duration) func(*Item) {
	return func(i *Item) {
		i.Status, i.Claim = InProgress, &ClaimState{Owner: "ann", Attempt: "a", LeaseUntil: lapse.Add(until)}
	}
}

func TestIntake(t *testing.T) {
	tests := []struct {
		name    string
		items   []Item
		options IntakeOptions
		want    string // selected
		skipped []string
		open    int
	}{
		{name: "nothing"},
		{name: "order", items: []Item{
			sound("late", func(i *Item) { i.CreatedAt = lapse }), sound("ageless"), sound("ageless2"), sound("early", func(i *Item) { i.CreatedAt = lapse.Add(-time.Hour) }),
			sound("p0", func(i *Item) { i.Priority = "P0" }), sound("p1", func(i *Item) { i.Priority = "P1"; i.CreatedAt = lapse }),
		}, want: "p0 p1 early late ageless ageless2", open: 6},
		{name: "max", items: []Item{sound("a"), sound("b"), sound("c", depends("x"))}, options: IntakeOptions{Max: 1}, want: "a",
			skipped: []string{"c blocked_by: there is no item x"}, open: 3},
		{name: "settled are neither", items: []Item{sound("a", is(Done)), sound("b", is(Failed)), sound("c", is(Blocked))}, open: 2},
		{name: "defect", items: []Item{sound("a", func(i *Item) { i.Prompt = "" }), sound("b", is(Done), func(i *Item) { i.Prompt = "" }),
			sound("c", is("weird")), sound("d", func(i *Item) { i.TestCmd = Command{} }), sound("e", owns("/")), sound("f", owns("x", ""))},
			skipped: []string{"a missing_or_empty_prompt: give the item a prompt",
				`c unknown_status: status is "weird"; write one of todo, in_progress, done, failed, blocked`,
				"d missing_or_empty_testCmd: give the item a testCmd that exits 0 when it is done",
				`e invalid_path: ownsFiles: "/" is empty`, "f invalid_ownsFiles_entries: ownsFiles: entry 2 is empty or not a string"}, open: 5},
		{name: "selected", items: []Item{sound("a", owns("x/")), sound("b", owns("X/y")), sound("c", owns("z"))}, want: "a c",
			skipped: []string{"b overlaps_selected: X/y and x/ of a"}, open: 3},
		{name: "claimed", items: []Item{sound("a", owns("x/*")), sound("b", owns("x/"), leased(1))},
			skipped: []string{"a overlaps_claimed: x/* and x/ of b", "b claimed: by ann until 2026-01-02T03:04:05Z"}, open: 2},
		{name: "lapsed is free", items: []Item{sound("a", owns("x")), sound("b", owns("x"), leased(0), func(i *Item) { i.Priority = "P0" })}, want: "b",
			skipped: []string{"a overlaps_selected: x and x of b"}, open: 2},
		{name: "a person's", items: []Item{sound("a", owns("x")), sound("b", owns("x"), is(InProgress))},
			skipped: []string{"a overlaps_claimed: x and x of b", "b claimed: in_progress without a claim; set it to todo to give it to a wave"}, open: 2},
		{name: "claimed with unreadable paths", items: []Item{sound("a"), sound("b", owns("/"), leased(1))},
			skipped: []string{"a overlaps_claimed: a/ and ** of b", "b claimed: by ann until 2026-01-02T03:04:05Z"}, open: 2},
		{name: "settled by hand while claimed", items: []Item{sound("a", owns("x")), sound("b", owns("x"), leased(1), is(Blocked))},
			skipped: []string{"a overlaps_claimed: x and x of b"}, open: 2},
		{name: "unmerged", items: []Item{sound("a", owns("x")), sound("b", owns("x"), is(Done), ships("out")), sound("c", owns("y")), sound("d", owns("y"), is(Done), ships("in"))},
			want: "c", skipped: []string{"a overlaps_unmerged: x and x of b"}, open: 2},
		{name: "reopened beside its own shipment", items: []Item{sound("a", ships("out"))}, want: "a", open: 1},
		{name: "repositories are apart", items: []Item{sound("a", owns("x"), inRepo("r")), sound("b", owns("x"), inRepo("s")), sound("c", owns("x"), inRepo("r"))},
			want: "a b", skipped: []string{"c overlaps_selected: x and x of a"}, open: 3},
		{name: "dependencies", items: []Item{
			sound("greet", is(Done), ships("out")), sound("a", depends("greet")), sound("b", depends("merged", "byhand")),
			sound("merged", is(Done), ships("in")), sound("byhand", is(Done)), sound("c", depends("failed")), sound("failed", is(Failed)),
			sound("d", depends("great")), sound("e", depends("e")), sound("f", depends("unknown")), sound("unknown", is(Done), ships("err")),
		}, want: "b", skipped: []string{
			"a blocked_by: greet is not in the base", "c blocked_by: failed is failed", "d blocked_by: there is no item great; did you mean greet?",
			"e blocked_by: e depends on itself, through dependsOn", "f blocked_by: whether unknown is in the base is not known: no git",
		}, open: 7},
		{name: "attempts", items: []Item{sound("a", func(i *Item) { i.Attempts = 3 }), sound("b", func(i *Item) { i.Attempts = 2 })}, options: IntakeOptions{MaxAttempts: 3},
			want: "b", skipped: []string{"a attempts_exhausted: 3 of 3 attempts are used; reopen the item to try again"}, open: 2},
		{name: "no limit", items: []Item{sound("a", func(i *Item) { i.Attempts = 99 })}, want: "a", open: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Now = lapse
			tt.options.InBase = func(item Item) (bool, error) {
				commit := item.Shipped.Commit
				if commit == "err" {
					return true, errors.New("no git")
				}
				return commit == "in", nil
			}
			got := Intake(Backlog{Items: tt.items}, tt.options)
			var ids, skips []string
			for _, item := range got.Items {
				ids = append(ids, item.ID)
			}
			for _, s := range got.Skipped {
				skips = append(skips, fmt.Sprintf("%s %s: %s", s.ID, s.Reason, s.Detail))
			}
			if strings.Join(ids, " ") != tt.want || got.Open != tt.open {
				t.Errorf("selected %v of %d open, want %s of %d", ids, got.Open, tt.want, tt.open)
			}
			slices.Sort(skips)
			if diff := cmp.Diff(tt.skipped, skips); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIntakeWithoutBase: what cannot be asked is not in the base.
func TestIntakeWithoutBase(t *testing.T) {
	got := Intake(Backlog{Items: []Item{sound("a", is(Done), ships("c")), sound("b", depends("a"))}}, IntakeOptions{Now: lapse})
	if len(got.Items) != 0 || len(got.Skipped) != 1 || got.Skipped[0].Reason != BlockedBy {
		t.Errorf("selected %+v", got)
	}
}

// TestIntakeAsksOnce: the base is asked about a commit once, however many items look at it.
func TestIntakeAsksOnce(t *testing.T) {
	asked := 0
	Intake(Backlog{Items: []Item{sound("a", is(Done), ships("c")), sound("b", depends("a")), sound("c", depends("a"))}},
		IntakeOptions{InBase: func(Item) (bool, error) { asked++; return true, nil }})
	if asked != 1 {
		t.Errorf("the base was asked %d times", asked)
	}
}

// TestIntakeSaysWhatToMerge, and that a circle of dependencies is one.
func TestIntakeSaysWhatToMerge(t *testing.T) {
	shipped := &Shipped{Wave: "w", Branch: "aesop/w", Commit: "c"}
	item := func(id, path string, dependsOn ...string) Item {
		return Item{ID: id, Slug: id, Status: Todo, Prompt: "p", TestCmd: Command{Shell: "true"}, OwnsFiles: []string{path}, DependsOn: dependsOn}
	}
	done := item("done", "x")
	done.Status, done.Shipped = Done, shipped
	got := Intake(Backlog{Items: []Item{done, item("after", "y", "done"), item("beside", "x"), item("one", "a", "two"), item("two", "b", "three"), item("three", "c", "one")}},
		IntakeOptions{InBase: func(Item) (bool, error) { return false, nil }})
	want := map[string]string{"after": "done is not in the base; merge aesop/w", "beside": "merge aesop/w", "one": "one depends on itself", "two": "two depends on itself", "three": "three depends on itself"}
	for _, s := range got.Skipped {
		if !strings.Contains(s.Detail, want[s.ID]) || want[s.ID] == "" {
			t.Errorf("%s: %s %q, want %q", s.ID, s.Reason, s.Detail, want[s.ID])
		}
		delete(want, s.ID)
	}
	if len(want) > 0 {
		t.Errorf("not skipped: %v", want)
	}
}

// TestIntakeOfARepositoryThatCannotBeWorkedOn: its items are skipped with the reason, and take no place of others.
func TestIntakeOfARepositoryThatCannotBeWorkedOn(t *testing.T) {
	in := func(repo string) func(*Item) { return func(i *Item) { i.Repo = repo } }
	got := Intake(Backlog{Items: []Item{sound("a", in("gone")), sound("b", in("gone/")), sound("c", in("here"))}}, IntakeOptions{Max: 1,
		Unavailable: func(i Item) string {
			if i.Repository() == "gone" {
				return "no such folder"
			}
			return ""
		}})
	if len(got.Items) != 1 || got.Items[0].ID != "c" || len(got.Skipped) != 2 {
		t.Fatalf("selected %+v", got)
	}
	if first := got.Skipped[0]; first.Reason != RepositoryFailed || first.Detail != "no such folder" {
		t.Errorf("skipped %+v", first)
	}
}
