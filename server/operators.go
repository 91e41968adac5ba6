package server

import (
	"errors"
	"net"
	"net/http"
)

// serveOperators answers at --admin-listen, if there is one, until it is closed: also while the server drains.
func (s *serving) serveOperators(handler http.Handler) (closeAdmin func(), err error) {
	if s.cfg.AdminListen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", s.cfg.AdminListen)
	if err != nil {
		return nil, wrongConfig("admin-listen", "%w; choose another address, or stop what uses it", err)
	}
	srv := s.httpServer(handler)
	go func() {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the admin listener failed; the server goes on without it", "error", err)
		}
	}()
	at := listener.Addr().String()
	s.log.Info("answering operators", "admin", at)
	if !loopback(at) {
		s.log.Warn("whoever reaches the admin listener sees names of models, keys of rows and addresses", "admin", at)
	}
	return func() { _ = srv.Close() }, nil // nobody waits for what is asked while the server ends
}
