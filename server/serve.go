package server

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/internal/brokenpipe"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/metrics"
	"github.com/foldql/foldql/server/internal/persisted"
	"github.com/foldql/foldql/server/internal/progress"
)

// Run serves until the context ends, then drains: it says that it is not ready, finishes what is in flight, commits the
// batch in hand, and closes the store. What was begun last ends first.
func (c *serveCommand) Run(ctx context.Context, p *program) (err error) {
	s, err := c.configure(ctx, p)
	if err != nil {
		return err
	}
	defer c.Data.TuneMemory(p.Env)()
	defer brokenpipe.FailWrites()() // a process that reads the log may end at the same signal, before the store is closed
	if err := s.listen(); err != nil {
		return err
	}
	closeAdmin, err := s.serveOperators(&s.operators)
	if err != nil {
		return errors.Join(err, s.http.Close())
	}
	defer closeAdmin()
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.openPatiently(ctx, p); err != nil {
		closed := s.http.Close()
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // the way in which a server is ended, at any time
			p.Log.Info("stopped before the server was open")
			return closed
		}
		return errors.Join(err, closed)
	}
	return s.serve(ctx, p)
}

// configure makes a server of which nothing is open yet.
func (c *serveCommand) configure(ctx context.Context, p *program) (*runningServer, error) {
	token, err := c.check(&p.app, p.Given)
	if err != nil {
		return nil, err
	}
	if token == "" && !access.Loopback(c.Listen) {
		return nil, undecidedWriters(c.Listen)
	}
	verifier, err := c.readers(ctx, p)
	if err != nil {
		return nil, err
	}
	runner, err := c.Fold.Runner(p.Log)
	if err != nil {
		return nil, err
	}
	return c.newServer(p, writers(token, WriteAccessLocal), verifier, runner)
}

// newServer makes a server with these options, of which nothing is open yet.
func (c *serveCommand) newServer(p *program, writers access.Admission, verifier *auth.Verifier,
	runner projection.RunnerConfig) (*runningServer, error) {
	documents, err := persisted.Open(&c.Documents, p.Log)
	if err != nil {
		return nil, err
	}
	return &runningServer{
		routes: routes{app: &p.app, cfg: c, writers: writers, verifier: verifier, documents: documents,
			deciding: admin.NewDeciding(), log: p.Log},
		runner: runner,
	}, nil
}

// readers makes the verifier of callers, and warns if a schema with rules is served without one.
func (c *serveCommand) readers(ctx context.Context, p *program) (*auth.Verifier, error) {
	verifier, err := c.Callers.Verifier(ctx, p.Log)
	if err != nil {
		return nil, err
	}
	if c.unverified(&p.app, verifier) {
		return nil, config.Error{Err: errors.New("jwt-secret, jwt-jwks: the schema says who may read what, and there is " +
			"nothing to verify callers with: set one of the two, or --auth=off to let everybody read everything")}
	}
	if p.app.Catalog.Secured && c.Auth == "off" {
		p.Log.Warn("the schema says who may read what, and --auth=off lets everybody read everything")
	}
	return verifier, nil
}

// serve answers requests until the context ends, and then those in flight.
func (s *runningServer) serve(ctx context.Context, p *program) error {
	s.measured = append(s.measured, metrics.Connections{Connections: s.connections})
	handler, operator := s.handler((*access.Hosts).GuardOperators)
	s.entrance.Open(handler)
	s.operators.Open(operator)
	s.announce(p, s.listener.Addr())
	select {
	case err := <-s.failed:
		return fmt.Errorf("listen at %s: %w", s.listener.Addr(), err)
	case <-ctx.Done():
	}
	return s.drain(s.http, s.failed)
}

// announce says where the server is to be found.
func (s *runningServer) announce(p *program, at net.Addr) {
	s.log.Info("listening", "addr", at.String())
	if t := progress.Terminal(p.Stderr); t != nil {
		fmt.Fprintf(t, "\n  API         http://%s/graphql\n", at)
		if s.cfg.Playground {
			fmt.Fprintf(t, "  GraphiQL    http://%s/\n", at)
		}
		fmt.Fprintf(t, "  Ready?      http://%s/readyz\n\n", at)
	}
	if p.listening != nil {
		p.listening(at.String())
	}
}
