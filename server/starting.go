package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb/driver"
)

// entrance answers from the moment on at which the address is taken: before the store is open it says that the server
// starts.
type entrance struct {
	handler atomic.Pointer[http.Handler]
}

func (e *entrance) open(h http.Handler) { e.handler.Store(&h) }

// ServeHTTP implements http.Handler.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := e.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	switch r.URL.Path {
	case livePath:
		(&health{}).live(w, r)
	case readyPath:
		writeJSON(w, http.StatusServiceUnavailable, "application/json", readyAnswer{Why: whyStarting})
	default:
		w.Header().Set("Retry-After", "1")
		starting().write(w)
	}
}

// listen takes the address before anything else is touched: a second server that is started by mistake ends here, and one
// that has much to open is known to be alive.
func (s *serving) listen() error {
	listener, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return wrongConfig("listen", "%w; choose another address, or stop what uses it", err)
	}
	s.listener, s.connections = listener, limitConnections(listener, s.cfg.MaxConnections)
	s.http, s.failed = s.httpServer(&s.entrance), make(chan error, 1)
	s.http.ConnState = s.connections.changed
	go func() { s.failed <- s.http.Serve(s.connections) }()
	return nil
}

// pauseWhileFull is how often opening is tried on a disk that is full.
const pauseWhileFull = 5 * time.Second

// openPatiently opens store and source, and where the disk is full waits for space.
func (s *serving) openPatiently(ctx context.Context, p *program) error {
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

// connectionLog hands on what the listener and its connections have to tell. Clients that break off are everyday life; a
// connection that cannot be accepted is not: the process has no file descriptors left.
type connectionLog struct{ log *slog.Logger }

// Write implements io.Writer.
func (c connectionLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelError
	}
	c.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
