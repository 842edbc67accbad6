package stateapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/sqlite"
	"aesop/tracker"
)

// childVariable makes the test binary a writer to the store that it names.
const childVariable = "AESOP_TEST_STATEAPI_STORE"

func TestMain(m *testing.M) {
	path := os.Getenv(childVariable)
	if path == "" {
		goleak.VerifyTestMain(m)
		os.Exit(0)
	}
	if err := child(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const childNotes = 20

// child waits for its standard input to close, writes the same lines with the same keys as its siblings, and prints each answer.
func child(path string) error {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	w, err := stateapi.NewWrite(stateapi.WriteConfig{Store: store})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	for n := range childNotes {
		line, err := w.Note(ctx, stateapi.How{Key: fmt.Sprintf("note %d", n)}, fmt.Sprintf("line %d", n))
		if err != nil {
			return err
		}
		data, err := json.Marshal(line)
		if err != nil {
			return err
		}
		fmt.Println(string(data))
	}
	return store.Close()
}

func childCommand(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), childVariable+"="+path), os.Stderr
	return cmd
}

// fixture is a store with a clock that moves when it is told to, and both APIs over it.
type fixture struct {
	*testing.T
	store statestore.Store
	now   time.Time
	read  *stateapi.ReadAPI
	write *stateapi.WriteAPI
}

// onBothStores runs a test on a memory and on a SQLite store.
func onBothStores(t *testing.T, test func(*testing.T, *fixture)) {
	for name, open := range map[string]func(t *testing.T, clock func() time.Time) statestore.Store{
		"memory": func(_ *testing.T, clock func() time.Time) statestore.Store {
			return statestore.NewMemory(statestore.MemoryConfig{Clock: clock})
		},
		"sqlite": func(t *testing.T, clock func() time.Time) statestore.Store {
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "state.db"), Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
			f.store = open(t, func() time.Time { return f.now })
			t.Cleanup(func() {
				if err := f.store.Close(); err != nil {
					t.Error(err)
				}
			})
			f.read, f.write = f.reader(stateapi.ReadConfig{Store: f.store}), f.writer(stateapi.WriteConfig{Store: f.store})
			test(t, f)
		})
	}
}

func (f *fixture) reader(c stateapi.ReadConfig) *stateapi.ReadAPI {
	f.Helper()
	a, err := stateapi.NewRead(c)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

func (f *fixture) writer(c stateapi.WriteConfig) *stateapi.WriteAPI {
	f.Helper()
	a, err := stateapi.NewWrite(c)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

func (f *fixture) pass(d time.Duration) { f.now = f.now.Add(d) }

func (f *fixture) update(fn func(tx statestore.Tx) error) {
	f.Helper()
	if err := f.store.Update(f.Context(), fn); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) view(fn func(r statestore.Reader) error) {
	f.Helper()
	if err := f.store.View(f.Context(), fn); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) put(k statestore.Key, value string) {
	f.Helper()
	f.update(func(tx statestore.Tx) error { _, err := tx.Put(k, []byte(value), statestore.Any); return err })
}

func (f *fixture) append(stream, kind, data string) {
	f.Helper()
	f.update(func(tx statestore.Tx) error {
		_, err := tx.Append(stream, statestore.AnyVersion, statestore.Entry{Type: kind, Data: []byte(data)})
		return err
	})
}

// do makes a request that must be applied.
func (f *fixture) do(request job.Request) job.Record {
	f.Helper()
	d, err := f.write.Do(f.Context(), stateapi.How{}, request)
	if err != nil || d.Outcome != job.Applied {
		f.Fatalf("%T: %+v, %v", request, d, err)
	}
	return d.Record
}

// claimed makes a job and claims it.
func (f *fixture) claimed(id, wave string) (token string) {
	f.Helper()
	token, err := tracker.NewToken(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.do(job.Create{ID: id, Item: "item of " + id, Wave: wave, Seat: "worker"})
	f.do(job.Claim{ID: id, Token: token})
	return token
}

// dump is all that is stored.
func (f *fixture) dump() (all string) {
	f.Helper()
	f.view(func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			all += fmt.Sprintf("%s %d %s\n", record.Key, record.Rev, record.Value)
		}
		for event, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			all += fmt.Sprintf("%d %s %s %s\n", event.Seq, event.Stream, event.Type, event.Data)
		}
		return nil
	})
	return all
}

func version(n statestore.Version) *statestore.Version { return &n }

func isDamaged(err error) bool {
	damaged := (*statestore.DamagedError)(nil)
	return errors.As(err, &damaged)
}
