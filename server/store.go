package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// rows is the store of the rows, and what its driver measures.
type rows struct {
	*querydb.DB
	driver   driver.Driver
	measured []prometheus.Collector
}

// openStore opens the store of the rows.
func openStore(ctx context.Context, at storePlace, how *places, app *App, log *slog.Logger) (db *rows, err error) {
	switch at.kind {
	case embeddedStore:
		db, err = openEmbedded(ctx, at, how, app, log)
	case dynamoStore:
		db, err = openDynamo(ctx, at.dynamo, app, log)
	case memoryStore:
		db, err = openRows(ctx, memstore.New(), app, log)
	default:
		panic("a store that was parsed has one of the kinds above: " + at.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	return db, nil
}

func openEmbedded(ctx context.Context, at storePlace, how *places, app *App, log *slog.Logger) (*rows, error) {
	drv, err := pebblestore.Open(pebblestore.Options{
		Dir: at.rows(), CacheBytes: how.CacheMB << 20, Reserve: how.reserve(), Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return openRows(ctx, drv, app, log)
}

// openRows opens what the driver keeps, and closes the driver where that fails.
func openRows(ctx context.Context, drv driver.Driver, app *App, log *slog.Logger) (*rows, error) {
	db, err := querydb.Open(ctx, drv, app.Models, querydb.Config{Log: log})
	if err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	return &rows{DB: db, driver: drv}, nil
}

// Notes of the server's own.
const (
	serverNotes  = "server"
	tokenKeyNote = "page token key"
	sourceNote   = "source of events"
)

// tokenKey returns the secret of page tokens. It is kept with the rows, so that tokens outlive a restart.
func tokenKey(ctx context.Context, db *querydb.DB) (keys.TokenKey, error) {
	var k keys.TokenKey
	if _, err := rand.Read(k[:]); err != nil {
		return k, fmt.Errorf("make a key for page tokens: %w", err)
	}
	kept, err := keepFirst(ctx, db, tokenKeyNote, k[:])
	if err == nil && len(kept) != len(k) {
		err = fmt.Errorf("read the %s: it has %d bytes instead of %d: the store is damaged", tokenKeyNote, len(kept), len(k))
	}
	copy(k[:], kept)
	return k, err
}

// keepFirst keeps the value in a note that is not there yet, and returns what the note holds: of several servers that
// begin at once, one writes it.
func keepFirst(ctx context.Context, db *querydb.DB, id string, value []byte) ([]byte, error) {
	for {
		note, err := db.Note(ctx, serverNotes, id)
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", id, err)
		}
		if note.Value != nil {
			return note.Value, nil
		}
		note.Value, note.Read = value, true
		err = db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}})
		switch {
		case errors.Is(err, querydb.ErrStale): // another server was faster
		case err != nil:
			return nil, fmt.Errorf("keep the %s: %w", id, err)
		default:
			return value, nil
		}
	}
}
