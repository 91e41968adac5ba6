package natssource_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// TestTheServerSendsSoManyBytesAheadOnly, though the stream was empty when the source began to wait.
func TestTheServerSendsSoManyBytesAheadOnly(t *testing.T) {
	p := newPlace(t, nil)
	s := p.open(t)
	consumer := func() *jetstream.ConsumerInfo {
		consumers := p.stream(t).ListConsumers(t.Context())
		info := <-consumers.Info()
		if err := consumers.Err(); err != nil {
			t.Fatal(err)
		}
		return info
	}
	for consumer() == nil { // a wait may end before it has made one
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := s.Wait(ctx, eventlog.Offsets{}); err == nil {
			t.Fatal("it waits for nothing")
		}
		stop()
	}
	const all = 40
	for range all {
		if _, err := p.js.Publish(t.Context(), subject, bytes.Repeat([]byte("x"), 1000<<10)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		info := consumer()
		if info == nil {
			t.Fatal("the consumer is gone")
		}
		if info.NumPending > 0 && info.NumWaiting > 0 { // the server goes on to send
			continue
		}
		if sent := info.Delivered.Consumer; sent > 10 {
			t.Errorf("%d messages of a megabyte are sent ahead", sent)
		}
		return
	}
}

// TestAReadEndsWhereHeadersAreLarge, as it does where bodies are: a malformed event has its headers too.
func TestAReadEndsWhereHeadersAreLarge(t *testing.T) {
	p := newPlace(t, nil)
	const all, size, most = 400, 60_000, 16 << 20
	m := nats.Msg{Subject: subject, Data: []byte("x"), Header: nats.Header{"Other": {strings.Repeat("x", size)}}}
	for range all {
		if _, err := p.js.PublishMsg(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	events, err := p.open(t).Read(t.Context(), streamName, 0, all)
	if err != nil || len(events) == 0 || len(events) > most/size+1 {
		t.Errorf("%d of %d messages, each with %d bytes of headers, error %v", len(events), all, size, err)
	}
}

// TestAMessageThatTheServerTakesNoMoreIsRead: it was stored while larger ones were let in.
func TestAMessageThatTheServerTakesNoMoreIsRead(t *testing.T) {
	var options *server.Options
	running := natsserver.Start(t, func(o *server.Options) { options, o.MaxPayload = o, 20<<20 })
	js := running.Client(t)
	p := &place{natsserver.NewOutage(running, js), running, js}
	p.create(t, nil)
	p.add(t, sourcetest.Events(1))
	if _, err := js.Publish(t.Context(), subject, bytes.Repeat([]byte("x"), 9<<20)); err != nil {
		t.Fatal(err)
	}
	p.add(t, sourcetest.Events(2)[1:])
	p.Leave(t)
	options.MaxPayload = server.MAX_PAYLOAD_SIZE
	p.Return(t)
	s, err := natssource.Open(natssource.Options{URL: p.url(), Timeout: time.Minute}) // it is slow under the race detector
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for after, end := uint64(0), time.Now().Add(2*time.Minute); after < 3; {
		events, err := s.Read(t.Context(), streamName, after, 10)
		if time.Now().After(end) {
			t.Fatalf("it comes as far as %d, %v", after, err)
		}
		for i := range events {
			after = events[i].Offset
		}
	}
}
