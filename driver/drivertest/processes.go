package drivertest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Running finds the running processes of a task's mark, and their names by process id. It reads /proc itself, so that it does not
// share a fault with the code under test; where there is none, it finds nothing.
func Running(mark string) map[int]string {
	found := map[int]string{}
	each("environ", func(pid int, environ []byte) {
		if bytes.Contains(environ, []byte("AESOP_MARK="+mark+"\x00")) {
			name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
			found[pid] = strings.TrimSpace(string(name))
		}
	})
	return found
}

// shownInArguments returns the arguments of a process that contain one of the words.
func shownInArguments(words ...string) (arguments string) {
	each("cmdline", func(_ int, data []byte) {
		for _, word := range words {
			if bytes.Contains(data, []byte(word)) {
				arguments = strings.ReplaceAll(string(data[:min(len(data), 200)]), "\x00", " ")
			}
		}
	})
	return arguments
}

func each(file string, f func(pid int, data []byte)) {
	paths, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if data, err := os.ReadFile(path); err == nil {
			f(pid, data)
		}
	}
}

// poll asks until the answer is yes, ctx ends or the time is over.
func poll(ctx context.Context, atMost time.Duration, yes func() bool) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
