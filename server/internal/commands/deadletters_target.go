package commands

import (
	"bytes"
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
	storeOptions
	config.Fold
}

// with calls f with a client of the server or, where a store is given, of one that folds nothing and answers this
// client alone.
func (c *deadLettersOf) with(ctx context.Context, p *Program, f func(*client.Client) error) (err error) {
	if c.Store == "" {
		if err := p.refuseWithoutStore(slices.Concat(storeFlags, foldFlags)...); err != nil {
			return err
		}
		to, err := c.Server.Client()
		if err != nil {
			return err
		}
		return f(to)
	}
	cfg, err := c.Runner(p.Log)
	if err != nil {
		return err
	}
	o, err := c.storeOptions.open(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	all, err := projections.New(p.Projections, o.src.Source, o.db, nil, cfg)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	none := func(h http.Handler) http.Handler { return h }
	(&admin.API{Folds: all, Backups: &backup.Sender{}, Log: p.Log}).Register(mux, none, refuseRebuild(o.db, p.Projections))
	return f(&client.Client{Who: "the store", Base: "http://store", Http: &http.Client{Transport: answering{mux}}})
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
