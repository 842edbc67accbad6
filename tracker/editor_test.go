package tracker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/tracker"
	"aesop/tracker/trackertest"
)

// TestEditorBesideTheTracker lets a person's editor save while claims are made. The editor numbers its saves in the notes of
// the backlog, and reads the file before each: what it finds must be its newest save, or its save was lost.
func TestEditorBesideTheTracker(t *testing.T) {
	editors := map[string]func(path string, data []byte) error{
		"renaming": func(path string, data []byte) error {
			temp := path + "~new"
			if err := os.WriteFile(temp, data, 0o600); err != nil {
				return err
			}
			return os.Rename(temp, path)
		},
		"in place": func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) },
	}
	for name, save := range editors {
		t.Run(name, func(t *testing.T) { besideEditor(t, save) })
	}
}

func besideEditor(t *testing.T, save func(path string, data []byte) error) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.json")
	items := encode(t, trackertest.Item("a"), trackertest.Item("b"))
	write(t, path, []byte(strings.Replace(string(items), "{", "{\n  \"save\": \"0\",", 1)))
	f := openAt(t, dir, nil)

	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	group.Go(func() {
		for ctx.Err() == nil {
			if err := claimAndRelease(t.Context(), f); err != nil {
				t.Error(err)
				return
			}
		}
	})
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	saves, withClaim := 0, 0
	for ; ctx.Err() == nil; saves++ {
		<-pause.C
		text := awaitSave(t, path, saves)
		if strings.Contains(text, `"claim"`) {
			withClaim++
		}
		text = saveNumber.ReplaceAllString(text, fmt.Sprintf(`"save": "%d"`, saves+1))
		if err := save(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	awaitSave(t, path, saves)
	t.Logf("%d saves, %d of them of a text with a claim", saves, withClaim)
	if saves < 20 || withClaim == 0 {
		t.Errorf("%d saves, %d of them of a text with a claim: nothing was tried", saves, withClaim)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".tracker.json*"))
	if len(left) > 0 {
		t.Errorf("left beside the backlog: %v", left)
	}
}

var saveNumber = regexp.MustCompile(`"save": "\d+"`)

// awaitSave reads the file, which must hold the editor's newest save. For an instant it may hold the one before, while the
// tracker finds out that a save came in between and puts it back.
func awaitSave(t *testing.T, path string, number int) string {
	t.Helper()
	limit := time.NewTimer(2 * time.Second)
	defer limit.Stop()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	want := fmt.Sprintf(`"save": "%d"`, number)
	for {
		text := read(t, path)
		if !strings.HasSuffix(text, "}\n") {
			t.Fatalf("the file is torn: %q", text)
		}
		if strings.Contains(text, want) {
			return text
		}
		select {
		case <-limit.C:
			t.Fatalf("save %d is lost: the file has %s", number, saveNumber.FindString(text))
		case <-again.C:
		}
	}
}

// claimAndRelease does one round. The editor writes back what it read a moment ago, so claims may vanish or come back.
func claimAndRelease(ctx context.Context, f *tracker.File) error {
	claims, err := f.Claim(ctx, tracker.Holder{Wave: "w", Owner: "engine"}, time.Nanosecond, tracker.Want{ID: "a"})
	if err == nil {
		err = f.Settle(ctx, tracker.Settlement{ID: "a", Token: claims[0].Token, Request: tracker.Release})
	}
	switch err.(type) {
	case *tracker.ConflictError, *tracker.LostError:
		return nil
	}
	return err
}
