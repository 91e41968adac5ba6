// Package natsserver runs a NATS server with JetStream inside a test, on loopback, over a folder of its own.
package natsserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// Server is a NATS server that can be stopped and started again over the same messages.
type Server struct {
	options server.Options
	running *server.Server
}

// patience is how long a server may take to start.
const patience = 30 * time.Second

// Start starts a server until the test ends; change, if not nil, changes its options.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	}}
	if change != nil {
		change(&s.options)
	}
	s.Restart(t)
	t.Cleanup(s.Stop)
	return s
}

// Stop ends the server; what it has stored stays.
func (s *Server) Stop() {
	if s.running != nil {
		s.running.Shutdown()
		s.running.WaitForShutdown()
		s.running = nil
	}
}

// Save stops the server and copies what it has stored. restore puts that back in the place of what it has stored by
// then; the server must be stopped again.
func (s *Server) Save(t testing.TB) (restore func(testing.TB)) {
	t.Helper()
	s.Stop()
	saved := filepath.Join(t.TempDir(), "saved")
	if err := os.CopyFS(saved, os.DirFS(s.options.StoreDir)); err != nil {
		t.Fatal(err)
	}
	return func(t testing.TB) {
		t.Helper()
		if err := os.RemoveAll(s.options.StoreDir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(s.options.StoreDir, os.DirFS(saved)); err != nil {
			t.Fatal(err)
		}
	}
}

// Restart starts the server again, at the address that it had.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	o := s.options
	running, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	running.Start()
	if !running.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	s.running = running
	s.options.Port = o.Port
}

// Address is HOST:PORT.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.options.Port) }

// Client connects as any program does that has nothing to do with the source.
func (s *Server) Client(t testing.TB, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("nats://"+s.Address(), append(options, nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Instead has requests of clients at the subject answered by a function, and not by the server.
func (s *Server) Instead(t testing.TB, subject string, answer func(m *nats.Msg)) {
	t.Helper()
	to := "instead." + subject
	nc := s.Client(t).Conn()
	_, err := nc.Subscribe(to, answer)
	if err == nil {
		err = nc.Flush()
	}
	if err == nil {
		err = s.running.GlobalAccount().AddMapping(subject, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Outage takes a server away from a client, and brings it back.
type Outage struct {
	server    *Server
	client    jetstream.JetStream
	connected chan nats.Status
	restoring func(testing.TB)
}

// NewOutage makes an Outage of a server that is there, and of one of its clients.
func NewOutage(s *Server, client jetstream.JetStream) *Outage {
	return &Outage{server: s, client: client}
}

// Leave stops the server.
func (o *Outage) Leave(testing.TB) {
	o.connected = o.client.Conn().StatusChanged(nats.CONNECTED)
	o.server.Stop()
}

// Return starts it again, and waits until the client is connected.
func (o *Outage) Return(t testing.TB) {
	o.server.Restart(t)
	<-o.connected
}

// Save remembers what the server has stored, and Restore has it lose what came after that.
func (o *Outage) Save(t testing.TB) {
	o.Leave(t)
	o.restoring = o.server.Save(t)
	o.Return(t)
}

// Restore puts back what Save has remembered.
func (o *Outage) Restore(t testing.TB) {
	o.Leave(t)
	o.restoring(t)
	o.Return(t)
}

// Create makes a stream, also where one of its name was deleted a moment ago: a server removes the folders of a deleted
// stream behind its answer, and with them one that is made meanwhile, which it then refuses.
func Create(t testing.TB, js jetstream.JetStream, stream jetstream.StreamConfig) {
	t.Helper()
	_, err := js.CreateStream(t.Context(), stream)
	for tries := 0; tries < 100 && storeFailed(err); tries++ {
		_, err = js.CreateStream(t.Context(), stream)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func storeFailed(err error) bool {
	const createStream = 10049 // JSStreamCreateErrF of the server
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == createStream
}

// Publish appends the events to the stream of the subject, in the structured mode.
func Publish(t testing.TB, js jetstream.JetStream, subject string, events []eventlog.Event) {
	t.Helper()
	acks := make([]jetstream.PubAckFuture, len(events))
	for i := range events {
		var err error
		if acks[i], err = js.PublishAsync(subject, cloudevents.Append(nil, &events[i])); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			t.Fatal(err)
		case <-ctx.Done():
			t.Fatal("the server takes no message")
		}
	}
}
