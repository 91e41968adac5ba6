package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// indexBuild measures how fast an index is built from the rows that serve, beside the bulk rate: what the store takes
// in of the same rows with all of their indexes, in durable batches.
func indexBuild(ctx context.Context, out io.Writer, dir string, rows int) (err error) {
	dir = filepath.Join(dir, "indexbuild")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	src := &numbers{count: uint64(rows)}
	if err := foldWithout(ctx, filepath.Join(dir, "rows"), src); err != nil {
		return err
	}
	took, read, err := buildIndex(ctx, filepath.Join(dir, "rows"), src)
	if err != nil {
		return err
	}
	bulkTook, err := bulkLoad(ctx, filepath.Join(dir, "bulk"), rows)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nan index added to %d rows that have one: %.0f rows/s, %.2f of the %.0f rows/s of a bulk load; "+
		"%d events read\n", rows, float64(rows)/took.Seconds(), bulkTook.Seconds()/took.Seconds(),
		float64(rows)/bulkTook.Seconds(), read)
	return nil
}

// foldWithout folds rows that lack the last index.
func foldWithout(ctx context.Context, dir string, src eventlog.Source) error {
	return withTracking(ctx, dir, func(m *querydb.Model) {
		m.Version, m.Indexes = "before", m.Indexes[:len(m.Indexes)-1]
	}, func(db *querydb.DB, p projection.Projection) error {
		r, err := projection.NewRunner(p, src, db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return r.Run(ctx)
	})
}

// buildIndex builds it, and returns how many events were read for that.
func buildIndex(ctx context.Context, dir string, src *numbers) (took time.Duration, read uint64, err error) {
	err = withTracking(ctx, dir, func(*querydb.Model) {}, func(db *querydb.DB, p projection.Projection) error {
		build, err := db.Generations().ForBuild(ctx)
		if err != nil {
			return err
		}
		cfg := projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler), KeepServing: true}
		before, began := src.read.Load(), time.Now()
		if err := projection.BeginBuild(ctx, db, build, src, []projection.Projection{p}, cfg); err != nil {
			return err
		}
		r, err := projection.NewRunner(p, src, build, cfg)
		if err == nil {
			err = r.Run(ctx)
		}
		took, read = time.Since(began), src.read.Load()-before
		return err
	})
	return took, read, err
}

// withTracking opens a store of the rows of a model of the shop, changed, for a projection that makes one row of each
// number.
func withTracking(ctx context.Context, dir string, change func(*querydb.Model),
	use func(*querydb.DB, projection.Projection) error) (err error) {
	m, tracking := *model.OrderTrackingModel, ops.OrderTracking
	change(&m)
	codec := *tracking.Codec
	codec.Model, tracking.Codec = &m, &codec
	db, err := openBulk(ctx, dir, &m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db, projection.New(&tracking, projection.Projection{
		Name: "Tracking", Events: []string{"Numbered"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			n, err := strconv.Atoi(string(e.Data))
			return []projection.Op{tracking.Set(trackingOf(n))}, err
		},
	}))
}

func openBulk(ctx context.Context, dir string, models ...*querydb.Model) (*querydb.DB, error) {
	quiet := slog.New(slog.DiscardHandler)
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, CacheBytes: peers.CacheMB << 20, Logger: quiet})
	if err != nil {
		return nil, err
	}
	db, err := querydb.Open(ctx, store, models, querydb.Config{Logger: quiet})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return db, nil
}

// numbers is a source of as many events, each with its number.
type numbers struct {
	count uint64
	read  atomic.Uint64
}

func (*numbers) Partitions(context.Context) ([]string, error) { return []string{"0"}, nil }

func (s *numbers) Head(context.Context, string) (uint64, error) { return s.count, nil }

func (s *numbers) Wait(_ context.Context, after eventlog.Offsets) error {
	if after["0"] >= s.count {
		return io.EOF
	}
	return nil
}

func (*numbers) Close() error { return nil }

func (s *numbers) Read(_ context.Context, _ string, after uint64, most int) (events []eventlog.Event, err error) {
	for n := after + 1; n <= s.count && len(events) < most; n++ {
		events = append(events, eventlog.Event{
			ID: strconv.FormatUint(n, 10), Source: "/bench", Type: "Numbered", Time: time.Unix(1_700_000_000, 0).UTC(),
			Data: strconv.AppendUint(nil, n, 10), Partition: "0", Offset: n,
		})
	}
	s.read.Add(uint64(len(events)))
	return events, nil
}
