package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aesop/examples/statelint/internal/reads"
)

// call is a call that touches a file of somebody else.
type call struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Name    string   `json:"name"`
	Owners  []string `json:"owners"`
	Instead string   `json:"instead"`
	Message string   `json:"message"`
}

func count(calls []call) map[row]int {
	counts := map[row]int{}
	for _, c := range calls {
		counts[row{c.File, c.Name}]++
	}
	return counts
}

// list are the source files of packages, from root. That there are none is an error.
func list(ctx context.Context, root string, packages []string) (map[string]bool, error) {
	out, err := command(ctx, append([]string{"list", "-json=Dir,GoFiles,CgoFiles", "--"}, packages...)...)
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir               string
			GoFiles, CgoFiles []string
		}
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file, err := below(root, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			files[file] = true
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there are no packages", strings.Join(packages, " "))
	}
	return files, nil
}

// vet runs go vet, with this program as its tool, and returns what it finds, sorted.
func vet(ctx context.Context, root string, packages []string) ([]call, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out, err := command(ctx, append([]string{"vet", "-vettool=" + self, "-json", "--"}, packages...)...)
	if err != nil {
		return nil, err
	}
	calls := []call{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var unit map[string]map[string]json.RawMessage // package, analyzer, and what it says
		if err := decoder.Decode(&unit); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go vet: %w", err)
		}
		for name, said := range unit {
			more, err := parseFindings(root, said[reads.Analyzer.Name])
			if err != nil {
				return nil, fmt.Errorf("go vet: %s: %w", name, err)
			}
			calls = append(calls, more...)
		}
	}
	slices.SortFunc(calls, func(a, b call) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Name, b.Name))
	})
	return calls, nil
}

// parseFindings reads what the analyzer said about a package: a list, or an object where it could not tell.
func parseFindings(root string, said json.RawMessage) ([]call, error) {
	if len(said) == 0 {
		return nil, nil
	}
	var findings []struct{ Category, Posn, Message string }
	if err := json.Unmarshal(said, &findings); err != nil {
		return nil, fmt.Errorf("%s", said)
	}
	var calls []call
	for _, d := range findings {
		c, err := position(root, d.Posn)
		if err != nil {
			return nil, err
		}
		watched, ok := reads.Lookup(d.Category)
		if !ok {
			return nil, fmt.Errorf("%q is none of the files that are watched", d.Category)
		}
		c.Name, c.Owners, c.Instead, c.Message = d.Category, watched.Owners, watched.Instead, d.Message
		calls = append(calls, c)
	}
	return calls, nil
}

// position takes FILE:LINE:COLUMN apart. A line directive may leave no column.
func position(root, posn string) (call, error) {
	file, last, ok := cutNumber(posn)
	if !ok {
		return call{}, fmt.Errorf("%q is no position", posn)
	}
	c := call{Line: last}
	if before, line, ok := cutNumber(file); ok {
		file, c.Line, c.Column = before, line, last
	}
	var err error
	c.File, err = below(root, file)
	return c, err
}

// cutNumber cuts the number behind the last colon off.
func cutNumber(text string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil
}

// below is the path of a file from root, with slashes.
func below(root, file string) (string, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil { // what a line directive names may not be there
		file = real
	}
	relative, err := filepath.Rel(root, file)
	if err != nil {
		return "", err
	}
	if name := filepath.ToSlash(relative); fs.ValidPath(name) {
		return name, nil
	}
	return "", fmt.Errorf("%s is not below %s, where the baseline is", file, root)
}

// command runs the Go command; the error has what it said.
func command(ctx context.Context, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
