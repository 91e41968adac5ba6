package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// bulk measures what the store takes in: rows with two index entries, in durable batches.
func bulk(ctx context.Context, out io.Writer, dir string) (err error) {
	const rows = 200_000
	dir = filepath.Join(dir, "bulk")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	took, err := bulkLoad(ctx, dir, rows)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  the store alone, rows with two index entries in batches of %d: %.0f rows/s\n", bulkRows,
		rows/took.Seconds())
	return nil
}

// bulkRows is how many rows each durable batch of a bulk load has.
const bulkRows = 4096

func bulkLoad(ctx context.Context, dir string, rows int) (took time.Duration, err error) {
	db, err := openBulk(ctx, dir, model.All...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	began := time.Now()
	for from := 0; from < rows; from += bulkRows {
		if err := bulkBatch(ctx, db, from, min(from+bulkRows, rows)); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func bulkBatch(ctx context.Context, db *querydb.DB, from, to int) error {
	var b record.Builder
	batch := querydb.Batch{}
	for i := from; i < to; i++ {
		tracking := trackingOf(i)
		row, err := querydb.Encode(model.OrderTrackingCodec, &b, &tracking)
		if err != nil {
			return err
		}
		batch.Writes = append(batch.Writes, querydb.Write{Model: model.OrderTrackingModel, Row: row})
	}
	return db.Apply(ctx, batch)
}

// trackingOf is a permutation of the rows, so that they do not come in the order of their keys.
func trackingOf(i int) model.OrderTracking {
	n := int(uint64(i) * 7919 % 1_000_003)
	return model.OrderTracking{
		OrderID: sample.OrderID(n), ChangedAt: time.Unix(1_700_000_000+int64(n), 0).UTC(),
		CustomerID: sample.CustomerID(n % peers.Size.Customers), Status: peers.Statuses[n%len(peers.Statuses)],
		Total: float64(n) / 100,
	}
}

// loadAgain encodes the rows that were recorded, and applies them to an empty store, which is removed.
func loadAgain(ctx context.Context, dir string, r *recorder) (took time.Duration, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := openBulk(ctx, dir, model.All...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows := map[*driver.Table][][]any{}
	for table, batches := range r.batches {
		if rows[table], err = decoded(table, batches); err != nil {
			return 0, fmt.Errorf("read the rows of %s, to load them: %w", table.Name, err)
		}
	}
	began := time.Now()
	all, ctx := errgroup.WithContext(ctx)
	for table, batches := range rows {
		all.Go(func() error { return loadRows(ctx, db, codecs[table.Name], batches) })
	}
	err = all.Wait()
	return time.Since(began), err
}

// codecs are those of the shop, by the names of their tables.
var codecs = func() map[string]querydb.AnyCodec {
	byName := map[string]querydb.AnyCodec{}
	for _, c := range []querydb.AnyCodec{
		querydb.Any(model.OrderCountCodec), querydb.Any(model.CustomerCodec), querydb.Any(model.ProductCodec),
		querydb.Any(model.OrderCodec), querydb.Any(model.OrderLineCodec), querydb.Any(model.OrderHistoryCodec),
		querydb.Any(model.OrderVersionCodec), querydb.Any(model.OrderTrackingCodec), querydb.Any(model.DeploymentCodec),
		querydb.Any(model.OwnershipCodec), querydb.Any(model.InvoiceCodec),
	} {
		byName[c.Model.Table] = c
	}
	return byName
}()

// decoded are the rows of batches that do nothing but write rows.
func decoded(table *driver.Table, batches []driver.Batch) ([][]any, error) {
	c, ok := codecs[table.Name]
	if !ok {
		return nil, errors.New("the shop has no such table")
	}
	all := make([][]any, len(batches))
	for i, b := range batches {
		for _, w := range b.Writes {
			if w.Kind != driver.Put {
				return nil, errors.New("the fold did more than write rows")
			}
			row, err := c.Decode(w.Row.Record)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], row)
		}
	}
	return all, nil
}

func loadRows(ctx context.Context, db *querydb.DB, c querydb.AnyCodec, batches [][]any) error {
	var b record.Builder
	for _, rows := range batches {
		batch := querydb.Batch{Writes: make([]querydb.Write, 0, len(rows))}
		for _, row := range rows {
			key, err := c.KeyOf(row)
			if err != nil {
				return err
			}
			stored, err := c.EncodeWithKey(&b, row, key)
			if err != nil {
				return err
			}
			batch.Writes = append(batch.Writes, querydb.Write{Model: c.Model, Row: stored})
		}
		if err := db.Apply(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}
