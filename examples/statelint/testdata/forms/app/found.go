// Package app is somebody's orchestrator.
package app

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"io/ioutil"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"

	"aesop"
	"aesop/helper"
	"aesop/statestore/sqlite"
	"aesop/tracker"
	"aesop/wave"
)

const haltName = "HALT"

var statusFile = "JOB/status.json"

var haltThere = strings.ToLower

type mirror struct {
	dir  string
	file string
}

func direct(state string) {
	os.ReadFile("state/HALT")                                       // want HALT
	os.Open(filepath.Join(state, "HALT"))                           // want HALT
	os.OpenFile(path.Join(state, "tracker.json"), os.O_RDWR, 0o600) // want tracker.json
	os.WriteFile(state+"/"+haltName, nil, 0o600)                    // want HALT
	os.Create(fmt.Sprintf("%s/waves/%s/report.json", state, "w"))   // want report.json
	os.Stat(fmt.Sprintf("%s/%s", state, haltName))                  // want HALT
	os.Remove(strings.Join([]string{state, "publish.json"}, "/"))   // want publish.json
	os.Rename(state+"/x", state+"/manifest.json")                   // want manifest.json
	os.Rename(state+"/tracker.json", state+"/alerts.jsonl")         // want alerts.jsonl tracker.json
	os.ReadFile(state + `\HALT`)                                    // want HALT
	os.ReadFile(state + "/state.db-wal")                            // want state.db
	os.ReadDir(filepath.Join(state, "locks"))                       // want locks/
	os.Remove(filepath.Join(state, "locks", "wave-1.lock"))         // want locks/
	ioutil.ReadFile("aesop.json")                                   // want aesop.json
	fs.ReadFile(os.DirFS(state), "HALT")                            // want HALT
	os.DirFS(state).Open("HALT")                                    // want HALT
	syscall.Unlink(state + "/HALT")                                 // want HALT
	template.ParseFiles(state + "/waves/w/report.json")             // want report.json
	if root, err := os.OpenRoot(state); err == nil {
		root.ReadFile("HALT")                     // want HALT
		root.OpenFile(haltName, os.O_RDWR, 0o600) // want HALT
	}
	sql.Open("sqlite", "file:"+state+"/state.db?mode=ro")                 // want state.db
	sql.Open("sqlite", fmt.Sprintf("file:%s?mode=ro", state+"/state.db")) // want state.db
	exec.Command("cat", filepath.Join(state, "HALT"))                     // want HALT
	exec.Command("sh", "-c", "cat tracker.json | wc -l")                  // want tracker.json
}

func twice(state string) {
	errors.Join(os.Remove(state+"/HALT"), os.Remove(state+"/HALT")) // want HALT HALT
	os.Rename(state+"/HALT", state+"/HALT")                         // want HALT
}

func variables(state string) {
	name := filepath.Join(state, "HALT")
	abs, err := filepath.Abs(name)
	if err != nil {
		return
	}
	os.ReadFile(abs)             // want HALT
	os.ReadFile(abs + ".draft")  // want HALT
	os.ReadFile(statusFile)      // want status.json
	os.ReadFile(helper.HaltFile) // want HALT
	os.ReadFile(tracker.Name)    // want tracker.json
	for _, n := range []string{"x", "HALT"} {
		os.Remove(n) // want HALT
	}
	for n, text := range map[string]string{"tracker.json": "{}"} {
		os.WriteFile(filepath.Join(state, n), []byte(text), 0o600) // want tracker.json
	}
	byName := map[string]string{}
	byName["halt"] = name
	os.ReadFile(byName["halt"]) // want HALT
	m := mirror{dir: state}
	m.file = filepath.Join(m.dir, "status.json")
	os.ReadFile(m.file) // want status.json
	m.read()
	var later string
	func() { later = name }()
	os.ReadFile(later) // want HALT
}

func (m mirror) read() { os.ReadFile(m.file) } // want status.json

func functions(p aesop.Place) {
	os.ReadFile(p.Halt().Path())                            // want HALT
	os.ReadFile(wave.ReportPath(p.State, "w"))              // want report.json
	os.ReadFile(own(p.State))                               // want HALT
	os.ReadFile(p.Backlog)                                  // want tracker.json
	os.ReadFile(helper.In(p.State, "a", "HALT"))            // want HALT
	os.ReadFile(helper.First("HALT", "x"))                  // want HALT
	helper.Exists(filepath.Join(p.State, "HALT"))           // want HALT
	helper.Both("x", p.Halt().Path())                       // want HALT
	helper.Touch(p.Halt().Path())                           // want HALT
	helper.Load(helper.Options{Path: "HALT"})               // want HALT
	helper.NewReader("HALT").Read()                         // want HALT
	local(p.Halt().Path())                                  // want HALT
	sqlite.Open(sqlite.Config{Path: p.State + "/state.db"}) // want state.db
	options := helper.Options{}
	options.Path = p.Backlog
	helper.Load(options)                            // want HALT tracker.json
	os.Remove(helper.Options{Path: "HALT"}.Where()) // want HALT
	helper.Open(helper.Options{Path: "HALT"})       // want HALT
	helper.Touch[string]("HALT")                    // want HALT
	q, _ := aesop.Locate(".", "s")
	os.Stat(q.Backlog) // want tracker.json
}

func own(state string) string { return filepath.Join(state, haltName) }

// local hands on to itself too.
func local(path string) {
	if helper.Exists(path) {
		local(path)
	}
}

func values(state string) {
	read := os.ReadFile
	read(state + "/HALT")                       // want HALT
	look := func(name string) { os.Stat(name) } // want HALT
	look("HALT")
	func(name string) { os.Stat(name) }("HALT") // want HALT
	name := func() string { return "HALT" }
	os.Stat(name()) // want HALT
	haltThere = func(string) string { return "HALT" }
	os.Stat(haltThere("")) // want HALT
	with(os.ReadFile, "other")
	os.WriteFile(three()) // want HALT
	if root, err := os.OpenRoot(state); err == nil {
		open := root.Open
		open("HALT") // want HALT
	}
	var check checker = func(name string) error { return os.Remove(name) } // want HALT
	check("HALT")
	t := table{open: os.Open}
	t.open("HALT")               // want HALT
	(*os.Root).Open(nil, "HALT") // want HALT
	//nolint:all
	os.Stat("HALT") // want HALT
}

type checker func(string) error

func three() (string, []byte, fs.FileMode) { return "HALT", nil, 0o600 }

// with calls what it is lent.
func with(read func(string) ([]byte, error), name string) {
	read(name)
	read("HALT") // want HALT
}

type table struct {
	open func(string) (*os.File, error)
}
