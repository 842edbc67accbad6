package drop

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// Write puts a drop into the folder of an attempt, over what an earlier one said: its fields are added to those that are there, and its status
// and reason, where it has a status, replace them. It returns what the file says, which is on the disk then. SchemaVersion is filled in; nil
// Fields are none. A reason without a status is kept for the one that is there.
//
// An *Error leaves everything as it was: the drop cannot be imported, or something else is in its place that was not put there for this attempt.
// Calls for one folder must not overlap.
func Write(dir string, d Drop) (Drop, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Drop{}, fmt.Errorf("write %s: %w", Name, err)
	}
	defer func() { _ = root.Close() }()
	d.SchemaVersion = SchemaVersion
	if d.Fields == nil {
		d.Fields = json.RawMessage("{}")
	}
	if wrong := d.check(); wrong != nil {
		return Drop{}, wrong
	}
	before, err := read(root, dir, d.Attempt)
	if errors.Is(err, ErrNone) {
		before, err = Drop{SchemaVersion: SchemaVersion, Attempt: d.Attempt}, nil
	}
	if err != nil {
		return Drop{}, err
	}
	d = before.add(d)
	if wrong := d.check(); wrong != nil {
		return Drop{}, wrong
	}
	if err := d.write(root); err != nil {
		return Drop{}, fmt.Errorf("write %s: %w", Name, err)
	}
	return d, nil
}

// add is a drop and what was said later. Both were checked.
func (d Drop) add(later Drop) Drop {
	if later.Status != "" {
		d.Status, d.Reason = later.Status, later.Reason
	} else if later.Reason != "" {
		d.Reason = later.Reason
	}
	d.Fields = merge(d.Fields, later.Fields)
	return d
}

// merge adds the members of one object to those of another.
func merge(old, added json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	for _, object := range []json.RawMessage{old, added} {
		_ = json.Unmarshal(object, &members) // it is one, or nothing
	}
	merged, _ := json.Marshal(members)
	return merged
}

// write makes the file durable under another name, and then gives it its own.
func (d Drop) write(root *os.Root) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return err
	}
	temp := Name + "." + rand.Text()
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, Name)
	}
	if err != nil {
		if left := root.Remove(temp); left != nil && !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
		return err
	}
	return syncNames(root)
}

// syncNames makes the names in the folder durable.
func syncNames(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil // it has nothing to sync a directory with
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
