package storetest

import (
	"errors"
	"slices"
	"strings"

	"aesop/statestore"
)

func recordTests() []test {
	return []test{
		{"Get returns what Put wrote", func(f *fixture) {
			var rev statestore.Rev
			f.update(func(tx statestore.Tx) { rev = f.put(tx, "k", "value", 0) })
			f.view(func(r statestore.Reader) {
				got := f.get(r, "k")
				if got.Key != "k" || string(got.Value) != "value" || got.Rev != rev || rev == 0 {
					f.Fatalf("got %+v, want k, value and revision %d", got, rev)
				}
			})
		}},
		{"Get of what was never written is ErrNotFound", func(f *fixture) {
			f.view(func(r statestore.Reader) { f.missing(r, "k") })
			f.update(func(tx statestore.Tx) { f.missing(tx, "k") })
		}},
		{"any bytes are a value, and so are none", func(f *fixture) {
			all := make([]byte, 256)
			for i := range all {
				all[i] = byte(i)
			}
			values := []string{"", string(all), strings.Repeat("x", 1<<20)}
			for _, value := range values {
				f.update(func(tx statestore.Tx) { f.put(tx, "k", value, statestore.Any) })
				f.view(func(r statestore.Reader) {
					if got := f.get(r, "k"); string(got.Value) != value {
						f.Fatalf("a value of %d bytes came back as %d other ones", len(value), len(got.Value))
					}
				})
			}
			f.update(func(tx statestore.Tx) {
				if _, err := tx.Put("nil", nil, 0); err != nil {
					f.Fatal(err)
				}
			})
			f.view(func(r statestore.Reader) { f.get(r, "nil") })
		}},
		{"keys, streams, ids and types are UTF-8 without the zero byte", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				for _, bad := range []string{"a\x00b", "\x00", "\xff", "a\xc3"} {
					if _, err := tx.Put(statestore.Key(bad), nil, 0); err == nil {
						f.Errorf("a record %q was written", bad)
					}
					if _, err := tx.Append(bad, statestore.AnyVersion, entry("", "e")); err == nil {
						f.Errorf("an event of stream %q was appended", bad)
					}
					if _, err := tx.Append("s", statestore.AnyVersion, entry("", "e"), statestore.Entry{ID: bad, Type: "t"}); err == nil {
						f.Errorf("an event with the id %q was appended", bad)
					}
					if _, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{Type: bad}); err == nil {
						f.Errorf("an event of type %q was appended", bad)
					}
				}
				f.put(tx, "ä/😀/\ufffd", "", 0)
				if events := f.events(tx, statestore.EventQuery{}); len(events) > 0 {
					f.Errorf("what was refused left %+v", events)
				}
			})
		}},
		{"a key is not empty", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				if _, err := tx.Put("", []byte("x"), statestore.Any); err == nil {
					f.Fatal("a record without a key was written")
				}
			})
		}},
		{"Put with revision 0 wants that nothing is there", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				rev := f.put(tx, "k", "a", 0)
				_, err := tx.Put("k", []byte("b"), 0)
				f.conflict(err, "k", 0, uint64(rev))
			})
		}},
		{"Put with a revision wants that one", func(f *fixture) {
			var old, rev statestore.Rev
			f.update(func(tx statestore.Tx) { old = f.put(tx, "k", "a", 0) })
			f.update(func(tx statestore.Tx) { rev = f.put(tx, "k", "b", old) })
			f.update(func(tx statestore.Tx) {
				_, err := tx.Put("k", []byte("c"), old)
				f.conflict(err, "k", uint64(old), uint64(rev))
				if got := f.get(tx, "k"); string(got.Value) != "b" || got.Rev != rev {
					f.Fatalf("after the conflict the record is %+v", got)
				}
				_, err = tx.Put("none", []byte("c"), rev)
				f.conflict(err, "none", uint64(rev), 0)
			})
		}},
		{"Put with Any takes whatever is there", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				f.put(tx, "k", "a", statestore.Any)
				f.put(tx, "k", "b", statestore.Any)
				if got := f.get(tx, "k"); string(got.Value) != "b" {
					f.Fatalf("value is %q, want b", got.Value)
				}
			})
		}},
		{"revisions grow with each write, also within a transaction", func(f *fixture) {
			var revs []statestore.Rev
			for range 3 {
				f.update(func(tx statestore.Tx) {
					revs = append(revs, f.put(tx, "k", "a", statestore.Any), f.put(tx, "k", "a", statestore.Any))
				})
			}
			for i := 1; i < len(revs); i++ {
				if revs[i] <= revs[i-1] {
					f.Fatalf("revisions %v do not grow", revs)
				}
			}
		}},
		{"a revision is never used again, also after Delete", func(f *fixture) {
			var old statestore.Rev
			f.update(func(tx statestore.Tx) { old = f.put(tx, "k", "a", 0) })
			f.update(func(tx statestore.Tx) {
				if err := tx.Delete("k", old); err != nil {
					f.Fatal(err)
				}
			})
			f.update(func(tx statestore.Tx) {
				if rev := f.put(tx, "k", "b", 0); rev <= old {
					f.Fatalf("revision %d came after %d", rev, old)
				}
				_, err := tx.Put("k", []byte("c"), old)
				if !errors.Is(err, statestore.ErrConflict) {
					f.Fatalf("a revision of the deleted record: %v, want ErrConflict", err)
				}
			})
		}},
		{"Delete removes", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				rev := f.put(tx, "a", "1", 0)
				f.put(tx, "b", "1", 0)
				if err := errors.Join(tx.Delete("a", rev), tx.Delete("b", statestore.Any)); err != nil {
					f.Fatal(err)
				}
				f.missing(tx, "a")
			})
			f.view(func(r statestore.Reader) {
				f.missing(r, "a")
				f.missing(r, "b")
				if keys := f.keys(r, statestore.Range{}); len(keys) != 0 {
					f.Fatalf("scan still finds %v", keys)
				}
			})
		}},
		{"Delete wants its revision", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				rev := f.put(tx, "k", "1", 0)
				f.conflict(tx.Delete("k", rev+1), "k", uint64(rev)+1, uint64(rev))
				f.conflict(tx.Delete("k", 0), "k", 0, uint64(rev))
				f.get(tx, "k")
			})
		}},
		{"Delete of what does not exist is ErrNotFound", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				for _, rev := range []statestore.Rev{0, 1, statestore.Any} {
					if err := tx.Delete("k", rev); !errors.Is(err, statestore.ErrNotFound) {
						f.Fatalf("delete with revision %d: %v, want ErrNotFound", rev, err)
					}
				}
			})
		}},
		{"values are copied", func(f *fixture) {
			value := []byte("abc")
			f.update(func(tx statestore.Tx) {
				if _, err := tx.Put("k", value, 0); err != nil {
					f.Fatal(err)
				}
				value[0] = 'X'
				f.get(tx, "k").Value[1] = 'X'
			})
			value[2] = 'X'
			f.view(func(r statestore.Reader) {
				f.get(r, "k").Value[0] = 'X'
				for record := range r.Scan(statestore.Range{}) {
					record.Value[0] = 'X'
				}
				if got := f.get(r, "k"); string(got.Value) != "abc" {
					f.Fatalf("value is %q, want abc", got.Value)
				}
			})
		}},
	}
}

func scanTests() []test {
	keys := []statestore.Key{"A", "a", "a/1", "a/10", "a/2", "ab", "b/1", "z", "é", "\U0001F600"}
	fill := func(f *fixture) {
		f.update(func(tx statestore.Tx) {
			for _, k := range slices.Backward(keys) {
				f.put(tx, k, "v "+string(k), 0)
			}
		})
	}
	check := func(f *fixture, r statestore.Reader, q statestore.Range, want ...statestore.Key) {
		f.Helper()
		if got := f.keys(r, q); !slices.Equal(got, want) {
			f.Errorf("scan %+v: %q, want %q", q, got, want)
		}
	}
	return []test{
		{"the order is that of the keys' bytes", func(f *fixture) {
			fill(f)
			f.view(func(r statestore.Reader) { check(f, r, statestore.Range{}, keys...) })
		}},
		{"records come whole", func(f *fixture) {
			fill(f)
			f.view(func(r statestore.Reader) {
				for record, err := range r.Scan(statestore.Range{}) {
					if err != nil {
						f.Fatal(err)
					}
					if want := f.get(r, record.Key); string(want.Value) != string(record.Value) || want.Rev != record.Rev {
						f.Errorf("scan yields %+v, get %+v", record, want)
					}
				}
			})
		}},
		{"Prefix, After and Limit select", func(f *fixture) {
			fill(f)
			f.view(func(r statestore.Reader) {
				check(f, r, statestore.Range{Prefix: "a/"}, "a/1", "a/10", "a/2")
				check(f, r, statestore.Range{Prefix: "a"}, "a", "a/1", "a/10", "a/2", "ab")
				check(f, r, statestore.Range{Prefix: "a", After: "a"}, "a/1", "a/10", "a/2", "ab")
				check(f, r, statestore.Range{Prefix: "a/", After: "a/1"}, "a/10", "a/2")
				check(f, r, statestore.Range{Prefix: "a/", After: "a/11"}, "a/2")
				check(f, r, statestore.Range{Prefix: "a/", After: "A"}, "a/1", "a/10", "a/2")
				check(f, r, statestore.Range{Prefix: "a/", After: "b"})
				check(f, r, statestore.Range{Prefix: "none"})
				check(f, r, statestore.Range{After: "b/1"}, "z", "é", "\U0001F600")
				check(f, r, statestore.Range{Limit: 2}, "A", "a")
				check(f, r, statestore.Range{Prefix: "a/", Limit: 1}, "a/1")
				check(f, r, statestore.Range{Prefix: "a/", After: "a/1", Limit: 5}, "a/10", "a/2")
			})
		}},
		{"a range longer than any page is whole, and can be left and read again", func(f *fixture) {
			want := []statestore.Key{}
			f.update(func(tx statestore.Tx) {
				for i := range 1000 {
					k := statestore.Key("k/" + string([]byte{'0' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)}))
					want = append(want, k)
					f.put(tx, k, "v", 0)
				}
			})
			f.view(func(r statestore.Reader) {
				check(f, r, statestore.Range{Prefix: "k/"}, want...)
				check(f, r, statestore.Range{Limit: 700}, want[:700]...)
				check(f, r, statestore.Range{After: want[99], Limit: 256}, want[100:356]...)
				scan := r.Scan(statestore.Range{})
				for range 2 {
					n := 0
					for record := range scan {
						if record.Key != want[n] {
							f.Fatalf("record %d is %s, want %s", n, record.Key, want[n])
						}
						if n++; n == 500 {
							break
						}
					}
				}
			})
		}},
		{"a Tx sees its own writes", func(f *fixture) {
			fill(f)
			f.update(func(tx statestore.Tx) {
				f.put(tx, "a/15", "new", 0)
				if err := tx.Delete("a/10", statestore.Any); err != nil {
					f.Fatal(err)
				}
				check(f, tx, statestore.Range{Prefix: "a/"}, "a/1", "a/15", "a/2")
			})
		}},
		{"the loop's body may write", func(f *fixture) {
			fill(f)
			f.update(func(tx statestore.Tx) {
				seen := []statestore.Key{}
				for record, err := range tx.Scan(statestore.Range{}) {
					if err != nil {
						f.Fatal(err)
					}
					if !strings.HasPrefix(string(record.Key), "0/") {
						seen = append(seen, record.Key)
					}
					f.put(tx, "0/"+record.Key, "copy", 0)
					if err := tx.Delete(record.Key, record.Rev); err != nil {
						f.Fatal(err)
					}
				}
				if !slices.Equal(seen, keys) {
					f.Errorf("the loop saw %q, want %q", seen, keys)
				}
			})
			f.view(func(r statestore.Reader) {
				if got := f.keys(r, statestore.Range{Prefix: "0/"}); len(got) != len(keys) {
					f.Errorf("%d copies were made, want %d", len(got), len(keys))
				}
			})
		}},
	}
}
