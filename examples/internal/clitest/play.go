package clitest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func play(verb, arg string) error {
	switch verb {
	case "write":
		name, text, _ := strings.Cut(arg, "=")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text+"\n"), 0o644)
	case "prompt":
		prompt, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return os.WriteFile(arg, prompt, 0o644)
	case "usage":
		return os.WriteFile(filepath.Join(os.Getenv("AESOP_ATTEMPT_DIR"), "usage.json"), []byte(arg), 0o644)
	case "touch":
		return os.WriteFile(arg, nil, 0o644)
	case "wait":
		return wait(arg)
	case "fail":
		code, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		os.Exit(code)
	}
	return fmt.Errorf("unknown verb %q", verb)
}

// wait returns when a file exists.
func wait(name string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(name); err == nil {
			break
		}
	}
	return nil
}
