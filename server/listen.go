package server

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/slowclient"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/limits"
	"github.com/foldql/foldql/server/internal/middleware"
)

// listen takes the address before anything else is touched: a second server that is started by mistake ends here, and
// one that has much to open is known to be alive.
func (s *runningServer) listen() error {
	listener, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return config.Wrong("listen", "%w; choose another address with --listen, or stop what uses it", err)
	}
	s.listener = listener
	s.connections = limits.NewConnections(listener, s.cfg.MaxConnections)
	s.entrance.Open(s.starting())
	s.http, s.failed = s.httpServer(&s.entrance), make(chan error, 1)
	s.http.ConnState = s.connections.Changed
	go func() { s.failed <- s.http.Serve(middleware.OneWrite{Listener: s.connections}) }()
	return nil
}

// pauseWhileFull is how often opening is tried on a disk that is full.
const pauseWhileFull = 5 * time.Second

// openPatiently opens store and source, and where the disk is full waits for space.
func (s *runningServer) openPatiently(ctx context.Context, p *program) error {
	for {
		err := s.open(ctx, p)
		if !errors.Is(err, driver.ErrFull) && !errors.Is(err, eventlog.ErrFull) {
			return err
		}
		s.log.Error("the server starts when there is space on the disk", "error", err)
		if err := s.closeStores(); err != nil {
			return err
		}
		select {
		case <-time.After(pauseWhileFull):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// serveOperators answers at --admin-listen, if there is one, until it is closed: also while the server drains.
func (s *runningServer) serveOperators(handler http.Handler) (closeAdmin func(), err error) {
	if s.cfg.AdminListen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", s.cfg.AdminListen)
	if err != nil {
		return nil, config.Wrong("admin-listen", "%w; choose another address with --admin-listen, or stop what uses it", err)
	}
	srv := s.httpServer(handler)
	go func() {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the admin listener failed; the server goes on without it", "error", err)
		}
	}()
	at := listener.Addr().String()
	s.log.Info("answering operators", "admin", at)
	if !access.Loopback(at) {
		s.log.Warn("whoever reaches the admin listener sees names of models, keys of rows and addresses, and of dead "+
			"letters the ids, sources and subjects, and reasons that may quote their data", "admin", at)
	}
	return func() { _ = srv.Close() }, nil // nobody waits for what is asked while the server ends
}

// maxHeaderBytes is what the line and the header of a request may have: 16 positions of 4 KiB, a token of 16 KiB, and a
// query string.
const maxHeaderBytes = 128 << 10

// httpServer bounds the time of clients that do nothing, or send little. Those that receive little are bounded where
// large answers are sent.
func (s *runningServer) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           slowclient.BoundBodies(s.cfg.ReadTimeout, handler),
		ConnContext:       middleware.ConnContext,
		ReadHeaderTimeout: limits.HeaderTimeout,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute + s.cfg.Timeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(middleware.ConnectionLog{Log: s.log}, "", 0),
	}
}
