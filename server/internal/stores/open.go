// Package stores opens the store of rows that --store names. A new kind of store is a case of config.ParseStore and of
// Open; "Adding a store" in the documentation of querydb/driver says what else it takes.
package stores

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/config"
)

// Rows is the store of the rows, and its driver.
type Rows struct {
	*querydb.DB
	Driver driver.Driver
	Dynamo *dynamostore.Store // the driver, where it is this one
	// CacheStats are the counters of the driver's cache of rows; nil where it keeps none.
	CacheStats func() driver.CacheStats
	Dir        string // of an embedded store, "" for any other
}

// Options are how a store is opened, and for whose rows.
type Options struct {
	CacheBytes  int64  // of an embedded store, or for rows of DynamoDB
	Reserve     uint64 // bytes of free disk space that an embedded store leaves alone
	Models      []*querydb.Model
	Projections []projection.Projection // that write them: they say which tables in DynamoDB must be there
	Logger      *slog.Logger
}

// Open opens the store of the rows.
func Open(ctx context.Context, at config.Store, o Options) (db *Rows, err error) {
	switch at.Kind {
	case config.Embedded:
		db, err = openEmbedded(ctx, at, o)
	case config.DynamoDB:
		db, err = openDynamo(ctx, at.Dynamo, o)
	case config.Memory:
		db, err = openRows(ctx, memstore.New(), o)
	default:
		panic("a store that was parsed has one of the kinds above: " + at.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	return db, nil
}

func openEmbedded(ctx context.Context, at config.Store, o Options) (*Rows, error) {
	if err := backup.CheckRestored(at.Dir); err != nil {
		return nil, err
	}
	drv, err := pebblestore.Open(pebblestore.Options{
		Dir: at.Rows(), CacheBytes: o.CacheBytes, Reserve: o.Reserve, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	rows, err := openRows(ctx, drv, o)
	if err != nil {
		return nil, err
	}
	rows.Dir = at.Rows()
	return rows, nil
}

// openRows opens what the driver keeps, and closes the driver where that fails.
func openRows(ctx context.Context, drv driver.Driver, o Options) (*Rows, error) {
	db, err := querydb.Open(ctx, drv, o.Models, querydb.Config{Logger: o.Logger})
	if err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	return Opened(db), nil
}

// Opened returns the rows of a DB that is open, with what its driver tells of itself.
func Opened(db *querydb.DB) *Rows {
	rows := &Rows{DB: db, Driver: querydb.Driver(db)}
	switch drv := rows.Driver.(type) {
	case *dynamostore.Store:
		rows.Dynamo = drv
		if drv.Remembers() {
			rows.CacheStats = func() driver.CacheStats { return drv.Stats().RowCache }
		}
	case interface{ CacheStats() driver.CacheStats }:
		rows.CacheStats = drv.CacheStats
	}
	return rows
}
