package wave_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aesop/statestore"
)

// planted are values by the name of what each stands for.
type planted map[string]string

// writtenAs are the ways in which anything could have written a value.
func writtenAs(value string) [][]byte {
	quoted, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(quoted))
	forms := []string{value, string(quoted[1 : len(quoted)-1]), string(bytes.Trim(twice, `"\`)), url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)),
		fmt.Sprintf("%q", value)[1 : len(fmt.Sprintf("%q", value))-1]}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 { // less the characters that neighbours decide too
			text := encoding.EncodeToString(append(make([]byte, before), value...))
			forms = append(forms, text[(before*8+5)/6:(before+len(value))*8/6])
		}
	}
	slices.Sort(forms)
	var all [][]byte
	for _, form := range slices.Compact(forms) {
		all = append(all, []byte(form))
	}
	return all
}

// in names those of the values that a text has, in any form.
func (p planted) in(text []byte) []string { return p.search()(text) }

// search is in for many texts.
func (p planted) search() func(text []byte) []string {
	names, forms := slices.Sorted(maps.Keys(p)), map[string][][]byte{}
	for _, name := range names {
		forms[name] = writtenAs(p[name])
	}
	return func(text []byte) (found []string) {
		for _, name := range names {
			if slices.ContainsFunc(forms[name], func(form []byte) bool { return bytes.Contains(text, form) }) {
				found = append(found, name)
			}
		}
		return found
	}
}

// haystack is everything that a wave leaves and tells, by where it is.
type haystack map[string][]byte

func (h haystack) addText(place, text string) { h[place] = append(h[place], text+"\n"...) }

// addFolder adds the files of a folder, and what they are called, but for some folders.
func (h haystack) addFolder(t *testing.T, name, root string, leave func(path string) bool) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		below := filepath.ToSlash(strings.TrimPrefix(path, root))
		if err != nil || leave(below) {
			if err == nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		h.addText(name+" (names)", below)
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		h[name+below] = data
		return err
	}))
}

// addStore adds each record and event by itself: in the database's file a value can be cut by the end of a page.
func (h haystack) addStore(t *testing.T, store statestore.Store) {
	t.Helper()
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			h["record "+string(record.Key)] = append([]byte(record.Key+" "), record.Value...)
		}
		for stored, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			h[fmt.Sprintf("event %s %d (%s)", stored.Stream, stored.Seq, stored.Type)] = append([]byte(stored.Stream+" "), stored.Data...)
		}
		return nil
	}))
}

// addGit adds the refs of a git directory and its objects of some types, as they read.
func (w *world) addGit(h haystack, name, dir string, types ...string) {
	w.t.Helper()
	h.addText(name+" refs", w.git("", "--git-dir="+dir, "for-each-ref"))
	for line := range strings.Lines(w.git("", "--git-dir="+dir, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")) {
		kind, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(types, kind) {
			h[name+" "+kind+" "+id] = []byte(w.git("", "--git-dir="+dir, "cat-file", "-p", id))
		}
	}
}

// wantNone fails for each place that has a planted value.
func (h haystack) wantNone(t *testing.T, p planted) {
	t.Helper()
	search := p.search()
	for _, place := range slices.Sorted(maps.Keys(h)) {
		for _, name := range search(h[place]) {
			at := bytes.Index(h[place], []byte(p[name]))
			t.Errorf("%s leaks into %s: …%.200q…", name, place, h[place][max(at-80, 0):])
		}
	}
}

// wantSome fails unless a text is found at each of some places, so that it is known that the search would have found what is not there.
func (h haystack) wantSome(t *testing.T, text string, places ...string) {
	t.Helper()
	for _, prefix := range places {
		found := false
		for place, data := range h {
			found = found || strings.HasPrefix(place, prefix) && len(planted{"control": text}.in(data)) > 0
		}
		if !found {
			t.Errorf("the control is not found in %q, so nobody knows what else was not", prefix)
		}
	}
}

// TestSearchFindsEveryForm: what the canary's search does not know, the canary cannot miss.
func TestSearchFindsEveryForm(t *testing.T) {
	const value = `ab"c/d&e` + "\t+f\\ghijk"
	p := planted{"v": value, "other": "something else"}
	object, err := json.Marshal(map[string]any{"bytes": []byte("before " + value + " after"), "text": value})
	must(t, err)
	nested, err := json.Marshal(string(object))
	must(t, err)
	for name, text := range map[string]string{"plain": "x" + value + "y", "JSON": string(object), "nested": string(nested), "query": url.Values{"a": {value}}.Encode(),
		"hex": hex.EncodeToString([]byte(value)), "quoted": fmt.Sprintf("%q", value), "base64": base64.StdEncoding.EncodeToString([]byte("xx" + value + "y"))} {
		if got := p.in([]byte(text)); !slices.Equal(got, []string{"v"}) {
			t.Errorf("%s: found %v", name, got)
		}
	}
	if got := p.in([]byte(value[1:])); got != nil {
		t.Errorf("found %v in a part", got)
	}
}
