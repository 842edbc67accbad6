package sink_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

// A file has each piece of news once, and a mirror the newest, however often and in whatever order they are sent.
func Example() {
	dir, err := os.MkdirTemp("", "news")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	mirror := sink.NewMirror(filepath.Join(dir, "mirror"))
	sinks := []outbox.Sink{sink.NewFile(filepath.Join(dir, "news.jsonl")), mirror}
	for _, seq := range []int{1, 2, 1} {
		news := outbox.Intent{ID: outbox.ID("order/7", seq, "order.moved"), Kind: "order.moved", Subject: "order/7", Seq: seq}
		for _, to := range sinks {
			if err := to.Send(context.Background(), news); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	for _, path := range []string{filepath.Join(dir, "news.jsonl"), mirror.Path("order/7")} {
		text, err := os.ReadFile(path)
		if err != nil {
			fmt.Println(err)
			return
		}
		for line := range bytes.Lines(text) {
			news, err := outbox.ParseDocument(line)
			fmt.Println(filepath.Base(path), news.Subject, news.Seq, err)
		}
	}
	// Output:
	// news.jsonl order/7 1 <nil>
	// news.jsonl order/7 2 <nil>
	// status.json order/7 2 <nil>
}
