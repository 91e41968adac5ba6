package server

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
)

// rows is the store of the rows, and its driver.
type rows struct {
	*querydb.DB
	driver driver.Driver
	Dynamo *dynamostore.Store // the driver, where it is this one
}

// storeOptions2 are how a store is opened, and for whose rows.
type storeOptions2 struct {
	CacheBytes  int64  // of an embedded store
	Reserve     uint64 // bytes of free disk space that an embedded store leaves alone
	Models      []*querydb.Model
	Projections []projection.Projection // that write them: they say which tables in DynamoDB must be there
	Logger      *slog.Logger
}

// openStore opens the store of the rows.
func openStore(ctx context.Context, at storePlace, o storeOptions2) (db *rows, err error) {
	switch at.kind {
	case embeddedStore:
		db, err = openEmbedded(ctx, at, o)
	case dynamoStore:
		db, err = openDynamo(ctx, at.dynamo, o)
	case memoryStore:
		db, err = openRows(ctx, memstore.New(), o)
	default:
		panic("a store that was parsed has one of the kinds above: " + at.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	return db, nil
}

func openEmbedded(ctx context.Context, at storePlace, o storeOptions2) (*rows, error) {
	drv, err := pebblestore.Open(pebblestore.Options{
		Dir: at.rows(), CacheBytes: o.CacheBytes, Reserve: o.Reserve, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	return openRows(ctx, drv, o)
}

// openRows opens what the driver keeps, and closes the driver where that fails.
func openRows(ctx context.Context, drv driver.Driver, o storeOptions2) (*rows, error) {
	db, err := querydb.Open(ctx, drv, o.Models, querydb.Config{Log: o.Logger})
	if err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	return &rows{DB: db, driver: drv}, nil
}
