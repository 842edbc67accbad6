package outbox_test

import (
	"context"
	"errors"
	"fmt"

	"aesop/statestore"
	"aesop/statestore/outbox"
)

// News commits with what it tells of. A receiver that is down the first time gets it the second time.
func Example() {
	ctx := context.Background()
	store := statestore.NewMemory(statestore.MemoryConfig{})
	defer store.Close()

	down := true
	phone := outbox.SinkFunc(func(_ context.Context, i outbox.Intent) error {
		if down {
			return errors.New("nobody answers")
		}
		fmt.Printf("phone: %s is %s\n", i.Subject, i.Data)
		return nil
	})
	notifier, err := outbox.New(ctx, outbox.Config{Store: store, Sinks: []outbox.Named{
		{Subscription: outbox.Subscription{Name: "phone", Kinds: []string{"order."}}, Sink: phone},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = store.Update(ctx, func(tx statestore.Tx) error {
		at, err := tx.Append("orders", statestore.AnyVersion, statestore.Entry{Type: "shipped"})
		if err != nil {
			return err
		}
		_, err = outbox.Add(tx, at, outbox.Intent{Kind: "order.shipped", Subject: "order/7", Seq: 1, Data: []byte(`"shipped"`)})
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		done, err := notifier.Flush(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("sent %d, failed %d, pending %d\n", done.Sent, done.Failed, done.Pending)
		down = false
	}
	// Output:
	// sent 0, failed 1, pending 1
	// phone: order/7 is "shipped"
	// sent 1, failed 0, pending 0
}
