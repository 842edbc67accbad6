package transcript

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// State is how far an Ingest came. The zero State is before the first. It is a JSON document that the caller keeps: it has names of
// files, sessions and models, and no text of a session. A State is not changed by an Ingest that begins with it.
type State struct {
	files   map[string]fileState
	pending []message // that may grow
	told    map[key]told
}

// fileState is where a file was left. Claude Code's files are named by their path, Codex' by the name alone, since it moves them.
type fileState struct {
	Size     int64          `json:"size"`
	Changed  time.Time      `json:"changed"` // as the file system says
	Offset   int64          `json:"offset"`  // of the first line that was not read
	Lines    int64          `json:"lines"`
	Head     print          `json:"head,omitzero"` // of what was read: its first bytes
	Tail     print          `json:"tail,omitzero"` // and its last
	LastTime time.Time      `json:"lastTime,omitzero"`
	Open     map[string]key `json:"open,omitempty"` // agent to its message that may grow
	Codex    *codexState    `json:"codex,omitempty"`
}

// clone is a copy that may be changed.
func (f fileState) clone() fileState {
	f.Open = maps.Clone(f.Open)
	if f.Codex != nil {
		own := *f.Codex
		own.Marks = slices.Clone(own.Marks)
		f.Codex = &own
	}
	return f
}

// again is the state in which a file is read from its beginning.
func (f fileState) again() fileState {
	if f.Codex == nil {
		return fileState{}
	}
	return fileState{Codex: &codexState{Session: f.Codex.Session, Told: f.Codex.Told}}
}

// same says whether a file still begins as it did and still has what was read last.
func (f fileState) same(r io.ReaderAt) bool {
	return f.Head.of(r, 0) && f.Tail.of(r, f.Offset-f.Tail.Bytes)
}

// print takes the fingerprints of what was read.
func (f *fileState) print(r io.ReaderAt) (err error) {
	n := min(printed, f.Offset)
	if f.Head, err = printOf(r, 0, n); err == nil {
		f.Tail, err = printOf(r, f.Offset-n, n)
	}
	return err
}

// print is a fingerprint of so many bytes.
type print struct {
	Bytes int64  `json:"bytes"`
	Sum   string `json:"sum"`
}

func printOf(r io.ReaderAt, at, n int64) (print, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, at, n), data); err != nil {
		return print{}, err
	}
	sum := sha256.Sum256(data)
	return print{n, hex.EncodeToString(sum[:8])}, nil
}

func (p print) of(r io.ReaderAt, at int64) bool {
	now, err := printOf(r, at, p.Bytes)
	return err == nil && (now == p || p == print{})
}

const (
	schemaVersion = 1
	printed       = 1024 // bytes at each end
)

type stateJSON struct {
	SchemaVersion int                  `json:"schemaVersion"`
	Files         map[string]fileState `json:"files"`
	Pending       []message            `json:"pending"`
	Told          []byte               `json:"told"` // see packTold
}

// MarshalJSON writes the document. The same state is the same text.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateJSON{schemaVersion, s.files, s.pending, packTold(s.told)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *State) UnmarshalJSON(data []byte) error {
	var in stateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("state of transcripts: %w", err)
	}
	if in.SchemaVersion != schemaVersion {
		return fmt.Errorf("state of transcripts: schemaVersion is %d, not %d", in.SchemaVersion, schemaVersion)
	}
	told, err := unpackTold(in.Told)
	if err != nil {
		return fmt.Errorf("state of transcripts: told: %w", err)
	}
	for name, f := range in.Files {
		if f.Offset < 0 || f.Lines < 0 ||
			f.Head.Bytes < 0 || f.Tail.Bytes < 0 || f.Head.Bytes > min(f.Offset, printed) || f.Tail.Bytes > min(f.Offset, printed) {
			return fmt.Errorf("state of transcripts: files: %q: offset %d and lines %d cannot be", name, f.Offset, f.Lines)
		}
		if c := f.Codex; c != nil && (c.Calls < 0 || c.Told < 0 || c.Total.negative() || len(c.Marks)%8 != 0) {
			return fmt.Errorf("state of transcripts: files: %q: what it counted cannot be", name)
		}
	}
	*s = State{in.Files, in.Pending, told}
	return nil
}

// packTold writes each key in eight bytes, in order, and after it how often it was told and its counts as varints.
func packTold(all map[key]told) []byte {
	data := make([]byte, 0, 24*len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		t := all[k]
		data = appendKey(data, k)
		data = binary.AppendUvarint(data, uint64(t.times))
		for _, n := range t.counts {
			data = binary.AppendUvarint(data, uint64(n))
		}
	}
	return data
}

func unpackTold(data []byte) (map[key]told, error) {
	all := make(map[key]told, len(data)/24)
	damaged := errors.New("damaged")
	for len(data) > 0 {
		if len(data) < 8 {
			return nil, damaged
		}
		k := key(binary.BigEndian.Uint64(data))
		data = data[8:]
		var numbers [1 + classes]int64
		for i := range numbers {
			n, size := binary.Uvarint(data)
			if size <= 0 || n > 1<<50 {
				return nil, damaged
			}
			numbers[i], data = int64(n), data[size:]
		}
		all[k] = told{counts(numbers[1:]), int(numbers[0])}
	}
	return all, nil
}

func appendKey(data []byte, k key) []byte { return binary.BigEndian.AppendUint64(data, uint64(k)) }

// clone is a copy that may be changed.
func (s State) clone() State {
	c := State{files: maps.Clone(s.files), pending: slices.Clone(s.pending), told: maps.Clone(s.told)}
	if c.files == nil {
		c.files = map[string]fileState{}
	}
	if c.told == nil {
		c.told = map[key]told{}
	}
	return c
}
