package projection_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/data"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// ordered is the event of the benchmark, decoded as generated code does.
type ordered struct{ Order, Customer, Version string }

var orderedFields = []data.Field{{Name: "order", Required: true}, {Name: "customer", Required: true},
	{Name: "version", Required: true}}

func decodeOrdered(b []byte) (ordered, error) {
	return data.Decode(b, func(r *data.Reader) (v ordered) {
		for field := range r.Object(orderedFields) {
			switch field {
			case 0:
				v.Order = r.ID()
			case 1:
				v.Customer = r.String()
			case 2:
				v.Version = r.String()
			}
		}
		return v
	})
}

// benchOps are five projectors: a row per event, a counter, one row per order, a history that follows, a patched row.
var benchOps = []func(o *OpsOf, e ordered) projection.Op{
	func(o *OpsOf, e ordered) projection.Op {
		return o.Set(Row{ID: e.Order, Version: e.Version, Customer: &e.Customer, Total: 1})
	},
	func(o *OpsOf, e ordered) projection.Op {
		return o.Upsert(Key{ID: "all", Version: "v"}, Row{}, func(r *Row) { r.Total++ })
	},
	func(o *OpsOf, e ordered) projection.Op {
		return o.Upsert(Key{ID: e.Order, Version: "v"}, Row{}, func(r *Row) { r.Total++ })
	},
	func(o *OpsOf, e ordered) projection.Op {
		return o.Follow(e.Order, func(latest Row) Row {
			return Row{ID: e.Order, Version: e.Version, Customer: &e.Customer, Total: latest.Total + 1}
		})
	},
	func(o *OpsOf, e ordered) projection.Op {
		return o.Patch(Key{ID: e.Customer, Version: "v"}).Set(Fields.Customer.Assign(e.Order))
	},
}

// BenchmarkFold folds 40,000 events of 1 KB, five to an order, into five projections at once.
func BenchmarkFold(b *testing.B) {
	const n = 40_000
	log := benchLog(b, n)
	for _, s := range []struct {
		name string
		open func(b *testing.B) driver.Driver
	}{
		{"memory", func(*testing.B) driver.Driver { return memstore.New() }},
		{"embedded", func(b *testing.B) driver.Driver {
			store, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			return store
		}},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				foldAll(b, log, s.open(b))
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func benchLog(b *testing.B, n int) eventlog.Source {
	log := memlog.New(memlog.Options{})
	var batch []eventlog.Event
	for i := range n {
		order := i/50*10 + i%10 // ten orders at a time, five events each
		d := fmt.Sprintf(`{"order":"order-%06d","customer":"customer-%05d","version":"v%04d","note":%q}`,
			order, order%5000, i/10%5, strings.Repeat("lorem ipsum ", 75))
		batch = append(batch, eventlog.Event{
			ID: fmt.Sprint(i), Source: "/bench", Type: EventType, Subject: fmt.Sprint(order),
			Time: epoch, Data: []byte(d),
		})
	}
	if _, err := log.Append(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
	log.End()
	return log
}

func foldAll(b *testing.B, log eventlog.Source, store driver.Driver) {
	var models []*querydb.Model
	var projections []projection.Projection
	for i, op := range benchOps {
		ops := Named(fmt.Sprintf("Bench%d", i))
		models = append(models, ops.Codec.Model)
		projections = append(projections, projection.New(ops, projection.Projection{
			Name: ops.Codec.Model.Name, Events: []string{EventType},
			Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
				v, err := decodeOrdered(e.Data)
				if err != nil {
					return nil, err
				}
				return []projection.Op{op(ops, v)}, nil
			},
		}))
	}
	db, err := querydb.Open(b.Context(), store, models, querydb.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	ended := make(chan error, len(projections))
	for _, p := range projections {
		r, err := projection.NewRunner(p, log, db, projection.RunnerConfig{})
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			err := r.Run(context.Background())
			if s, _ := r.Status(context.Background()); err == nil && s.DeadLetters > 0 {
				err = fmt.Errorf("%d dead letters", s.DeadLetters)
			}
			ended <- err
		}()
	}
	for range projections {
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFollow folds 200 events that go on from histories of growing length, a window each, and tells how many
// rows it reads for each: but for finding the latest row when it begins, which reads the history once, as many for
// any.
func BenchmarkFollow(b *testing.B) {
	for _, model := range []string{"lasting", "stamped"} {
		for _, history := range []int{500, 2000, 8000} {
			b.Run(fmt.Sprintf("%s/after %d", model, history), func(b *testing.B) {
				for b.Loop() {
					benchFollow(b, followed[model], history)
				}
			})
		}
	}
}

func benchFollow(b *testing.B, ops *OpsOf, history int) {
	const more = 200
	b.StopTimer()
	store, log := lastingStore{memstore.New()}, memlog.New(memlog.Options{})
	defer log.Close()
	add := func(from, n int) {
		for i := range n {
			add(b, log, from+i, event("", Step{Op: "follow", ID: "a", Version: fmt.Sprintf("v%06d", from+i), Total: 1}))
		}
	}
	fold := func(window int) (read uint64) {
		db := open(b, store, ops.Codec.Model)
		cfg := quick()
		cfg.WindowEvents = window
		r, err := projection.NewRunner(ProjectionOf("script", ops), &ending{log}, db, cfg)
		if err == nil {
			err = r.Run(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		return rowsRead(db)
	}
	add(0, history)
	fold(history)
	add(history, more)
	b.StartTimer()
	read := fold(1)
	b.ReportMetric(float64(read-uint64(history))/more, "rows-read/event")
}

// ending is a log that says it has ended when all was read.
type ending struct{ *memlog.Log }

func (*ending) Wait(context.Context, eventlog.Offsets) error { return io.EOF }
