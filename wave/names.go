package wave

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// NewID names a wave: its start in UTC, and four hex digits of r.
func NewID(now time.Time, r io.Reader) (string, error) {
	var b [2]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("wave id: %w", err)
	}
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:]), nil
}

// Branch is the branch of a wave.
func Branch(wave string) string { return "aesop/" + wave }

var plainID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// itemName is an item's id as it can stand in refs and file names.
func itemName(id string) string {
	if plainID.MatchString(id) && len(id) <= 100 {
		return id
	}
	return "x-" + hex.EncodeToString([]byte(id))
}

// ItemRef is the ref on the remote that holds an item's shipment.
func ItemRef(id string) string { return "refs/aesop/items/" + itemName(id) }

// Place names a state directory in a store that several may share: 12 hex digits of the hash of this host and the directory.
func Place(state string) string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\x00" + state))
	return hex.EncodeToString(sum[:6])
}

// mark marks the processes of a part of a wave; it is unique on this host, since the end of one run kills all that carry its mark.
func (s *Scheduler) mark(wave, part string) string {
	return Place(s.config.State) + "/" + wave + "/" + part
}
