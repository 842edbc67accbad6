// Package mqtt is an outbox.Sink that publishes intents to an MQTT 5 broker with QoS 1.
//
// Nil from Send means that the broker acknowledged the message: it has it, as durably as it is set up to. Nothing is queued here; what was not
// acknowledged is owed by the outbox and comes again, as a new message with the same intent id, on which subscribers de-duplicate.
package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"aesop/statestore/outbox"
)

// Config configures a Sink.
type Config struct {
	Address  string                                      // of the broker: host:port
	Dial     func(ctx context.Context) (net.Conn, error) // nil: TCP to Address. TLS is made here: (&tls.Dialer{…}).DialContext
	ClientID string                                      // "": the broker gives one. Two clients of one id put each other out.
	Username string
	Password []byte
	Topic    string        // what topics begin with, such as "aesop/"; the intent's kind follows: aesop/job.complete
	Retain   bool          // the broker keeps the newest message of each topic for those who subscribe later
	Timeout  time.Duration // for connecting, and for each acknowledgement; 0: 10 s. The context of Send may end earlier.
}

// Sink publishes each intent as an outbox.Document. It connects at the first Send, keeps its connection, and connects anew at the Send after
// that was lost. It is safe for concurrent use; sends go one after another.
type Sink struct {
	config Config
	turn   chan struct{} // holds a token while somebody uses link
	link   *link         // nil: none
	closed bool
}

var _ outbox.Sink = (*Sink)(nil)

// link is a connection to the broker.
type link struct {
	client *paho.Client
	conn   net.Conn
	limit  uint32 // bytes of a packet that the broker takes; 0: any
}

const (
	keepAlive = 30 // seconds
	overhead  = 64 // bytes of a packet beside topic and payload, at most
)

// New returns a Sink that has not connected yet. Close it when done.
func New(c Config) (*Sink, error) {
	if c.Dial == nil {
		if c.Address == "" {
			return nil, errors.New("mqtt: no address given")
		}
		dialer := &net.Dialer{}
		c.Dial = func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", c.Address) }
	}
	if !utf8.ValidString(c.Topic) || strings.ContainsAny(c.Topic, "+#\x00") || strings.HasPrefix(c.Topic, "$") {
		return nil, fmt.Errorf("mqtt: %q is not the beginning of a topic", c.Topic)
	}
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	return &Sink{config: c, turn: make(chan struct{}, 1)}, nil
}

// Close takes leave of the broker, after the Send under way. Later ones fail.
func (s *Sink) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.closed = true
	if s.link == nil {
		return nil
	}
	_ = s.link.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = s.link.client.Disconnect(&paho.Disconnect{}) // a connection that was lost needs no leave
	s.link = nil
	return nil
}

// Send implements outbox.Sink. Where there is no connection, or it is lost before the acknowledgement, the error is an
// outbox.ErrUnreachable; where the broker refuses the message, it is not.
func (s *Sink) Send(ctx context.Context, i outbox.Intent) error {
	payload, err := outbox.Document(i)
	if err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%w: publish: %w", outbox.ErrUnreachable, ctx.Err())
	}
	if s.closed {
		return fmt.Errorf("%w: publish: %w", outbox.ErrUnreachable, net.ErrClosed)
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	if err := s.connect(ctx); err != nil {
		return fmt.Errorf("%w: connect to the broker: %w", outbox.ErrUnreachable, cause(ctx, err))
	}
	topic := s.config.Topic + i.Kind
	if size := uint32(len(payload) + len(topic) + overhead); s.link.limit > 0 && size > s.link.limit {
		return fmt.Errorf("publish to %s: the broker takes no more than %d bytes", topic, s.link.limit)
	}
	return s.publish(ctx, &paho.Publish{
		QoS: 1, Topic: topic, Retain: s.config.Retain, Payload: payload,
		Properties: &paho.PublishProperties{ContentType: "application/json"},
	})
}

// errLost says that the connection broke before the acknowledgement.
var errLost = errors.New("connection is lost")

// publish waits for the acknowledgement. A connection of which that is not known is not used again.
func (s *Sink) publish(ctx context.Context, message *paho.Publish) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client, conn := s.link.client, s.link.conn
	go func() { // the client itself would wait on
		select {
		case <-client.Done():
			cancel(errLost)
		case <-ctx.Done():
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // what is written to it does not look at ctx
	answer, err := client.Publish(ctx, message)
	if answer != nil && answer.ReasonCode >= packets.PubackUnspecifiedError {
		err = fmt.Errorf("publish to %s: the broker refuses it: %w", message.Topic, err)
	} else if err != nil {
		_ = conn.Close()
		<-client.Done()
		s.link = nil
		err = fmt.Errorf("%w: publish to %s: %w", outbox.ErrUnreachable, message.Topic, cause(ctx, err))
	}
	stop()
	return err
}

// cause is why ctx ended, where it did: what fails then fails because of that.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// connect makes a connection where there is none that lives.
func (s *Sink) connect(ctx context.Context) error {
	if s.link != nil {
		select {
		case <-s.link.client.Done():
			s.link = nil
		default:
			return nil
		}
	}
	conn, err := s.config.Dial(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	client := paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn), PacketTimeout: s.config.Timeout})
	receive := uint16(1) // messages at once: there will be none, since nothing is subscribed to
	answer, err := client.Connect(ctx, &paho.Connect{
		ClientID: s.config.ClientID, CleanStart: true, KeepAlive: keepAlive,
		Username: s.config.Username, UsernameFlag: s.config.Username != "",
		Password: s.config.Password, PasswordFlag: len(s.config.Password) > 0,
		Properties: &paho.ConnectProperties{ReceiveMaximum: &receive},
	})
	if err != nil {
		if answer != nil {
			err = fmt.Errorf("refused with code %#x: %w", answer.ReasonCode, err)
		}
		return err // the client has closed conn
	}
	s.link = &link{client: client, conn: conn}
	if p := answer.Properties; p != nil && p.MaximumPacketSize != nil {
		s.link.limit = *p.MaximumPacketSize
	}
	return nil
}
