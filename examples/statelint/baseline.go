package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aesop/examples/statelint/internal/reads"
)

// row names what one source file touches. The file is relative to the folder of the baseline, with slashes.
type row struct{ file, name string }

func (r row) compare(other row) int {
	return cmp.Or(strings.Compare(r.file, other.file), strings.Compare(r.name, other.name))
}

// lookedAt is an error where nobody can tell whether the calls of a row are still there. Those of a file that is gone are gone.
func (r row) lookedAt(root string, files map[string]bool) error {
	if files[r.file] {
		return nil
	}
	_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(r.file)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, fmt.Errorf("%s was not looked at: name its package, and set GOOS and tags to those that compile it", r.file))
}

// readBaseline reads the rows of a file.
func readBaseline(name string) (map[row]int, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return map[row]int{}, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := parseBaseline(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return rows, nil
}

// parseBaseline reads rows; an error begins with the number of the line.
func parseBaseline(text string) (map[row]int, error) {
	rows := map[row]int{}
	var before row
	for n := 1; text != ""; n++ {
		line, rest, whole := strings.Cut(text, "\n")
		text = rest
		r, count, err := parseRow(line)
		switch {
		case err != nil:
		case !whole:
			err = errors.New("the last line has no end")
		case n > 1 && r == before:
			err = errors.New("the row is there twice")
		case n > 1 && r.compare(before) < 0:
			err = errors.New("the rows are not sorted")
		}
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		rows[r], before = count, r
	}
	return rows, nil
}

func parseRow(line string) (row, int, error) {
	fields := strings.Split(line, " ")
	if len(fields) < 3 {
		return row{}, 0, fmt.Errorf("%q is not FILE NAME COUNT", line)
	}
	last := len(fields) - 1
	r := row{strings.Join(fields[:last-1], " "), fields[last-1]} // a file's name may have spaces
	count, err := strconv.Atoi(fields[last])
	if err != nil || count < 1 || strconv.Itoa(count) != fields[last] {
		return row{}, 0, fmt.Errorf("%q is not a count of calls", fields[last])
	}
	if _, ok := reads.Lookup(r.name); !ok {
		return row{}, 0, fmt.Errorf("%q is none of the files that are watched", r.name)
	}
	if path.Clean(r.file) != r.file || !fs.ValidPath(r.file) || strings.Contains(r.file, `\`) {
		return row{}, 0, fmt.Errorf("%q is not the path of a file below the baseline, with slashes", r.file)
	}
	return r, count, nil
}

// formatBaseline is the text of rows.
func formatBaseline(rows map[row]int) string {
	var b strings.Builder
	for _, r := range slices.SortedFunc(maps.Keys(rows), row.compare) {
		fmt.Fprintf(&b, "%s %s %d\n", r.file, r.name, rows[r])
	}
	return b.String()
}

// writeBaseline writes the rows; without any, there is no file.
func writeBaseline(name string, rows map[row]int) error {
	if len(rows) > 0 {
		return os.WriteFile(name, []byte(formatBaseline(rows)), 0o644)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// updated are the rows without what is gone and, where they may grow, with what is new.
func updated(rows, found map[row]int, grow bool) map[row]int {
	next := map[row]int{}
	for r, n := range found {
		if !grow {
			n = min(n, rows[r])
		}
		if n > 0 {
			next[r] = n
		}
	}
	return next
}

// difference is a row that is not exact.
type difference struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Found   int    `json:"found"`
	Allowed int    `json:"allowed"`
}

// compare are the rows that are not exact, sorted.
func compare(rows, found map[row]int) []difference {
	all := maps.Clone(found)
	for r := range rows {
		all[r] = found[r]
	}
	different := []difference{}
	for _, r := range slices.SortedFunc(maps.Keys(all), row.compare) {
		if found[r] != rows[r] {
			different = append(different, difference{r.file, r.name, found[r], rows[r]})
		}
	}
	return different
}
