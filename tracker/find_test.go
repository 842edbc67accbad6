package tracker

import (
	"errors"
	"testing"
)

func TestFind(t *testing.T) {
	backlog := Backlog{Items: []Item{{ID: "a", Slug: "b"}, {ID: "b", Slug: "greeting"}}}
	for name, want := range map[string]string{"a": "a", "b": "b", "greeting": "b"} {
		if got, err := backlog.Find(name); err != nil || got.ID != want {
			t.Errorf("%q is %q, %v; want %q", name, got.ID, err, want)
		}
	}
	for name, near := range map[string]string{"greetnig": "greeting", "xyzzy": "", "B": "b"} {
		_, err := backlog.Find(name)
		if e, ok := errors.AsType[*NotFoundError](err); !ok || e.Name != name || e.Near != near {
			t.Errorf("%q: error is %v, want near %q", name, err, near)
		}
	}
}

func TestParseStatus(t *testing.T) {
	if got, err := ParseStatus("in_progress"); got != InProgress || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for word, says := range map[string]string{
		"donw": `status is "donw"; write "done"`, "wip": `status is "wip"; write "in_progress"`,
		"": `status is ""; write one of todo, in_progress, done, failed, blocked`,
	} {
		if got, err := ParseStatus(word); got != "" || err == nil || err.Error() != says {
			t.Errorf("%q: %q, %v; want %s", word, got, err, says)
		}
	}
}
