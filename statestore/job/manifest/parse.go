package manifest

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aesop/internal/document"
)

func keys() []string {
	return []string{"schemaVersion", "job", "attempt", "session", "report", "sha256", "size", "finalizedAt", "sideEffects"}
}

// parse reads a manifest. Every complaint is an *Error that wraps ErrDamaged.
func parse(file string, data []byte) (Manifest, error) {
	doc, err := document.Parse(file, data)
	if err != nil {
		return Manifest{}, damaged(file, err)
	}
	if !json.Valid(data) { // the parser allows what people write: comments, trailing commas, a byte order mark
		return Manifest{}, damaged(file, errors.New("is not plain JSON"))
	}
	m, err := fromDocument(doc.Root())
	if err != nil {
		return Manifest{}, damaged(file, err)
	}
	return m, nil
}

func damaged(file string, err error) error {
	e := &Error{File: file, Message: err.Error(), Err: ErrDamaged}
	if d, ok := errors.AsType[*document.Error](err); ok {
		e.Line, e.Field, e.Message = d.Line, d.Field, d.Message
		if d.Hint != "" {
			e.Message += "; " + d.Hint
		}
	}
	return e
}

func fromDocument(root document.Node) (Manifest, error) {
	m := Manifest{SchemaVersion: SchemaVersion}
	values, err := root.Need("schemaVersion")
	if err != nil {
		return m, err
	}
	if version, err := values["schemaVersion"].Int(); err != nil {
		return m, err
	} else if version != SchemaVersion { // before any other key, for those of another version are others
		return m, values["schemaVersion"].Errorf("schema_version", "is %d; known is %d", version, SchemaVersion)
	}
	if values, err = exactly(root, keys()); err != nil {
		return m, err
	}
	for _, required := range []struct {
		key string
		to  *string
	}{{"job", &m.Job}, {"attempt", &m.Attempt}, {"report", &m.Report}, {"sha256", &m.SHA256}} {
		if *required.to, err = text(values[required.key]); err != nil {
			return m, err
		}
	}
	if m.Session, err = values["session"].Text(); err != nil {
		return m, err
	} else if wrong := defect(m.Session); wrong != "" && m.Session != "" {
		return m, values["session"].Errorf("shape", "%s", wrong)
	}
	if !filepath.IsAbs(m.Report) {
		return m, values["report"].Errorf("shape", "is not an absolute path")
	}
	if !isSHA256(m.SHA256) {
		return m, values["sha256"].Errorf("shape", "is not 64 digits of lower-case hex")
	}
	if m.Size, err = values["size"].Int(); err != nil {
		return m, err
	} else if m.Size < 0 {
		return m, values["size"].Errorf("shape", "is negative")
	}
	if m.FinalizedAt, err = moment(values["finalizedAt"]); err != nil {
		return m, err
	}
	m.SideEffects, err = sideEffects(values["sideEffects"])
	return m, err
}

// exactly returns the members of an object that has the known keys and no other.
func exactly(n document.Node, known []string) (map[string]document.Node, error) {
	members, err := n.Object()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if !slices.Contains(known, m.Name) {
			return nil, m.Unknown(known)
		}
	}
	return n.Need(known...)
}

func text(n document.Node) (string, error) {
	s, err := n.Text()
	if err != nil {
		return "", err
	}
	if wrong := defect(s); wrong != "" {
		return "", n.Errorf("shape", "%s", wrong)
	}
	return s, nil
}

func moment(n document.Node) (time.Time, error) {
	s, err := n.Text()
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, n.Errorf("shape", "is not a time such as 2006-01-02T15:04:05Z")
	}
	return at.UTC(), nil
}

func sideEffects(n document.Node) ([]SideEffect, error) {
	nodes, err := n.Array()
	if err != nil {
		return nil, err
	}
	if len(nodes) > MaxSideEffects {
		return nil, n.Errorf("shape", "has more than %d entries", MaxSideEffects)
	}
	effects := make([]SideEffect, len(nodes))
	for i, node := range nodes {
		values, err := exactly(node, []string{"kind", "ref"})
		if err != nil {
			return nil, err
		}
		if effects[i].Kind, err = text(values["kind"]); err != nil {
			return nil, err
		}
		if effects[i].Ref, err = text(values["ref"]); err != nil {
			return nil, err
		}
	}
	return effects, nil
}

func isSHA256(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
