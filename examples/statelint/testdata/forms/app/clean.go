package app

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"aesop"
	"aesop/cost"
	"aesop/helper"
	"aesop/tracker"
	"aesop/wave"
)

//go:embed tracker.json
var first embed.FS

func clean(p aesop.Place) error {
	p.Halt().Note()
	helper.Note(p.State)
	wave.Alive(p.State)
	p.OpenStore()
	file, err := tracker.Open(tracker.Config{Path: filepath.Join(p.Repo, "tracker.json"), LockDir: filepath.Join(p.State, "locks")})
	if err != nil {
		return fmt.Errorf("%s: %w", p.Backlog, err)
	}
	file.Read()
	tracker.Open(tracker.Config{Path: p.Backlog})
	cost.AlertFile(filepath.Join(p.State, "alerts.jsonl")).Alert("HALT")
	fs.ReadFile(first, "tracker.json")
	first.ReadFile("tracker.json")

	os.ReadDir(filepath.Dir(p.Backlog)) // the folder is not the file
	os.ReadFile(filepath.Join(filepath.Dir(p.Backlog), "script.json"))
	os.ReadFile("tracker.json/other")
	os.ReadFile("my-tracker.json")
	os.ReadFile("HALTED")
	os.WriteFile("other", []byte("tracker.json"), 0o600)
	os.Setenv("FILE", "tracker.json")
	os.Getenv("HALT")
	helper.Both("HALT", "other")
	helper.Backlog(p.Backlog)
	helper.Open(helper.Options{Note: "HALT"})
	helper.Load(helper.Options{Path: "other", Note: "HALT"})
	exec.Command("echo", "a HALTED wave")
	os.Stdout.WriteString("HALT")
	fmt.Println("tracker.json", filepath.Join(p.State, "HALT"))
	if len("HALT") > 3 {
		return errors.New("HALT")
	}
	return nil
}
