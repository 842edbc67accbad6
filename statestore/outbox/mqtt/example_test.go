package mqtt_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/mqtt"
)

// A broker is reached by TLS; while it is down, what it should get stays owed.
func Example() {
	dialer := &tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS13}}
	sink, err := mqtt.New(mqtt.Config{
		Dial:  func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", "127.0.0.1:1") },
		Topic: "aesop/",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sink.Close()
	err = sink.Send(context.Background(), outbox.Intent{Kind: "job.complete", Subject: "job/w1/greet", Seq: 1})
	fmt.Println(errors.Is(err, outbox.ErrUnreachable))
	// Output: true
}
