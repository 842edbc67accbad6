package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Genesis is what the first entry has for the hash of the one before.
const Genesis = "GENESIS"

// Head is the end of a log: what its anchor says, in a file beside it, so that entries do not go missing at the end unnoticed.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"` // of the last line; Genesis where there is none
}

const anchorName = "security-audit.anchor"

func writeAnchor(root *os.Root, head Head) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return replaceFile(root, anchorName, string(text)+"\n", 0o600, false) // it makes the name of a new log durable too
}

// readAnchor is the anchor; where there is none, that of an empty log.
func readAnchor(root *os.Root) (head Head, found bool, err error) {
	data, err := root.ReadFile(anchorName)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{0, Genesis}, false, nil
	}
	if err != nil {
		return head, false, err
	}
	if err := strict(data, &head); err != nil {
		return head, true, fmt.Errorf("%w: its anchor is not readable: %w", ErrDamaged, err)
	}
	return head, true, nil
}

// begin is the anchor. A new log gets one before its first entry, so that a log without one was not left so by a crash.
func begin(root *os.Root) (Head, error) {
	anchor, found, err := readAnchor(root)
	if err != nil || found {
		return anchor, err
	}
	switch _, err := root.Lstat(logName); {
	case err == nil:
		return anchor, fmt.Errorf("%w: its anchor is gone", ErrDamaged)
	case !errors.Is(err, fs.ErrNotExist):
		return anchor, err
	}
	return anchor, writeAnchor(root, anchor)
}
