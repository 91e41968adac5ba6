package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// openStore opens the store of the rows.
func openStore(ctx context.Context, at storePlace, cacheMB int64, models []*querydb.Model, log *slog.Logger) (*querydb.DB, error) {
	drv, err := openDriver(at, cacheMB, log)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	db, err := querydb.Open(ctx, drv, models, querydb.Config{Log: log})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store %s: %w", at, err), drv.Close())
	}
	return db, nil
}

func openDriver(at storePlace, cacheMB int64, log *slog.Logger) (driver.Driver, error) {
	switch at.kind {
	case embeddedStore:
		return pebblestore.Open(pebblestore.Options{Dir: at.rows(), CacheBytes: cacheMB << 20, Logger: log})
	case memoryStore:
		return memstore.New(), nil
	}
	panic("a store that was parsed has one of the kinds above: " + at.kind)
}

// Notes of the server's own.
const (
	serverNotes  = "server"
	tokenKeyNote = "page token key"
	sourceNote   = "source of events"
	firstNote    = "first event"
)

// tokenKey returns the secret of page tokens. It is kept with the rows, so that tokens outlive a restart.
func tokenKey(ctx context.Context, db *querydb.DB) (keys.TokenKey, error) {
	var k keys.TokenKey
	value, err := db.ReadNote(ctx, serverNotes, tokenKeyNote)
	switch {
	case err == nil && len(value) == len(k):
		copy(k[:], value)
		return k, nil
	case err == nil:
		return k, fmt.Errorf("read the key of page tokens: it has %d bytes instead of %d: the store is damaged", len(value), len(k))
	case !errors.Is(err, querydb.ErrNotFound):
		return k, fmt.Errorf("read the key of page tokens: %w", err)
	}
	if _, err := rand.Read(k[:]); err != nil {
		return k, fmt.Errorf("make a key for page tokens: %w", err)
	}
	return k, writeNote(ctx, db, tokenKeyNote, k[:])
}

func writeNote(ctx context.Context, db *querydb.DB, id string, value []byte) error {
	note := querydb.Note{Kind: serverNotes, ID: id, Value: value}
	if err := db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
		return fmt.Errorf("keep the %s: %w", id, err)
	}
	return nil
}

// claimSource binds the rows to the kind of source that they are folded from: a checkpoint in a file means nothing in
// the log.
func claimSource(ctx context.Context, db *querydb.DB, store storePlace, source sourcePlace) error {
	kind, err := db.ReadNote(ctx, serverNotes, sourceNote)
	switch {
	case errors.Is(err, querydb.ErrNotFound):
		return writeNote(ctx, db, sourceNote, []byte(source.kind))
	case err != nil:
		return fmt.Errorf("read where the rows come from: %w", err)
	case string(kind) != source.kind:
		return wrongConfig("events", "the rows of %s are folded from %s:, not from %s:; choose that, or another store",
			store, kind, source.kind)
	}
	return nil
}

// claimEvents binds the rows to the events that they are folded from, which the first one tells: what a checkpoint counts
// in one file means nothing in another, whose events would be passed over unseen.
func claimEvents(ctx context.Context, db *querydb.DB, store storePlace, src eventlog.Source) error {
	first, err := firstEvent(ctx, src)
	if err != nil || first == "" {
		return err
	}
	known, err := db.ReadNote(ctx, serverNotes, firstNote)
	switch {
	case errors.Is(err, querydb.ErrNotFound):
		return writeNote(ctx, db, firstNote, []byte(first))
	case err != nil:
		return fmt.Errorf("read which events the rows come from: %w", err)
	case string(known) != first:
		return wrongConfig("events", "the rows of %s are folded from events that begin with %s, and these begin with %s; "+
			"choose those, or another store", store, known, first)
	}
	return nil
}

// firstEvent names the first event that there is now, "" where there is none, or it is none that has a name.
func firstEvent(ctx context.Context, src eventlog.Source) (string, error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return "", fmt.Errorf("list the partitions of the events: %w", err)
	}
	for _, p := range partitions {
		events, err := src.Read(ctx, p, 0, 1)
		if err != nil {
			return "", fmt.Errorf("read the first event: %w", err)
		}
		if len(events) > 0 && events[0].Malformed == nil {
			return fmt.Sprintf("%q of %q", events[0].ID, events[0].Source), nil
		}
	}
	return "", nil
}
