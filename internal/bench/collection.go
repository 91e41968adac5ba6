package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/internal/bench/measurement"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// The pages that are read: all rows of one of many tenants.
const (
	tenantCount = 1000
	ofEachModel = 25
)

// collectionPages measures a page of a collection, and beside it the two pages that would be read without: those of
// each model's own index.
func collectionPages(ctx context.Context, out io.Writer, dir string, d time.Duration) (err error) {
	dir = filepath.Join(dir, "tenants")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	quiet := slog.New(slog.DiscardHandler)
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, CacheBytes: peers.CacheMB << 20, Logger: quiet})
	if err != nil {
		return err
	}
	db, err := querydb.Open(ctx, store, []*querydb.Model{personModel, taskModel}, querydb.Config{Logger: quiet})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := tenantRows(tenantCount, ofEachModel)
	if err == nil {
		err = db.Apply(ctx, querydb.Batch{Writes: rows})
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\na page of %d rows, of two models in one collection, by one reader:\n", 2*ofEachModel)
	return errors.Join(
		pages(out, "of the collection", d, func(n int) (int, error) { return collectionPage(ctx, db, n) }),
		pages(out, "of each model's index", d, func(n int) (int, error) { return pagesOfModels(ctx, db, n) }),
	)
}

// pages reads pages for a while.
func pages(out io.Writer, what string, d time.Duration, page func(n int) (rows int, err error)) error {
	var took []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); {
		began := time.Now()
		rows, err := page(len(took) * 7919 % tenantCount)
		if err != nil {
			return err
		}
		if rows != 2*ofEachModel {
			return fmt.Errorf("a page %s has %d rows, want %d", what, rows, 2*ofEachModel)
		}
		took = append(took, time.Since(began))
	}
	fmt.Fprintf(out, "  %s: %s\n", what, measurement.SpreadOf(took))
	return nil
}

func collectionPage(ctx context.Context, db *querydb.DB, n int) (int, error) {
	pk, within, err := tenantRange(personModel, n)
	if err != nil {
		return 0, err
	}
	page, err := db.QueryCollection(ctx, tenantMembers, querydb.CollectionQuery{PK: pk, Ranges: []keys.Range{within},
		Limit: 2 * ofEachModel})
	return len(page.Rows), err
}

func pagesOfModels(ctx context.Context, db *querydb.DB, n int) (rows int, err error) {
	for _, m := range []*querydb.Model{personModel, taskModel} {
		pk, _, err := tenantRange(m, n)
		if err != nil {
			return 0, err
		}
		own := keys.Range{Op: keys.RangePrefix, Lo: m.Indexes[0].SK.Layout.Head}
		page, err := db.Query(ctx, m, querydb.Query{PK: pk, Range: own, Limit: ofEachModel})
		if err != nil {
			return 0, err
		}
		rows += len(page.Rows)
	}
	return rows, nil
}

// tenantRange composes the key of a tenant's partition, as each query does; and where in it the collection lies.
func tenantRange(m *querydb.Model, n int) (pk string, within keys.Range, err error) {
	pk, err = m.Indexes[0].PK.Layout.Compose(keys.String(tenantID(n)))
	together := keyOf(m.Name)
	together.Collection, together.Clustered = []string{"tenantMembers"}, true
	return pk, together.CollectionRange(0), err
}
