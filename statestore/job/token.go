package job

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
)

// tokenBytes is how much of a token is random.
const tokenBytes = 32

// NewToken makes the secret of an attempt from 32 random bytes; nil reads those of crypto/rand. It belongs to the holder alone
// and is never stored.
func NewToken(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	secret := make([]byte, tokenBytes)
	if _, err := io.ReadFull(random, secret); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return hex.EncodeToString(secret), nil
}

// isToken says whether NewToken could have made it.
func isToken(token string) bool {
	secret, err := hex.DecodeString(token)
	return err == nil && len(secret) == tokenBytes
}
