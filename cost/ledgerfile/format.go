package ledgerfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"aesop/cost"
)

// Format is one that calls are kept in.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"
	CSV      Format = "csv"
	Markdown Format = "markdown"
)

// Detect finds out the format of a file by its name, or else by its first sign, which stays to be read in the reader that comes back.
func Detect(name string, r io.Reader) (Format, io.Reader) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return JSONL, r
	case ".csv":
		return CSV, r
	case ".md", ".markdown":
		return Markdown, r
	}
	buffered := bufio.NewReader(r)
	head, _ := buffered.Peek(512) // an error comes again when it is read
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(head) == 0 || head[0] == '{':
		return JSONL, buffered
	case head[0] == '|' || head[0] == '#':
		return Markdown, buffered
	}
	return CSV, buffered
}

// Read is ReadJSONL, ReadCSV or ReadMarkdown.
func Read(f Format, r io.Reader, add func(cost.Call) error) (Report, error) {
	switch f {
	case JSONL:
		return ReadJSONL(r, add)
	case CSV:
		return ReadCSV(r, add)
	case Markdown:
		return ReadMarkdown(r, add)
	}
	return Report{}, fmt.Errorf("there is no format %q", f)
}

// Write is WriteJSONL, WriteCSV or WriteMarkdown.
func Write(f Format, w io.Writer, calls iter.Seq2[cost.Call, error]) error {
	switch f {
	case JSONL:
		return WriteJSONL(w, calls)
	case CSV:
		return WriteCSV(w, calls)
	case Markdown:
		return WriteMarkdown(w, calls)
	}
	return fmt.Errorf("there is no format %q", f)
}
