package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// storeOptions are those of commands that work on a store themselves, while no server runs.
type storeOptions struct {
	Store    string `help:"Do it in this store, which no server has open where it is embedded: embedded:DIR or dynamodb:PREFIX." linealone:"" group:"Data"`
	Events   string `help:"Where events come from, with --store." default:"log:" group:"Data"`
	CacheMB  int64  `help:"Memory for the cache of an embedded store, in MiB." default:"256" group:"Data"`
	MaxEvent int    `help:"Bytes of one event." default:"262144" group:"Data"`
}

// needsStore refuses flags on the command line that a running server would not be told.
func (p *program) needsStore(flags ...string) error {
	for _, name := range flags {
		if slices.Contains(p.given, name) {
			return config.Wrong(name, "it has no effect on a running server; give --store too, or set it where the "+
				"server is started")
		}
	}
	return nil
}

// storeFlags are those of storeOptions that mean nothing without --store.
var storeFlags = []string{"events", "cache-mb", "max-event"}

// foldFlags are those of config.Fold.
var foldFlags = []string{"max-ops", "max-row-bytes", "max-dead-letters", "window", "project-timeout", "commit-within"}

// opened is a store, and the source that belongs to it.
type opened struct {
	db  *querydb.DB
	src *sources.Source
}

func (o *storeOptions) open(ctx context.Context, p *program) (*opened, error) {
	at := config.Data{Store: o.Store, Events: o.Events, CacheMB: o.CacheMB, ReserveMB: 1}
	store, from, err := at.Parse()
	if err != nil {
		return nil, err
	}
	rows, err := p.store(ctx, store, &at)
	if err != nil {
		return nil, err
	}
	if err := stores.BindSource(ctx, rows.DB, store, from); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	src, err := p.source(from, store, at.Reserve(), o.MaxEvent)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &opened{rows.DB, src}, nil
}

func (o *opened) close() error { return errors.Join(o.src.Close(), o.db.Close()) }

// deadLettersOf is where dead letters are: with a running server, or in a store.
type deadLettersOf struct {
	client.Server
	storeOptions
	config.Fold
}

// with calls f with a client of the server or, where a store is given, of one that folds nothing and answers this
// client alone.
func (c *deadLettersOf) with(ctx context.Context, p *program, f func(*client.Client) error) (err error) {
	if c.Store == "" {
		if err := p.needsStore(slices.Concat(storeFlags, foldFlags)...); err != nil {
			return err
		}
		to, err := c.Server.Client()
		if err != nil {
			return err
		}
		return f(to)
	}
	cfg, err := c.Runner(p.log)
	if err != nil {
		return err
	}
	o, err := c.storeOptions.open(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	all, err := projections.New(p.app.Projections, o.src.Source, o.db, nil, cfg)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	none := func(h http.Handler) http.Handler { return h }
	(&admin.API{Folds: all, Log: p.log}).Register(mux, none, notAnew(o.db, p.app.Projections))
	return f(&client.Client{Who: "the store", Base: "http://store", Http: &http.Client{Transport: answering{mux}}})
}

// notAnew refuses to change anything by a program that would rebuild a model for that: to decide about a dead
// letter is no reason to drop rows.
func notAnew(db *querydb.DB, all []projection.Projection) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, one := range all {
				why, err := projection.RebuildReason(r.Context(), db, one)
				if err == nil && why != "" {
					err = fmt.Errorf("this program would rebuild projection %s: %s; use the program that folded the rows, "+
						"or start the server first", one.Name, why)
				}
				if err != nil {
					problem.FailedAgain(err.Error()).Write(w)
					return
				}
			}
			h.ServeHTTP(w, r)
		})
	}
}

// answering is a transport to a handler in this process.
type answering struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (t answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a := &answer{header: http.Header{}, status: http.StatusOK}
	t.ServeHTTP(a, r)
	return &http.Response{
		StatusCode: a.status, Header: a.header, Body: readCloser{&a.body}, ContentLength: int64(a.body.Len()),
		ProtoMajor: 1, ProtoMinor: 1, Request: r,
	}, nil
}

// answer is a response that is kept.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// readCloser is a buffer with nothing to close.
type readCloser struct{ *bytes.Buffer }

// Close implements io.Closer.
func (readCloser) Close() error { return nil }
