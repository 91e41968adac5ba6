package commands

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/projections"
)

// deadLettersOf is where dead letters are: with a running server, or in a store.
type deadLettersOf struct {
	client.Server
	StoreOptions
	config.Fold
}

// with calls f with a client of the server or, where a store is given, of one that folds nothing and answers this
// client alone.
func (c *deadLettersOf) with(ctx context.Context, p *Program, f func(*client.Client) error) error {
	remote := func(context.Context, *Program) error {
		to, err := c.Server.Client()
		if err != nil {
			return err
		}
		return f(to)
	}
	offline := func(ctx context.Context, p *Program) error { return c.offline(ctx, p, f) }
	return c.either(ctx, p, slices.Concat(StoreFlags(), FoldFlags()), remote, offline)
}

func (c *deadLettersOf) offline(ctx context.Context, p *Program, f func(*client.Client) error) (err error) {
	cfg, err := c.Runner(p.Log)
	if err != nil {
		return err
	}
	o, err := c.StoreOptions.openExisting(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	all, err := projections.New(p.Projections, o.Source.Source, o.DB, nil, cfg)
	if err != nil {
		return err
	}
	if err := all.KeepServing(ctx, projections.Keep{DB: o.DB}); err != nil {
		return err
	}
	mux := http.NewServeMux()
	none := func(h http.Handler) http.Handler { return h }
	deciding := admin.NewDeciding()
	defer context.AfterFunc(ctx, func() { deciding.Finish() })()
	api := &admin.API{Folds: all, Source: o.Source.Source, Backups: &backup.Sender{}, Deciding: deciding, Log: p.Log}
	api.Register(mux, none, refuseRebuild(o.DB, p.Projections))
	return f(client.InProcess("the store", mux))
}
