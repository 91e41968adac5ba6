package dynamobench

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/shop/sample"
)

// repricings is a source of any number of events about a few products: each is added, and from then on its price
// changes again and again. The events are made when they are read, so that no memory is the source's.
type repricings struct {
	products, events int
	reached          func(offset uint64) error // is given how far the source was read
}

func (s *repricings) Partitions(context.Context) ([]string, error) { return []string{"events"}, nil }

func (s *repricings) Head(context.Context, string) (uint64, error) { return uint64(s.events), nil }

func (s *repricings) Read(_ context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if err := s.reached(after); err != nil {
		return nil, err
	}
	n := min(uint64(most), uint64(s.events)-min(after, uint64(s.events)))
	list := make([]eventlog.Event, n)
	for i := range list {
		list[i] = s.event(after + uint64(i))
		list[i].Partition, list[i].Offset = partition, after+uint64(i)+1
	}
	return list, nil
}

func (s *repricings) Wait(ctx context.Context, after eventlog.Offsets) error {
	if after["events"] >= uint64(s.events) {
		return io.EOF
	}
	return ctx.Err()
}

func (s *repricings) Close() error { return nil }

// event is the n-th event, counted from 0.
func (s *repricings) event(n uint64) eventlog.Event {
	e := eventlog.Event{
		ID: strconv.FormatUint(n, 10), Source: "/shop/products", Type: "ProductRepriced", Subject: sample.ProductID(int(n) %
			s.products),
		Time: time.Unix(1_700_000_000+int64(n), 0).UTC(),
	}
	price := float64(n%10_000) / 100
	if n < uint64(s.products) {
		e.Type = "ProductAdded"
		e.Data = fmt.Appendf(nil,
			`{"productId":%q,"category":"books","brand":"Acme","name":"Atlas","price":%g,"addedAt":"2024-01-15T10:00:00Z"}`,
			e.Subject, price)
		return e
	}
	e.Data = fmt.Appendf(nil, `{"productId":%q,"price":%g}`, e.Subject, price)
	return e
}
