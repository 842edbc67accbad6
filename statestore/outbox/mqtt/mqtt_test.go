package mqtt_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/mqtt"
)

func TestSubscribersGetTheDocument(t *testing.T) {
	b := startBroker(t, "")
	messages := subscriber(t, b.address)
	sink := newSink(t, mqtt.Config{Address: b.address, Topic: "aesop/"})
	sent := intent(1)
	must(t, sink.Send(t.Context(), sent))
	got := receive(t, messages)
	i, err := outbox.ParseDocument(got.Payload)
	if err != nil || i.ID != sent.ID || got.Topic != "aesop/job.complete" || got.QoS != 1 || got.Retain || got.Properties.ContentType != "application/json" {
		t.Errorf("got %+v, %v", got, err)
	}
	must(t, sink.Send(t.Context(), intent(2)))
	if got := receive(t, messages); !strings.Contains(string(got.Payload), intent(2).ID) {
		t.Errorf("got %s", got.Payload)
	}
	if got := b.connections(); got != 2 {
		t.Errorf("%d connections for subscriber and sink", got)
	}
}

func TestRetainedNewsWaitsForSubscribers(t *testing.T) {
	b := startBroker(t, "")
	for n, retain := range []bool{false, true} {
		sink := newSink(t, mqtt.Config{Address: b.address, Topic: "aesop/", Retain: retain})
		must(t, sink.Send(t.Context(), intent(n+1)))
	}
	if got := receive(t, subscriber(t, b.address)); !got.Retain || !strings.Contains(string(got.Payload), intent(2).ID) {
		t.Errorf("got %+v", got)
	}
}

// TestNilMeansThatTheBrokerAcknowledged: the broker has the message, and its word is lost on the way.
func TestNilMeansThatTheBrokerAcknowledged(t *testing.T) {
	b := startBroker(t, "")
	messages, p := subscriber(t, b.address), startProxy(t, b.address)
	sink := newSink(t, mqtt.Config{Address: p.address, Topic: "aesop/", Timeout: 300 * time.Millisecond})
	must(t, sink.Send(t.Context(), intent(1)))
	receive(t, messages)
	p.mute.Store(true)
	if err := sink.Send(t.Context(), intent(2)); !errors.Is(err, outbox.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	receive(t, messages)
	p.mute.Store(false)
	must(t, sink.Send(t.Context(), intent(2))) // on a new connection, and as a new message
	if got := receive(t, messages); !strings.Contains(string(got.Payload), intent(2).ID) {
		t.Errorf("got %s", got.Payload)
	}
}

// TestALostConnectionLeavesTheIntentOwed: it breaks while the message is on its way; the outbox sends it again.
func TestALostConnectionLeavesTheIntentOwed(t *testing.T) {
	b := startBroker(t, "")
	messages, p := subscriber(t, b.address), startProxy(t, b.address)
	sink := newSink(t, mqtt.Config{Address: p.address, Topic: "aesop/"})
	store := statestore.NewMemory(statestore.MemoryConfig{})
	defer store.Close()
	n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{{Subscription: outbox.Subscription{Name: "mqtt"}, Sink: sink}}})
	must(t, err)
	for seq := 1; seq <= 3; seq++ {
		must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
			at, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{Type: "k"})
			if err != nil {
				return err
			}
			_, err = outbox.Add(tx, at, intent(seq))
			return err
		}))
	}
	p.cut.Store(true)
	done, err := n.Flush(t.Context())
	if err != nil || done.Failed != 1 || done.Pending != 3 || !errors.Is(done.Errors[0], outbox.ErrUnreachable) {
		t.Fatalf("%+v, %v", done, err)
	}
	p.cut.Store(false)
	done, err = n.Flush(t.Context())
	if err != nil || done.Sent != 3 || done.Pending != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	for seq := 1; seq <= 3; seq++ {
		if got := receive(t, messages); !strings.Contains(string(got.Payload), intent(seq).ID) {
			t.Errorf("got %s, want number %d", got.Payload, seq)
		}
	}
}

func TestABrokerMayBeDownAndComeBack(t *testing.T) {
	b := startBroker(t, "")
	sink := newSink(t, mqtt.Config{Address: b.address, Topic: "aesop/"})
	for seq := 1; seq <= 3; seq++ {
		must(t, sink.Send(t.Context(), intent(seq)))
		b.stop()
		for range 2 {
			if err := sink.Send(t.Context(), intent(seq)); !errors.Is(err, outbox.ErrUnreachable) {
				t.Errorf("error is %v", err)
			}
		}
		b.start()
	}
	must(t, sink.Send(t.Context(), intent(4)))
}

// TestWhatTheBrokerRefuses: who may not come in reaches nobody; a message that is refused is that message's misfortune.
func TestWhatTheBrokerRefuses(t *testing.T) {
	b := startBroker(t, "own")
	for _, c := range []mqtt.Config{{}, {Username: "own", Password: []byte("wrong")}} {
		c.Address, c.Topic = b.address, "aesop/"
		if err := newSink(t, c).Send(t.Context(), intent(1)); !errors.Is(err, outbox.ErrUnreachable) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("error is %v", err)
		}
	}
	sink := newSink(t, mqtt.Config{Address: b.address, Topic: "aesop/", Username: "own", Password: []byte(brokerPassword)})
	must(t, sink.Send(t.Context(), intent(1)))
	other := newSink(t, mqtt.Config{Address: b.address, Topic: "others/", Username: "own", Password: []byte(brokerPassword)})
	if err := other.Send(t.Context(), intent(1)); err == nil || errors.Is(err, outbox.ErrUnreachable) {
		t.Errorf("a topic of others: error is %v", err)
	}
	large := intent(2)
	large.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", brokerPacket))
	if err := sink.Send(t.Context(), large); err == nil || errors.Is(err, outbox.ErrUnreachable) {
		t.Errorf("too large: error is %v", err)
	}
	must(t, sink.Send(t.Context(), intent(3)))
	if got := b.connections(); got != 4 {
		t.Errorf("%d connections for four sinks", got)
	}
}

func TestSendEndsWithItsContextAndClose(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // that never answers
	must(t, err)
	defer listener.Close()
	sink := newSink(t, mqtt.Config{Address: listener.Addr().String()})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := sink.Send(ctx, intent(1)); !errors.Is(err, outbox.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	var dialed atomic.Int32
	own := newSink(t, mqtt.Config{Dial: func(context.Context) (net.Conn, error) {
		dialed.Add(1)
		return nil, errors.New("no way")
	}})
	if err := own.Send(t.Context(), intent(1)); !errors.Is(err, outbox.ErrUnreachable) || !strings.Contains(err.Error(), "no way") {
		t.Errorf("error is %v", err)
	}
	must(t, own.Close())
	if err := own.Send(t.Context(), intent(1)); !errors.Is(err, net.ErrClosed) || dialed.Load() != 1 {
		t.Errorf("error is %v after %d calls", err, dialed.Load())
	}
}

func TestSinksThatAreNoneAreRefused(t *testing.T) {
	for _, c := range []mqtt.Config{{}, {Address: "h:1", Topic: "a/#"}, {Address: "h:1", Topic: "+/a"}, {Address: "h:1", Topic: "$SYS/"}, {Address: "h:1", Topic: "\xff"}} {
		if _, err := mqtt.New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
