package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"aesop/statestore"
)

const insideVariable = "AESOP_TEST_INSIDE"

// mounting runs the test again in a process that may mount file systems, which are gone with it, and says whether this is that
// process. Root needs a mount namespace only, everybody else one of users as well.
func mounting(t *testing.T) (inside bool) {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Geteuid() > 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWNS | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("this machine lets nobody mount: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// disk mounts a small disk.
func disk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func resize(t *testing.T, dir, size string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size="+size); err != nil {
		t.Fatal(err)
	}
}

func TestRealFullDisk(t *testing.T) {
	if !mounting(t) {
		return
	}
	dir := disk(t, "600k")
	path := filepath.Join(dir, "state.db")
	store := testOpen(t, path)
	acknowledged := 0
	write := func() error {
		return store.Update(t.Context(), func(tx statestore.Tx) error {
			_, put := tx.Put(statestore.Key(fmt.Sprint("k/", acknowledged)), make([]byte, 3000), 0)
			_, appended := tx.Append("s", statestore.Version(acknowledged), statestore.Entry{ID: fmt.Sprint(acknowledged), Type: "test"})
			return errors.Join(put, appended)
		})
	}
	verify := func(store *Store) {
		t.Helper()
		events := testEvents(t, store)
		if len(events) != acknowledged {
			t.Errorf("%d events, want the %d that were acknowledged", len(events), acknowledged)
		}
		for i := range events {
			testGet(t, store, statestore.Key(fmt.Sprint("k/", i)))
		}
	}
	var full error
	for full = write(); full == nil && acknowledged < 1000; full = write() {
		acknowledged++
	}
	if full == nil || !strings.Contains(full.Error(), path) || !strings.Contains(full.Error(), "full") {
		t.Fatalf("error after %d updates is %v", acknowledged, full)
	}
	if err := write(); err == nil {
		t.Fatal("the disk is full and an update was acknowledged")
	}
	verify(store)
	resize(t, dir, "4m")
	if err := write(); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	acknowledged++
	verify(store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	verify(testOpen(t, path))
}

func TestCreationOnAFullDisk(t *testing.T) {
	if !mounting(t) {
		return
	}
	dir := disk(t, "1m")
	path := filepath.Join(dir, "state.db")
	for room := 4; room < 1<<10; room += 4 {
		if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20-room<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		store, err := Open(t.Context(), Config{Path: path})
		if err == nil {
			if room < 16 {
				t.Errorf("it was made in %d KiB", room)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "damaged") {
			t.Errorf("with %d KiB the error is %v", room, err)
		}
		if left, _ := filepath.Glob(path + ".new*"); len(left) > 0 {
			t.Errorf("with %d KiB it left %v", room, left)
		}
	}
	testPut(t, testOpen(t, path), "k", "v")
}

// TestUpgradeOnAFullDisk has the disk full at every stage of an upgrade. Either it is done, or the file is as it was.
func TestUpgradeOnAFullDisk(t *testing.T) {
	if !mounting(t) {
		return
	}
	_, want := fresh(t)
	refused, backups := 0, 0
	for room := 56; room < 2000; room += 16 {
		_, data := old(t)
		dir := disk(t, fmt.Sprintf("%dk", room+len(data)/1024))
		path := filepath.Join(dir, "state.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		store, err := Open(t.Context(), Config{Path: path})
		if err == nil {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		refused++
		if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "damaged") {
			t.Errorf("with %d KiB the error is %v", room, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
			t.Errorf("with %d KiB the file was changed (%v)", room, err)
		}
		if _, err := os.Stat(path + ".v1.backup"); err == nil {
			backups++
		} else if left, _ := filepath.Glob(path + ".v1*"); len(left) > 0 {
			t.Errorf("with %d KiB it left %v", room, left)
		}
		resize(t, dir, "8m")
		if got := content(t, testOpen(t, path)); !slices.Equal(got, want) {
			t.Errorf("with %d KiB, and room afterwards, it holds something else", room)
		}
		if made, _ := filepath.Glob(path + ".v1*"); len(made) != 1 {
			t.Errorf("with %d KiB, and room afterwards, the backups are %v", room, made)
		}
	}
	if refused < 3 || backups == 0 || backups == refused {
		t.Errorf("of %d refusals %d were after the backup: not every stage was met", refused, backups)
	}
}

func TestReadOnly(t *testing.T) {
	if !mounting(t) {
		return
	}
	bind := func(t *testing.T, target string) {
		if err := errors.Join(unix.Mount(target, target, "", unix.MS_BIND, ""),
			unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	for name, target := range map[string]func(path string) string{
		"the file":                        func(path string) string { return path },
		"the folder":                      filepath.Dir,
		"the file, of an older version":   func(path string) string { return path },
		"the folder, of an older version": filepath.Dir,
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			if strings.HasSuffix(name, "version") {
				path, _ = old(t)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bind(t, target(path))
			store, err := Open(t.Context(), Config{Path: path})
			if err == nil {
				_ = store.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "read") || strings.Contains(err.Error(), "damaged") {
				t.Errorf("error is %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// TestOpenKeepsTheLocksOfOtherHandles has a reader in one handle while another is opened, which looks at the same files.
func TestOpenKeepsTheLocksOfOtherHandles(t *testing.T) {
	path := filled(t)
	store := testOpen(t, path)
	testPut(t, store, "k/000", "in the log")
	info, err := os.Stat(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	locks := func() int {
		t.Helper()
		data, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino))
	}
	err = store.View(t.Context(), func(statestore.Reader) error {
		before := locks()
		testOpen(t, path)
		if after := locks(); before == 0 || after < before {
			t.Errorf("the reader had %d locks and has %d", before, after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
