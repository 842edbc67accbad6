package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Change is one path of a commit: its new content, or its removal.
type Change struct {
	Path string
	Mode string // of an Entry; "" removes the path
	Data []byte // the content or the target of a symlink; unused where Blob is set
	Blob SHA    // content that is here already
}

// Commit describes a commit to build. Equal descriptions give equal ids.
type Commit struct {
	Parents []SHA // the first one's tree is what Changes are applied to
	Changes []Change
	Message string // without the control characters in it, other than line breaks and tabs
	Who     Identity
	When    time.Time // to the second, as UTC
	Ref     string    // engine ref to put it on
}

// Build makes the commit and returns its id.
func (e *Engine) Build(ctx context.Context, c Commit) (SHA, error) {
	var in bytes.Buffer
	fmt.Fprintf(&in, "feature done\ncommit %s\nmark :1\n", c.Ref)
	stamp := fmt.Sprintf("%s <%s> %d +0000", c.Who.Name, c.Who.Email, c.When.Unix())
	fmt.Fprintf(&in, "author %s\ncommitter %s\n", stamp, stamp)
	message := printable(c.Message)
	fmt.Fprintf(&in, "data %d\n%s\n", len(message), message)
	for i, parent := range c.Parents {
		verb := "merge"
		if i == 0 {
			verb = "from"
		}
		fmt.Fprintf(&in, "%s %s\n", verb, parent)
	}
	// Removals first: a folder may take the place of a file.
	for _, change := range c.Changes {
		if change.Mode == "" {
			fmt.Fprintf(&in, "D %s\n", quotePath(change.Path))
		}
	}
	for _, change := range c.Changes {
		switch {
		case change.Mode == "":
		case change.Blob != "":
			fmt.Fprintf(&in, "M %s %s %s\n", change.Mode, change.Blob, quotePath(change.Path))
		default:
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n", change.Mode, quotePath(change.Path), len(change.Data))
			in.Write(change.Data)
			in.WriteByte('\n')
		}
	}
	in.WriteString("\nget-mark :1\ndone\n")
	out, err := e.input(ctx, in.Bytes(), "-c", "core.fsync=committed", "fast-import", "--quiet", "--force", "--done", "--date-format=raw", "--cat-blob-fd=1")
	if err != nil {
		return "", fmt.Errorf("build commit: %w", err)
	}
	id := strings.TrimSpace(string(out))
	if len(id) < 40 {
		return "", fmt.Errorf("build commit: git answered %q", out)
	}
	return id, nil
}

// printable takes control characters out of a message: remotes that check objects refuse some, and terminals obey others.
func printable(message string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, message)
}

// quotePath writes a path the way that git reads one in quotes.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Changed lists what commit changes against base, sorted by path; removals have no Mode.
func (e *Engine) Changed(ctx context.Context, base, commit SHA) ([]Change, error) {
	out, err := e.run(ctx, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", base, commit)
	if err != nil {
		return nil, err
	}
	rows := splitZ(out)
	if len(rows)%2 != 0 {
		return nil, fmt.Errorf("git diff-tree: cannot read %q", out)
	}
	changes := make([]Change, 0, len(rows)/2)
	for i := 0; i < len(rows); i += 2 {
		fields := strings.Fields(strings.TrimPrefix(rows[i], ":"))
		if len(fields) != 5 {
			return nil, fmt.Errorf("git diff-tree: cannot read %q", rows[i])
		}
		change := Change{Path: rows[i+1]}
		if fields[4] != "D" {
			change.Mode, change.Blob = fields[1], fields[3]
		}
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}
