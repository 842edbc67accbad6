// Package outbox tells the world what the store has committed. News of a subject, an Intent, is added in the transaction that changes the
// subject, so that both are there or neither. A Notifier sends what is owed to each sink, oldest first, and settles exactly what was
// sent. What could not be sent stays owed, across restarts.
//
// Delivery is at least once: a process that dies between sending and settling sends again, with the same ID. Receivers de-duplicate on
// it; Seen does that for a receiver that keeps its state in a store, and the sinks of aesop (package sink) do it for theirs.
//
// Who is owed something is in the store: Subscribe names a sink there, and from then on every process that adds an intent owes it to
// that sink. A sink gets what is committed after it subscribed.
package outbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aesop/statestore"
)

// Where things are kept:
//
//	outbox/sink/SINK              the Subscription
//	outbox/intent/ID              the Intent with the Seq of its event, while it is owed to anybody
//	outbox/newest/SUBJECT/SEQ/ID  that it is owed, by the digest of its subject, newest first; it has no content
//	outbox/owed/ID/SINK           to whom it is owed; its content is the key of outbox/newest
//	outbox/queue/SINK/AT/SEQ/ID   what a sink is owed, in order, and how sending it went
//	outbox/turn/SINK              until when somebody has the turn to send to the sink
//	outbox/seen/RECEIVER/…        what a receiver has seen

// MaxSize is how many bytes an intent may have as JSON.
const MaxSize = 1 << 20

// ErrTooLarge is returned for an intent of more than MaxSize bytes.
var ErrTooLarge = errors.New("intent is too large")

// Intent is news of a subject, owed to sinks.
type Intent struct {
	ID      string          `json:"id"`      // the same on every try; receivers de-duplicate on it
	Kind    string          `json:"kind"`    // words with dots between them: job.complete
	Subject string          `json:"subject"` // what it is about: job/w1/greet
	Seq     int             `json:"seq"`     // of the subject's transition, from 1 and growing: of two intents of a subject the greater is newer
	At      time.Time       `json:"at"`      // when it happened, by the store's clock
	Data    json.RawMessage `json:"data"`    // the subject as it was right after; JSON, or null
}

// ID is the identity of an intent: a digest in hex. The same transition of the same subject has the same ID, whoever computes it.
func ID(subject string, seq int, kind string) string {
	digest := sha256.Sum256([]byte(subject + "\x00" + strconv.Itoa(seq) + "\x00" + kind))
	return hex.EncodeToString(digest[:])
}

// stored is an intent as it is kept.
type stored struct {
	Intent
	Event statestore.Seq `json:"event"` // that it tells of
}

var kindForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// check says what is wrong with an intent that has its ID.
func (i Intent) check() error {
	switch {
	case !kindForm.MatchString(i.Kind):
		return fmt.Errorf("its kind %q is not made of words with dots between them", i.Kind)
	case i.Subject == "" || !utf8.ValidString(i.Subject) || strings.ContainsRune(i.Subject, 0):
		return fmt.Errorf("its subject %q is not a name", i.Subject)
	case i.Seq < 1:
		return fmt.Errorf("its seq is %d, must be 1 or more", i.Seq)
	case i.ID != ID(i.Subject, i.Seq, i.Kind):
		return fmt.Errorf("its id %q is not that of its subject, seq and kind", i.ID)
	}
	return nil
}

// encode is a value as JSON on one line, without its end.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// damaged is the error of a record that cannot be read as what it should be. What it stood for is not sent.
func damaged(key statestore.Key, err error) error {
	return &statestore.DamagedError{What: "record " + string(key), Err: err}
}
