package tracker

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"aesop/internal/document"
)

// Defect is why the item cannot be selected or claimed whatever its status, or nil: the first defect in the order in which a
// person would mend them. It is derived from the fields, so that it holds for items of every Tracker.
func (i Item) Defect() *Skip {
	skip := func(reason Reason, format string, args ...any) *Skip {
		return &Skip{ID: i.ID, Slug: i.Slug, Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	if _, err := ParseStatus(string(i.Status)); err != nil {
		return skip(UnknownStatus, "%s", err)
	}
	if strings.TrimSpace(i.Slug) == "" {
		return skip(MissingSlug, "give the item a slug")
	}
	if _, err := ParseOwnership(i.OwnsFiles); err != nil {
		var e *OwnershipError
		errors.As(err, &e)
		return skip(e.Reason, "%s", e.Error())
	}
	if strings.TrimSpace(i.Prompt) == "" {
		return skip(MissingPrompt, "give the item a prompt")
	}
	if i.TestCmd.blank() {
		return skip(MissingTestCmd, "give the item a testCmd that exits 0 when it is done")
	}
	if err := checkWorkDir(i.WorkDir); err != nil {
		return skip(InvalidPath, "workDir %q %s", i.WorkDir, err)
	}
	if err := checkRepo(i.Repo); err != nil {
		return skip(InvalidPath, "repo %q %s", i.Repo, err)
	}
	return nil
}

// ParseStatus reads the word for a status. The error names the one that was probably meant.
func ParseStatus(word string) (Status, error) {
	if s := Status(word); s.known() {
		return s, nil
	}
	return "", fmt.Errorf("status is %q; %s", word, rightStatus(word))
}

func (s Status) known() bool {
	switch s {
	case Todo, InProgress, Done, Failed, Blocked:
		return true
	}
	return false
}

// rightStatus names the status that was probably meant.
func rightStatus(word string) string {
	allowed := []string{string(Todo), string(InProgress), string(Done), string(Failed), string(Blocked)}
	var other Status
	switch strings.ToLower(word) {
	case "open", "new", "pending", "ready", "backlog", "queued":
		other = Todo
	case "wip", "doing", "started", "active", "claimed", "running":
		other = InProgress
	case "complete", "completed", "closed", "finished", "shipped", "merged", "archived":
		other = Done
	case "error", "broken":
		other = Failed
	case "waiting", "on_hold", "on-hold", "paused":
		other = Blocked
	}
	if near := cmp.Or(string(other), document.Nearest(word, allowed)); near != "" {
		return fmt.Sprintf("write %q", near)
	}
	return "write one of " + strings.Join(allowed, ", ")
}

func checkWorkDir(dir string) error {
	if dir == "" {
		return nil
	}
	return CheckPath(dir)
}

// Repository names the repository of the item, as a clean path relative to the backlog file; "." where the item names none.
func (i Item) Repository() string { return path.Clean(i.Repo) }

// checkRepo allows "." and leading "..": repositories may lie beside the backlog.
func checkRepo(repo string) error {
	rest := repo
	for rest == ".." || strings.HasPrefix(rest, "../") {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/")
	}
	if rest == "" || repo == "." {
		return nil
	}
	return CheckPath(rest)
}
