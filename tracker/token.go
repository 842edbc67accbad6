package tracker

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// NewToken makes the secret of a claim or of an attempt at a job: 32 random bytes in hex. nil reads those of crypto/rand. It
// belongs to the holder alone and is never stored.
func NewToken(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	var secret [32]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return hex.EncodeToString(secret[:]), nil
}

// AttemptID is what everybody may know of a token: the first 16 hex digits of its SHA-256.
func AttemptID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:8])
}
