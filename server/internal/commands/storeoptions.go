package commands

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// storeOptions are those of commands that work on a store themselves, while no server runs.
type storeOptions struct {
	Store    string `help:"Work on this store instead of a running server: embedded:DIR, which no server may have open, or dynamodb:PREFIX." linealone:"" group:"Data"`
	Events   string `help:"Where events come from, with --store." default:"log:" group:"Data"`
	CacheMB  int64  `help:"Memory for the cache of an embedded store, in MiB." default:"256" group:"Data"`
	MaxEvent int    `help:"Bytes of one event." default:"262144" group:"Data"`
}

// refuseWithoutStore refuses flags on the command line that would have no effect on a running server.
func (p *Program) refuseWithoutStore(flags ...string) error {
	for _, name := range flags {
		if slices.Contains(p.Given, name) {
			return config.Wrong(name, "it has no effect on a running server; give --store too, or set it where the "+
				"server is started")
		}
	}
	return nil
}

// storeFlags are those of storeOptions that mean nothing without --store.
var storeFlags = []string{"events", "cache-mb", "max-event"}

// foldFlags are those of config.Fold.
var foldFlags = []string{"max-ops", "max-row-bytes", "max-aggregate", "max-dead-letters", "window",
	"project-timeout", "commit-timeout"}

// opened is a store, and the source that belongs to it.
type opened struct {
	db   *querydb.DB
	rows *stores.Rows // that db is of
	src  *sources.Source
}

func (o *storeOptions) open(ctx context.Context, p *Program) (*opened, error) {
	at := config.Data{Store: o.Store, Events: o.Events, CacheMB: o.CacheMB, ReserveMB: 1}
	store, from, err := at.Parse()
	if err != nil {
		return nil, err
	}
	rows, err := p.OpenStore(ctx, store, &at)
	if err != nil {
		return nil, err
	}
	if err := stores.BindSource(ctx, rows.DB, store, from); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	src, err := p.OpenSource(from, store, at.Reserve(), o.MaxEvent)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &opened{rows.DB, rows, src}, nil
}

func (o *opened) close() error { return errors.Join(o.src.Close(), o.db.Close()) }
