package server

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/health"
	"github.com/foldql/foldql/server/internal/limits"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/metrics"
	"github.com/foldql/foldql/server/internal/middleware"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// Run serves until the context ends, then drains: it says that it is not ready, finishes what is in flight, commits the
// batch in hand, and closes the store. What was begun last ends first.
func (c *serveCommand) Run(ctx context.Context, p *program) (err error) {
	s, err := c.configure(ctx, p)
	if err != nil {
		return err
	}
	defer c.Data.TuneMemory(p.env)()
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
			p.log.Info("stopped before the server was open")
			return closed
		}
		return errors.Join(err, closed)
	}
	return s.serve(ctx, p)
}

// configure makes a server of which nothing is open yet.
func (c *serveCommand) configure(ctx context.Context, p *program) (*serving, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := p.app.checkComplete(); err != nil {
		return nil, err
	}
	token, err := c.WriteAuth.Get()
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
	runner, err := c.Fold.Runner(p.log)
	if err != nil {
		return nil, err
	}
	s := c.serving(p, writers(token, WritesLocal), verifier)
	s.runner = runner
	return s, nil
}

// serving makes a server with these options.
func (c *serveCommand) serving(p *program, writers access.Admission, verifier *auth.Verifier) *serving {
	return &serving{routes: routes{app: &p.app, cfg: c, writers: writers, verifier: verifier, log: p.log}}
}

// readers makes what tells readers apart, and says where nobody does.
func (c *serveCommand) readers(ctx context.Context, p *program) (*auth.Verifier, error) {
	verifier, err := c.Callers.Verifier(ctx, p.log)
	if err != nil {
		return nil, err
	}
	secured := p.app.Catalog.Secured
	if err := checkReaders(secured, verifier != nil, c.Auth == "off"); err != nil {
		return nil, err
	}
	if secured && c.Auth == "off" {
		p.log.Warn("the schema says who may read what, and --auth=off lets everybody read everything")
	}
	return verifier, nil
}

// serving is a server from its start to its end.
type serving struct {
	routes
	runner      projection.RunnerConfig
	entrance    health.Entrance
	operators   health.Entrance // at --admin-listen
	listener    net.Listener
	connections *limits.Connections
	http        *http.Server
	failed      chan error // what the listener died of
	stopFolds   context.CancelFunc
	end         time.Time // when all must have ended; zero for whenever it has
}

// open opens the store and the source, and starts the projections.
func (s *serving) open(ctx context.Context, p *program) error {
	store, from, err := s.cfg.Data.Parse()
	if err != nil {
		return err
	}
	if s.cfg.Sample && from.Kind != config.Log {
		return config.Wrong("sample", "sample events are appended to a log; choose --events log:, or leave --sample out")
	}
	rows, err := p.store(ctx, store, &s.cfg.Data)
	if err != nil {
		return err
	}
	s.db, s.driver = rows.DB, rows.Driver
	if rows.Dynamo != nil {
		s.measured = append(s.measured, &metrics.DynamoDB{Store: rows.Dynamo})
	}
	s.storages.Add("rows", rows.Driver)
	if err := stores.BindSource(ctx, s.db, store, from); err != nil {
		return err
	}
	if s.source, err = p.source(from, store, s.cfg.Reserve(), s.cfg.MaxEvent); err != nil {
		return err
	}
	return s.begin(ctx)
}

// begin starts the projections over the store and the source that are open.
func (s *serving) begin(ctx context.Context) (err error) {
	if s.tokenKey, err = stores.TokenKey(ctx, s.db); err != nil {
		return err
	}
	other, err := logcheck.First(ctx, s.db, s.source, s.app.Projections)
	if err != nil {
		return err
	}
	if other == nil {
		if err := s.sample(ctx); err != nil {
			return err
		}
	}
	goal, err := sources.Heads(ctx, s.source.Source)
	if err != nil {
		return err
	}
	if s.folds, err = projections.New(s.app.Projections, s.source.Source, s.db, goal, s.runner); err != nil {
		return err
	}
	if err := s.folds.Prepare(ctx); err != nil {
		return err
	}
	s.folds.ReadyLag, s.folds.Resumes = s.cfg.ReadyLag, true
	if s.source.Log != nil {
		s.storages.Add("log", s.source.Log)
	}
	s.health = &health.Health{Folds: s.folds, Storages: s.storages, Rows: s.driver}
	folding, stop := context.WithCancel(context.WithoutCancel(ctx)) // ends when requests have
	s.stopFolds = stop
	if other == nil {
		s.folds.Start(folding)
	} else {
		s.folds.Halt = stop
		s.folds.Mismatches(other)
	}
	if s.source.Log != nil {
		s.source.Log = s.folds.Guard(s.source.Log)
	}
	go s.announceReady(folding)
	return nil
}

func (s *serving) sample(ctx context.Context) error {
	if !s.cfg.Sample {
		return nil
	}
	if s.app.Sample == nil {
		return config.Wrong("sample", "this project has no sample events; set App.Sample, or leave --sample out")
	}
	n, err := sources.AppendSample(ctx, s.source.Log, s.app.Sample, s.app.Events)
	if n > 0 {
		s.log.Info("sample events appended", "events", n)
	}
	return err
}

// announceReady logs the moment from which the rows are up to date, and every while until then how far they are.
func (s *serving) announceReady(ctx context.Context) {
	began := time.Now()
	told := began
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		statuses, err := s.folds.Statuses(ctx)
		if err == nil {
			s.log.Info("ready: every projection is up to date", "took", time.Since(began).String())
			return
		}
		if time.Since(told) >= notReadyEvery {
			told = time.Now()
			s.log.Info("not ready yet", "behind", behind(statuses), "why", err)
		}
	}
}

// notReadyEvery is how often the log tells how far a server is that is not ready.
const notReadyEvery = 5 * time.Second

// behind is how many events the last of the projections is behind.
func behind(statuses []projection.Status) (most uint64) {
	for _, s := range statuses {
		most = max(most, s.Lag)
	}
	return most
}

// serve answers requests until the context ends, and then those in flight.
func (s *serving) serve(ctx context.Context, p *program) error {
	s.measured = append(s.measured, metrics.Connections{Connections: s.connections})
	handler, operator := s.handler()
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

// httpServer bounds the time of clients that do nothing. Those that are slow are bounded where large answers are sent.
func (s *serving) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute + s.cfg.Timeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(middleware.ConnectionLog{Log: s.log}, "", 0),
	}
}

// announce says where the server is to be found.
func (s *serving) announce(p *program, at net.Addr) {
	s.log.Info("listening", "addr", at.String())
	if t := progress.Terminal(p.stderr); t != nil {
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

// drain ends the server in such a way that nobody is cut off who can be waited for. A listener that fails meanwhile has
// nobody left to notice.
func (s *serving) drain(srv *http.Server, failed <-chan error) error {
	s.log.Info("draining; a second signal ends the server at once", "delay", s.cfg.DrainDelay.String())
	s.health.Draining.Store(true)
	select {
	case err := <-failed:
		s.log.Warn("the listener failed while draining", "error", err)
	case <-time.After(s.cfg.DrainDelay):
	}
	s.end = time.Now().Add(s.cfg.DrainTimeout)
	ctx, cancel := context.WithDeadline(context.Background(), s.end)
	defer cancel()
	// Projections fold as long as requests are in flight, but for the time that they need to end themselves.
	defer time.AfterFunc(s.cfg.DrainTimeout-min(toEnd, s.cfg.DrainTimeout/2), s.stopFolds).Stop()
	if err := srv.Shutdown(ctx); err != nil {
		s.log.Warn("requests did not finish in time and are cut off", "timeout", s.cfg.DrainTimeout.String())
		_ = srv.Close() // it only says what is known: that connections were open
	}
	return nil
}

// toEnd is what projections have at least for their last commit.
const toEnd = 3 * time.Second

// close ends what open has begun, as far as that got.
func (s *serving) close() error {
	if s.stopFolds != nil {
		s.stopFolds()
		end := time.Now().Add(toEnd)
		if s.end.After(end) {
			end = s.end
		}
		err, ended := s.folds.WaitUntil(end)
		if !ended {
			return errors.New("projections did not end in time, so the store was not closed; what they had not " +
				"committed is folded " +
				"again at the next start")
		}
		if err != nil {
			s.log.Error("projections had stopped", "error", err)
		}
	}
	err := s.closeStores()
	if err == nil && s.stopFolds != nil {
		s.log.Info("stopped")
	}
	return err
}

// closeStores closes what is open.
func (s *serving) closeStores() error {
	var all []error
	if s.source != nil {
		all = append(all, s.source.Close())
	}
	if s.db != nil {
		all = append(all, s.db.Close())
	}
	s.source, s.db, s.storages = nil, nil, nil
	return errors.Join(all...)
}
