package wave

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// JobID is the job of an item's worker in a wave.
func JobID(wave, item string) string { return wave + "/" + itemName(item) }

// itemName is an item's id as it can stand in refs and file names.
func itemName(id string) string {
	if plainID.MatchString(id) && len(id) <= maxName && !strings.HasPrefix(id, "x-") {
		return id
	}
	if len(id) > maxName {
		sum := sha256.Sum256([]byte(id))
		return "x-sha256-" + hex.EncodeToString(sum[:])
	}
	return "x-" + hex.EncodeToString([]byte(id))
}

// maxName bounds the ids that stand in names as they are, or in hex: file systems take 255 bytes.
const maxName = 100

// pathsIn are the paths of what lies in a folder and is called prefix, something, suffix. A folder that is not there has none. The
// folder's own path may have any characters, unlike in a pattern of filepath.Glob.
func pathsIn(dir, prefix, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), prefix); ok && strings.HasSuffix(rest, suffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// ItemRef is the ref on the remote that holds an item's shipment.
func ItemRef(id string) string { return "refs/aesop/items/" + itemName(id) }

// mark marks the processes of a part of a wave; it is unique on this host, since the end of one run kills all that carry its mark.
func (s *Scheduler) mark(wave, part string) string { return s.place + "/" + wave + "/" + part }
