package wave

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/statestore"
)

// Trailers of the engine's commits.
const (
	trailerItem      = "Aesop-Item"
	trailerWave      = "Aesop-Wave"
	trailerAttempt   = "Aesop-Attempt"
	trailerSignature = "Aesop-Signature"
)

// commit builds the item's commit on the base and makes sure that it is what was checked.
func (w *work) commit(ctx context.Context, changes []git.Change) (git.SHA, error) {
	engine, base := w.target.engine, w.target.Base
	ref := "refs/aesop/attempts/" + w.id + "/" + itemName(w.item.ID) + "/" + w.attempt
	if w.journal.Wave().Repositories[w.target.Name].Moves > 0 { // beside the one on the older base
		ref += "-on-" + git.Short(base)
	}
	description := git.Commit{Parents: []git.SHA{base}, Changes: changes, Who: w.target.identity(), When: w.journal.Wave().StartedAt, Ref: ref}
	content := tree.Digest(changes, base)
	key, err := w.s.signingKey(ctx)
	if err != nil {
		return "", err
	}
	description.Message = w.message(sign(key, w.item.ID, w.item.Fingerprint, w.id, w.attempt, base, content))
	built, err := engine.Build(ctx, description)
	if err != nil {
		return "", err
	}
	committed, err := engine.Changed(ctx, base, built)
	if err != nil {
		return "", err
	}
	if tree.Digest(committed, base) != content {
		return "", fmt.Errorf("commit %s does not hold what was checked", git.Short(built))
	}
	return built, nil
}

// message is the commit's text; its trailers are the last block.
func (w *work) message(signature string) string {
	title := strings.Join(strings.Fields(w.item.Title), " ")
	if title == "" {
		title = w.item.Slug
	}
	return title + "\n\n" + trailerBlock(map[string]string{trailerItem: w.item.ID, trailerWave: w.id, trailerAttempt: w.attempt, trailerSignature: signature})
}

func trailerBlock(values map[string]string) string {
	var b strings.Builder
	for _, name := range []string{trailerItem, trailerWave, trailerAttempt, trailerSignature} {
		if value, ok := values[name]; ok {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	return b.String()
}

// sign proves that a commit was made by who holds the key: everything that it means is covered.
func sign(key []byte, item, text, wave, attempt, parent, content string) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range []string{item, text, wave, attempt, parent, content} {
		fmt.Fprintf(mac, "%d:%s,", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// trailers are the engine's trailers in the last block of a message; a name that stands twice counts as absent.
func trailers(message string) map[string]string {
	message = strings.TrimRight(message, "\n")
	block := message[strings.LastIndex(message, "\n\n")+1:]
	found, twice := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(block) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if !ok || !strings.HasPrefix(name, "Aesop-") {
			continue
		}
		_, again := found[name]
		twice[name] = twice[name] || again
		found[name] = value
	}
	for name, yes := range twice {
		if yes {
			delete(found, name)
		}
	}
	return found
}

const signingKeyRecord = statestore.Key("key/signature")

// signingKey is the secret of this state with which commits are signed; it is made at first use.
func (s *Scheduler) signingKey(ctx context.Context) ([]byte, error) {
	fresh := make([]byte, 32)
	if _, err := io.ReadFull(s.config.Rand, fresh); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	var key []byte
	err := s.config.Store.View(ctx, func(r statestore.Reader) error {
		record, err := r.Get(signingKeyRecord)
		key = record.Value
		return err
	})
	if !notFound(err) {
		return key, err
	}
	return key, s.config.Store.Update(ctx, func(tx statestore.Tx) error {
		record, err := tx.Get(signingKeyRecord)
		if err == nil {
			key = record.Value
			return nil
		}
		if !notFound(err) {
			return err
		}
		key = fresh
		_, err = tx.Put(signingKeyRecord, fresh, 0)
		return err
	})
}

// signed says whether the trailers carry the signature of a commit with that parent and content, for an item with that text.
func signed(key []byte, t map[string]string, text, parent, content string) bool {
	want := sign(key, t[trailerItem], text, t[trailerWave], t[trailerAttempt], parent, content)
	return hmac.Equal([]byte(want), []byte(t[trailerSignature]))
}
