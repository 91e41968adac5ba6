package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/shared"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/server"
)

// recorder is an embedded store that keeps the batches that it was given.
type recorder struct {
	*pebblestore.Store
	mu      sync.Mutex
	batches map[*driver.Table][]driver.Batch // by the table of their first row
	rows    int
}

func (r *recorder) Apply(ctx context.Context, b driver.Batch) error {
	if len(b.Writes) > 0 {
		r.mu.Lock()
		of := b.Writes[0].Table
		r.batches[of] = append(r.batches[of], b)
		r.rows += len(b.Writes)
		r.mu.Unlock()
	}
	return r.Store.Apply(ctx, b)
}

// foldBesideBulk measures the fold of the shop beside what its store takes for the same rows in the same commits, as
// many of them at once as there are tables: once where the rows are still to be encoded, as in a bulk load, and once
// where all writes are ready made.
func foldBesideBulk(ctx context.Context, out io.Writer, dir string) error {
	server.TuneGC() // as that of a server is
	var fold, load, again time.Duration
	rows := 0
	for range foldRounds {
		// What a recorder keeps would make the fold slower: the collector looks through all of it.
		took, err := foldInto(ctx, filepath.Join(dir, "folded"), eventsOf(dir), nil)
		if err != nil {
			return err
		}
		wrote := &recorder{batches: map[*driver.Table][]driver.Batch{}}
		if _, err := foldInto(ctx, filepath.Join(dir, "recorded"), eventsOf(dir), wrote); err != nil {
			return err
		}
		loaded, err := loadAgain(ctx, filepath.Join(dir, "loaded"), wrote)
		if err != nil {
			return err
		}
		applied, err := applyAgain(ctx, filepath.Join(dir, "again"), wrote)
		if err != nil {
			return err
		}
		fold, load, again, rows = fold+took, load+loaded, again+applied, rows+wrote.rows
	}
	perSecond := func(took time.Duration) float64 { return float64(rows) / took.Seconds() }
	fmt.Fprintf(out, "  the shop beside its store: %.0f rows/s folded, %.2f of the %.0f rows/s of a bulk load of the "+
		"same rows, and %.2f of the %.0f rows/s of the same writes, ready made\n", perSecond(fold),
		load.Seconds()/fold.Seconds(), perSecond(load), again.Seconds()/fold.Seconds(), perSecond(again))
	return nil
}

func openPebble(dir string) (*pebblestore.Store, error) {
	return pebblestore.Open(pebblestore.Options{Dir: dir, CacheBytes: peers.CacheMB << 20,
		Logger: slog.New(slog.DiscardHandler)})
}

// foldInto folds the events into a store, which is removed. r records what is written, unless it is nil.
func foldInto(ctx context.Context, dir, events string, r *recorder) (took time.Duration, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := filesource.Open(filesource.Options{Path: events})
	if err != nil {
		return 0, err
	}
	src := shared.New(file, 0)
	defer src.Close()
	store, err := openPebble(dir)
	if err != nil {
		return 0, err
	}
	var d driver.Driver = store
	if r != nil {
		r.Store, d = store, r
	}
	db, err := querydb.Open(ctx, d, model.All, querydb.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	began := time.Now()
	if err := foldAll(ctx, db, src); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// foldAll folds all projections of the shop, to the end of the source.
func foldAll(ctx context.Context, db *querydb.DB, src eventlog.Source) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, p := range projectors.Projections() {
		runner, err := projection.NewRunner(p, src, db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		all.Go(func() error { return runner.Run(ctx) })
	}
	return all.Wait()
}

// applyAgain applies the batches to an empty store, which is removed.
func applyAgain(ctx context.Context, dir string, r *recorder) (took time.Duration, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := openPebble(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	began := time.Now()
	all, ctx := errgroup.WithContext(ctx)
	for _, batches := range r.batches {
		all.Go(func() error {
			for _, b := range batches {
				if err := store.Apply(ctx, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = all.Wait()
	return time.Since(began), err
}
