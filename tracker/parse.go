package tracker

import (
	"crypto/sha256"
	"encoding/hex"
)

// Parse reads a backlog from its bytes, by the rules of files. source names it in messages. Errors are *FileError.
func Parse(source string, data []byte) (Backlog, error) {
	s, err := parseBacklog(source, data)
	if err != nil {
		return Backlog{}, err
	}
	return s.backlog(source), nil
}

// backlog is what a snapshot says, sharing nothing with it.
func (s *snapshot) backlog(source string) Backlog {
	sum := sha256.Sum256(s.data)
	b := Backlog{Items: make([]Item, len(s.items)), Source: source, Revision: hex.EncodeToString(sum[:])}
	for i, item := range s.items {
		b.Items[i] = item.clone()
	}
	return b
}
