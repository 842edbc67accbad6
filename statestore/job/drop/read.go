package drop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"aesop/internal/document"
	"aesop/statestore/job"
)

// Read reads the drop of an attempt. Its error is ErrNone where there is none, an *Error where what is there does not count, also because it is
// of another attempt, and any other where nobody could look.
func Read(dir, attempt string) (Drop, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Drop{}, fmt.Errorf("read %s: %w", Name, err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	return read(root, dir, attempt)
}

func read(root *os.Root, dir, attempt string) (Drop, error) {
	file, err := filepath.Abs(filepath.Join(dir, Name))
	if err != nil {
		return Drop{}, err
	}
	data, err := load(root, file)
	if err != nil {
		return Drop{}, err
	}
	d, wrong := parse(file, data)
	if wrong == nil {
		wrong = d.check()
	}
	if wrong == nil && d.Attempt != attempt {
		wrong = &Error{Field: "attempt", Message: fmt.Sprintf("is %q, wanted is %q", d.Attempt, attempt)}
	}
	if wrong != nil {
		wrong.File = file
		return Drop{}, wrong
	}
	return d, nil
}

// load reads the file. Somebody else owns the folder: the file is looked at before, so that no device is touched, and once it is open, for it
// can have been swapped.
func load(root *os.Root, file string) ([]byte, error) {
	seen, err := root.Lstat(Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", file, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if !seen.Mode().IsRegular() {
		return nil, &Error{File: file, Message: "is not a regular file"}
	}
	f, err := root.OpenFile(Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if now, err := f.Stat(); err != nil || !os.SameFile(seen, now) {
		return nil, &Error{File: file, Message: "changed while it was read"}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(data) > MaxSize {
		return nil, &Error{File: file, Message: fmt.Sprintf("has more than %d bytes", MaxSize)}
	}
	return data, nil
}

// parse takes exactly the format: no key more or less, no comments, none twice.
func parse(file string, data []byte) (Drop, *Error) {
	doc, err := document.Parse(file, data)
	if err != nil {
		return Drop{}, complaint(err)
	}
	if !json.Valid(data) { // the parser allows what people write
		return Drop{}, &Error{Message: "is not plain JSON"}
	}
	d, err := fromDocument(doc.Root())
	if err != nil {
		return Drop{}, complaint(err)
	}
	return d, nil
}

func fromDocument(root document.Node) (d Drop, err error) {
	known := []string{"schemaVersion", "attempt", "status", "reason", "fields"}
	version, err := root.Need("schemaVersion")
	if err != nil {
		return d, err
	}
	number, err := version["schemaVersion"].Int()
	if err != nil {
		return d, err
	}
	if d.SchemaVersion = int(number); d.SchemaVersion != SchemaVersion {
		return d, nil // which check says; the keys of another version are others
	}
	members, err := root.Object()
	if err != nil {
		return d, err
	}
	values, err := root.Need(known...)
	if err != nil {
		return d, err
	}
	for _, m := range members {
		if !slices.Contains(known, m.Name) {
			return d, m.Unknown(known)
		}
	}
	var status string
	for _, text := range []struct {
		key string
		to  *string
	}{{"attempt", &d.Attempt}, {"status", &status}, {"reason", &d.Reason}} {
		if *text.to, err = values[text.key].Text(); err != nil {
			return d, err
		}
	}
	d.Status, d.Fields = job.Status(status), values["fields"].JSON()
	return d, nil
}

func complaint(err error) *Error {
	e := &Error{Message: err.Error()}
	if d, ok := errors.AsType[*document.Error](err); ok {
		e.Field, e.Message = d.Field, d.Message
	}
	return e
}
