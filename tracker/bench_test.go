package tracker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/tracker"
	"aesop/tracker/trackertest"
)

// thousandItems is a directory with a backlog of about 500 KB.
func thousandItems(b *testing.B) string {
	items := make([]tracker.Item, 1000)
	for i := range items {
		items[i] = trackertest.Item(fmt.Sprintf("i%d", i))
		items[i].Prompt = strings.Repeat("words ", 50)
	}
	dir := b.TempDir()
	write(b, filepath.Join(dir, "tracker.json"), encode(b, items...))
	return dir
}

// BenchmarkClaimAndRelease is two durable writes of a backlog of 1,000 items.
func BenchmarkClaimAndRelease(b *testing.B) {
	dir := thousandItems(b)
	f := openAt(b, dir, nil)
	for b.Loop() {
		claims, err := f.Claim(b.Context(), tracker.Holder{Wave: "w", Owner: "o"}, time.Hour, tracker.Want{ID: "i500"})
		if err == nil {
			err = f.Settle(b.Context(), tracker.Settlement{ID: "i500", Token: claims[0].Token, Request: tracker.Release})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is what a new process does first.
func BenchmarkRead(b *testing.B) {
	dir := thousandItems(b)
	for b.Loop() {
		if _, err := openAt(b, dir, nil).Backlog(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	info, _ := os.Stat(filepath.Join(dir, "tracker.json"))
	b.SetBytes(info.Size())
}

// BenchmarkBareReplace is the floor: lock, read, write, sync, rename, sync of the directory.
func BenchmarkBareReplace(b *testing.B) {
	dir := b.TempDir()
	data := make([]byte, 590<<10)
	path := filepath.Join(dir, "f")
	write(b, path, data)
	for b.Loop() {
		if _, err := os.ReadFile(path); err != nil {
			b.Fatal(err)
		}
		t, err := os.Create(path + ".tmp")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = t.Write(data)
		_ = t.Sync()
		_ = t.Close()
		_ = os.Rename(path+".tmp", path)
		d, _ := os.Open(dir)
		_ = d.Sync()
		_ = d.Close()
	}
}
