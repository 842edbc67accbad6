package ledgerfile

import (
	"fmt"
	"regexp"
	"time"
)

// ParseTime reads the time of a call in ISO 8601; one without a zone is UTC.
func ParseTime(text string) (time.Time, error) {
	if !isoTime.MatchString(text) {
		return time.Time{}, fmt.Errorf("%.40q is no time such as 2026-05-01T12:00:00Z", text)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999-0700"} {
		at, err := time.Parse(layout, text)
		switch {
		case err != nil:
			continue
		case at.Year() < 1970:
			return time.Time{}, fmt.Errorf("%.40q is no time of a call", text)
		}
		return at.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%.40q is no time that there is", text)
}

// isoTime is stricter than time.Parse.
var isoTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$`)
