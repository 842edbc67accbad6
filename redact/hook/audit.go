package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aesop/internal/filelock"
)

// Events of the audit log.
const (
	PushAllowed   = "push_allowed"
	PushBlocked   = "push_blocked"
	AuditRepaired = "audit_repaired" // what a crash had left was put in order; the reason is the code of the problem
)

// Entry is one line of the audit log. Nobody checks what is in it: Run keeps secrets out.
type Entry struct {
	Seq      int64     `json:"seq"`      // from 1, without gaps
	PrevHash string    `json:"prevHash"` // SHA-256 of the line before, without its end; Genesis in the first
	At       time.Time `json:"at"`       // UTC
	Repo     string    `json:"repo"`
	Event    string    `json:"event"`
	Reason   string    `json:"reason"`
	User     string    `json:"user"`
}

// ErrDamaged is returned for a log that is not what was written. Nothing is added to it; Check says what is wrong. To begin anew, move
// the log and its anchor away.
var ErrDamaged = errors.New("the audit log is damaged")

const (
	logName      = "security-audit.log"
	longestField = 4 << 10
	// longest is more bytes than any line of the log has: four fields, in which JSON may write each byte as six.
	longest = 128 << 10
)

// Log is the audit log in a state folder. It is safe for concurrent use, also by several processes.
type Log struct {
	dir  string
	lock *filelock.Turnstile
}

// OpenLog names the log of a state folder. Nothing is made before Append.
func OpenLog(state string) *Log {
	return &Log{state, filelock.NewTurnstile(filepath.Join(state, "locks"), "security-audit")}
}

// Path is the log's file.
func (l *Log) Path() string { return filepath.Join(l.dir, logName) }

// Append adds an entry, whose number and link it fills in. It waits for others as long as ctx lets it; on nil the entry is durable.
// What a crash left of an append is put in order first, and an entry says so; any other difference is ErrDamaged.
func (l *Log) Append(ctx context.Context, e Entry) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("audit log %s: %w", l.Path(), err)
		}
	}()
	if l.dir == "" {
		return errors.New("no folder is given")
	}
	unlock, err := l.lock.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	anchor, err := begin(root)
	if err != nil {
		return err
	}
	flags := os.O_RDWR
	if anchor.Seq == 0 {
		flags |= os.O_CREATE
	}
	file, err := root.OpenFile(logName, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it is gone, and its anchor says that there were %d entries", ErrDamaged, anchor.Seq)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	head, repaired, err := settle(root, file, anchor)
	if err != nil {
		return err
	}
	if repaired != "" {
		note := Entry{At: e.At, Repo: e.Repo, Event: AuditRepaired, Reason: string(repaired), User: e.User}
		if head, err = extend(root, file, head, note); err != nil {
			return err
		}
	}
	_, err = extend(root, file, head, e)
	return err
}

// extend writes an entry behind head, and then the anchor.
func extend(root *os.Root, file *os.File, head Head, e Entry) (Head, error) {
	e.Seq, e.PrevHash, e.At = head.Seq+1, head.Hash, e.At.UTC()
	for _, text := range []*string{&e.Repo, &e.Event, &e.Reason, &e.User} {
		*text = (*text)[:min(len(*text), longestField)]
	}
	line, err := json.Marshal(e)
	if err != nil {
		return head, err
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return head, err
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return head, err
	}
	if err := file.Sync(); err != nil {
		return head, err
	}
	head = Head{e.Seq, digest(line)}
	return head, writeAnchor(root, head)
}

// strict reads one JSON value without unknown members.
func strict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}
