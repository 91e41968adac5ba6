package sourcebench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

const streamName = "BENCH"

// stream is a stream of a server of its own.
type stream struct {
	server *server.Server
	nc     *nats.Conn
	js     jetstream.JetStream
	url    string
	size   int // bytes of an event
}

// newStream starts the server, and publishes n small events.
func newStream(ctx context.Context, dir string, n int) (*stream, error) {
	running, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir,
	})
	if err != nil {
		return nil, err
	}
	s := &stream{server: running}
	running.Start()
	if !running.ReadyForConnections(30 * time.Second) {
		s.close()
		return nil, errors.New("the NATS server does not start")
	}
	s.url = running.ClientURL() + "/" + streamName
	if s.nc, err = nats.Connect(running.ClientURL()); err == nil {
		s.js, err = jetstream.New(s.nc, jetstream.WithPublishAsyncMaxPending(2*underWay))
	}
	if err == nil {
		err = s.publish(ctx, n)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stream) close() {
	if s.nc != nil {
		s.nc.Close()
	}
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

func (s *stream) publish(ctx context.Context, n int) error {
	_, err := s.js.CreateStream(ctx, jetstream.StreamConfig{Name: streamName, Subjects: []string{streamName}})
	if err != nil {
		return err
	}
	for i := range n {
		text := small(i)
		s.size = len(text)
		if _, err := s.js.PublishAsync(streamName, text); err != nil {
			return err
		}
		if i%underWay != underWay-1 && i < n-1 {
			continue
		}
		select {
		case <-s.js.PublishAsyncComplete():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	info, err := s.js.Stream(ctx, streamName)
	if err == nil && info.CachedInfo().State.Msgs != uint64(n) {
		err = fmt.Errorf("the server has taken %d messages of %d", info.CachedInfo().State.Msgs, n)
	}
	return err
}

// underWay is how many messages are published before it is waited until the server has them.
const underWay = 10_000

// small is a small event.
func small(i int) []byte {
	return cloudevents.Append(nil, &eventlog.Event{
		ID: fmt.Sprintf("e%d", i), Source: "/bench", Type: "ItemSold", Subject: fmt.Sprintf("item-%d", i%10_000),
		Time: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC).Add(time.Duration(i) * time.Second),
		Data: fmt.Appendf(nil, `{"item":"item-%d","amount":%d}`, i%10_000, i%7),
	})
}

// bare reads the messages, and looks at none.
func bare(ctx context.Context, s *stream, n int) (int, error) {
	return consume(ctx, s, n, func(jetstream.Msg) error { return nil })
}

// decoding reads the messages as events.
func decoding(ctx context.Context, s *stream, n int) (int, error) {
	var decoder cloudevents.Decoder
	return consume(ctx, s, n, func(m jetstream.Msg) error {
		_, err := decoder.Decode(m.Data())
		return err
	})
}

// consume takes messages as the documentation of the client library has it, over a connection of its own.
func consume(ctx context.Context, s *stream, n int, each func(jetstream.Msg) error) (got int, err error) {
	nc, err := nats.Connect(s.server.ClientURL())
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, err
	}
	c, err := js.CreateConsumer(ctx, streamName, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		return 0, err
	}
	messages, err := c.Messages()
	if err != nil {
		return 0, err
	}
	defer messages.Stop()
	for ; got < n; got++ {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return got, err
		}
		if err := each(m); err != nil {
			return got, err
		}
	}
	return got, nil
}
