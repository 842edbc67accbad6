package cost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// AlertFile is an AlertSink that appends a line of JSON to the file of that path and syncs it. It makes the file where it is
// missing. Any number of goroutines and processes may write to one file.
type AlertFile string

// Alert implements AlertSink.
func (path AlertFile) Alert(ctx context.Context, a Alert) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(struct {
		SchemaVersion int `json:"schemaVersion"`
		Alert
		Text string `json:"text"`
	}{1, a, a.String()})
	if err != nil {
		return fmt.Errorf("append an alert to %s: %w", path, err)
	}
	file, err := os.OpenFile(string(path), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("append an alert: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	line = append(line, '\n')
	if torn, err := endsWithinLine(file); err != nil {
		return fmt.Errorf("append an alert: %w", err)
	} else if torn {
		line = append([]byte{'\n'}, line...) // whoever wrote that line died
	}
	if _, err := file.Write(line); err != nil { // one write, so that lines of several writers do not mix
		return fmt.Errorf("append an alert: %w", err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("append an alert: %w", err)
	}
	return nil
}

func endsWithinLine(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
