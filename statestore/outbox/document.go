package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
)

// schemaVersion is that of documents.
const schemaVersion = 1

// document is an intent as receivers get it.
type document struct {
	SchemaVersion int `json:"schemaVersion"`
	Intent
}

// Document is an intent as a JSON object on one line, with its schemaVersion and without a line end: what the sinks of aesop give to receivers.
func Document(i Intent) ([]byte, error) {
	text, err := encode(document{schemaVersion, i})
	if err != nil {
		return nil, fmt.Errorf("write intent %s: %w", i.ID, err)
	}
	return text, nil
}

// ErrNewer says that a document was written by a newer version: what it means is not known here.
var ErrNewer = errors.New("its schemaVersion is newer than this program")

// ParseDocument reads what Document wrote. What a newer version wrote is an ErrNewer.
func ParseDocument(text []byte) (Intent, error) {
	var d document
	err := json.Unmarshal(text, &d)
	if err == nil && d.SchemaVersion > schemaVersion {
		err = ErrNewer
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return Intent{}, fmt.Errorf("read an intent: %w", err)
	}
	return d.Intent, nil
}
