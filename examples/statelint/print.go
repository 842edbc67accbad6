package main

import (
	"encoding/json"
	"fmt"
	"io"
)

const schemaVersion = 1

const (
	outcomeExact   = "exact"
	outcomeDiffers = "differs"
	outcomeError   = "error"
)

// document is what a run found out.
type document struct {
	SchemaVersion int          `json:"schemaVersion"`
	Outcome       string       `json:"outcome"`
	Calls         []call       `json:"calls"` // all, also those that the baseline has
	Different     []difference `json:"different"`
}

type errorDocument struct {
	SchemaVersion int          `json:"schemaVersion"`
	Outcome       string       `json:"outcome"`
	Error         errorMessage `json:"error"`
}

type errorMessage struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func newDocument(calls []call, different []difference) document {
	d := document{SchemaVersion: schemaVersion, Outcome: outcomeExact, Calls: calls, Different: different}
	if len(different) > 0 {
		d.Outcome = outcomeDiffers
	}
	return d
}

func (d document) print(o options) {
	if o.json {
		printJSON(o.stdout, d)
		return
	}
	for _, row := range d.Different {
		if row.Found < row.Allowed {
			fmt.Fprintf(o.stdout, "%s: %s touches %s %d times, and the row has %d: lower or remove it (--update)\n", o.baseline, row.File, row.Name, row.Found, row.Allowed)
			continue
		}
		for _, c := range d.Calls {
			if c.File == row.File && c.Name == row.Name {
				fmt.Fprintf(o.stdout, "%s:%d: %s\n", c.File, c.Line, c.Message)
			}
		}
		if row.Allowed > 0 {
			fmt.Fprintf(o.stdout, "%s: of these %d calls the row has %d\n", o.baseline, row.Found, row.Allowed)
		}
	}
	if len(d.Different) == 0 {
		fmt.Fprintf(o.stdout, "the baseline is exact; calls in it: %d\n", len(d.Calls))
	}
}

// fail tells why nobody can tell.
func fail(o options, stderr io.Writer, err error) int {
	if o.json {
		printJSON(o.stdout, errorDocument{schemaVersion, outcomeError, errorMessage{"not_evaluated", err.Error()}})
	} else {
		fmt.Fprintln(stderr, "statelint:", err)
	}
	return unknown
}

func printJSON(w io.Writer, v any) {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // to standard output, which may be closed
}
