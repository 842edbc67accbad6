package mqtt_test

import (
	"bytes"
	"context"
	"crypto/pbkdf2"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"
	"go.uber.org/goleak"

	"aesop/statestore/outbox"
	"aesop/statestore/outbox/mqtt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	brokerVariable = "AESOP_TEST_MOSQUITTO" // the program
	brokerPassword = "open sesame"
	brokerPacket   = 4000 // bytes that a broker with a user takes
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func intent(seq int) outbox.Intent {
	i := outbox.Intent{Kind: "job.complete", Subject: "job/w1/greet", Seq: seq, Data: []byte("{}")}
	i.ID = outbox.ID(i.Subject, i.Seq, i.Kind)
	return i
}

func newSink(t *testing.T, c mqtt.Config) *mqtt.Sink {
	t.Helper()
	sink, err := mqtt.New(c)
	must(t, err)
	t.Cleanup(func() { must(t, sink.Close()) })
	return sink
}

// broker is a mosquitto on the loopback interface, with all it keeps in a folder of the test.
type broker struct {
	t       *testing.T
	address string
	config  string
	cmd     *exec.Cmd
	log     string
}

// startBroker lets in everybody, or one user only, to topics below aesop/.
func startBroker(t *testing.T, user string) *broker {
	t.Helper()
	if os.Getenv(brokerVariable) == "" {
		t.Skip(brokerVariable + " does not name the program mosquitto")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	dir := t.TempDir()
	b := &broker{t: t, address: free.Addr().String(), config: filepath.Join(dir, "mosquitto.conf"), log: filepath.Join(dir, "log")}
	must(t, free.Close())
	_, port, _ := net.SplitHostPort(b.address)
	config := fmt.Sprintf("listener %s 127.0.0.1\nuser root\npersistence false\nlog_dest file %s\n", port, b.log)
	if user == "" {
		config += "allow_anonymous true\n"
	} else {
		salt := []byte("twelve bytes")
		hash, err := pbkdf2.Key(sha512.New, brokerPassword, salt, 101, 64)
		must(t, err)
		line := fmt.Sprintf("%s:$7$101$%s$%s\n", user, base64.StdEncoding.EncodeToString(salt), base64.StdEncoding.EncodeToString(hash))
		users, access := filepath.Join(dir, "users"), filepath.Join(dir, "access")
		must(t, os.WriteFile(users, []byte(line), 0o600))
		must(t, os.WriteFile(access, fmt.Appendf(nil, "user %s\ntopic write aesop/#\n", user), 0o600))
		config += fmt.Sprintf("allow_anonymous false\npassword_file %s\nacl_file %s\nmax_packet_size %d\n", users, access, brokerPacket)
	}
	must(t, os.WriteFile(b.config, []byte(config), 0o600))
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	b.cmd = exec.Command(os.Getenv(brokerVariable), "-c", b.config)
	var output bytes.Buffer
	b.cmd.Stdout, b.cmd.Stderr = &output, &output
	must(b.t, b.cmd.Start())
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		text, _ := os.ReadFile(b.log)
		if bytes.Count(text, []byte(" running\n")) > bytes.Count(text, []byte(" terminating\n")) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			_ = b.cmd.Process.Kill()
			_ = b.cmd.Wait()
			b.t.Fatalf("the broker does not start: %s%s", output.String(), text)
		}
	}
}

// stop ends it as its service manager would; connections break.
func (b *broker) stop() {
	_ = b.cmd.Process.Signal(os.Interrupt)
	_ = b.cmd.Wait()
}

// connections is how many were made in its life.
func (b *broker) connections() int {
	text, err := os.ReadFile(b.log)
	must(b.t, err)
	return strings.Count(string(text), "New connection from")
}

// subscriber gets what is published to the topics below aesop/.
func subscriber(t *testing.T, address string) <-chan *paho.Publish {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	messages := make(chan *paho.Publish, 100)
	client := paho.NewClient(paho.ClientConfig{Conn: conn, OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(got paho.PublishReceived) (bool, error) {
		messages <- got.Packet
		return true, nil
	}}})
	_, err = client.Connect(t.Context(), &paho.Connect{CleanStart: true, KeepAlive: 30})
	must(t, err)
	t.Cleanup(func() {
		_ = client.Disconnect(&paho.Disconnect{})
		<-client.Done()
	})
	_, err = client.Subscribe(t.Context(), &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: "aesop/#", QoS: 1}}})
	must(t, err)
	return messages
}

func receive(t *testing.T, messages <-chan *paho.Publish) *paho.Publish {
	t.Helper()
	select {
	case got := <-messages:
		return got
	case <-time.After(10 * time.Second):
		t.Fatal("no message came")
		return nil
	}
}

// proxy stands between a client and a broker.
type proxy struct {
	address string
	mute    atomic.Bool // what the broker says does not get through
	cut     atomic.Bool // the connection breaks when the client publishes, before the broker has it
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{address: listener.Addr().String()}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			broker, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			end := func() {
				_ = client.Close()
				_ = broker.Close()
			}
			context.AfterFunc(t.Context(), end)
			running.Go(func() {
				defer end()
				p.pass(broker, client, func(part []byte) bool { return p.cut.Load() && bytes.Contains(part, []byte("aesop/job.complete")) }, func() bool { return false })
			})
			running.Go(func() {
				defer end()
				p.pass(client, broker, func([]byte) bool { return false }, p.mute.Load)
			})
		}
	})
	return p
}

// pass copies until the connection ends, or is to be cut; the packets of these tests come in one piece.
func (p *proxy) pass(to io.Writer, from io.Reader, cut func(part []byte) bool, swallow func() bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && cut(buffer[:n]) {
			return
		}
		if n > 0 && !swallow() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
