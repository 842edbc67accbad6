package stateapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aesop/statestore"
)

// Where keys are kept:
//
//	once/KEY         the digest of the request and its answer
//	once-at/NUMBER   the key, in the order in which keys were used
//	once-span        which numbers there are

// KeysKept is how many keys of a store are remembered: the newest. One that was forgotten counts as new, so whoever
// repeats a request must do so before so many others were made with keys.
const KeysKept = 10_000

const maxKey = 200

const spanKey = statestore.Key("once-span")

func onceKey(key string) statestore.Key { return statestore.Key("once/" + key) }
func onceAt(n uint64) statestore.Key    { return statestore.Key(fmt.Sprintf("once-at/%016x", n)) }

// answered is what is remembered of a key.
type answered struct {
	Digest string          `json:"digest"` // of the request
	Answer json.RawMessage `json:"answer"`
	At     time.Time       `json:"at"`
}

// span numbers the keys that are remembered.
type span struct {
	First uint64 `json:"first"`
	Next  uint64 `json:"next"`
}

// once does something in one transaction, and with a key only where the key is new; otherwise it returns the answer of
// the first time. What fails leaves nothing, the key neither. Nothing is written before do, which compares versions
// before it writes.
func once[T any](ctx context.Context, w *WriteAPI, what, key string, request any, do func(tx statestore.Tx) (T, error)) (T, error) {
	var answer, none T
	if err := checkKey(key); err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	digest, err := digestOf(what, request)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	err = w.c.Store.Update(ctx, func(tx statestore.Tx) (err error) {
		answer, err = onceIn(tx, key, digest, do)
		return err
	})
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return answer, nil
}

// onceIn is once in a transaction.
func onceIn[T any](tx statestore.Tx, key, digest string, do func(tx statestore.Tx) (T, error)) (answer T, err error) {
	if key == "" {
		return do(tx)
	}
	before, known, err := recall(tx, key)
	switch {
	case err != nil:
		return answer, err
	case known && before.Digest != digest:
		return answer, &KeyReusedError{Key: key}
	case known:
		if err := json.Unmarshal(before.Answer, &answer); err != nil {
			return answer, statestore.DamagedRecord(onceKey(key), err)
		}
		return answer, nil
	}
	if answer, err = do(tx); err != nil {
		return answer, err
	}
	return answer, remember(tx, key, digest, answer)
}

func checkKey(key string) error {
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return fmt.Errorf("key %.80q: %w: must be at most %d bytes without control characters", key, ErrInvalid, maxKey)
	}
	return nil
}

// digestOf tells requests apart. What is stored of a request that has a token is this.
func digestOf(what string, request any) (string, error) {
	data, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(what+"\x00"), data...))
	return hex.EncodeToString(sum[:]), nil
}

// recall is what is remembered of a key.
func recall(tx statestore.Tx, key string) (before answered, known bool, err error) {
	record, err := tx.Get(onceKey(key))
	if errors.Is(err, statestore.ErrNotFound) {
		return before, false, nil
	}
	if err != nil {
		return before, false, err
	}
	err = json.Unmarshal(record.Value, &before)
	if err == nil && before.Digest == "" {
		err = errors.New("it has no digest of a request")
	}
	if err != nil {
		return before, false, statestore.DamagedRecord(record.Key, err)
	}
	return before, true, nil
}

// remember keeps the answer to a key that is new, and forgets the oldest where there are too many.
func remember(tx statestore.Tx, key, digest string, answer any) error {
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	value, err := json.Marshal(answered{Digest: digest, Answer: data, At: tx.Now()})
	if err != nil {
		return err
	}
	s, err := loadSpan(tx)
	if err != nil {
		return err
	}
	if s.Next-s.First >= KeysKept {
		if err := forget(tx, s.First); err != nil {
			return err
		}
		s.First++
	}
	if _, err := tx.Put(onceKey(key), value, 0); err != nil {
		return err
	}
	if _, err := tx.Put(onceAt(s.Next), []byte(key), 0); err != nil {
		return err
	}
	s.Next++
	if value, err = json.Marshal(s); err != nil {
		return err
	}
	_, err = tx.Put(spanKey, value, statestore.Any)
	return err
}

func loadSpan(tx statestore.Tx) (s span, err error) {
	record, err := tx.Get(spanKey)
	if errors.Is(err, statestore.ErrNotFound) {
		return s, nil
	}
	if err == nil {
		bad := json.Unmarshal(record.Value, &s)
		if bad == nil && s.First > s.Next {
			bad = fmt.Errorf("it begins at %d and ends at %d", s.First, s.Next)
		}
		if bad != nil {
			err = statestore.DamagedRecord(spanKey, bad)
		}
	}
	return s, err
}

// forget removes the key that has a number. That it is gone already keeps nobody from writing.
func forget(tx statestore.Tx, n uint64) error {
	record, err := tx.Get(onceAt(n))
	if errors.Is(err, statestore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := tx.Delete(onceKey(string(record.Value)), statestore.Any); err != nil && !errors.Is(err, statestore.ErrNotFound) {
		return err
	}
	return tx.Delete(record.Key, statestore.Any)
}
