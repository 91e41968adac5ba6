package dev

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// launch is what a server is started of: a program, by its hash, and flags, as one text.
type launch struct{ program, flags string }

// launch has a program serve in place of the one that does, unless it is the same, or one that did not start before.
// Where none serves, there is nothing to lose by another attempt.
func (s *session) launch(ctx context.Context, l launch, flags []string, force bool) {
	switch {
	case s.server != nil && s.server.launch == l && !force:
		s.succeed()
		return
	case s.refused == l && s.server != nil && !force:
		s.settle()
		return
	}
	path := filepath.Join(s.temp, fmt.Sprintf("run-%d", time.Now().UnixNano()), "server"+executable)
	if err := place(target(s.temp), path); err != nil {
		s.failFor("start the server", err)
		return
	}
	s.board.Doing("starting the server")
	former := s.server
	if former != nil {
		leave(s.board)
	}
	if err := s.draft.moves(former, flags); err != nil {
		s.out.say("%v", err)
	}
	if former != nil {
		former.stop(s.out)
		s.server = nil
	}
	next := &server{launch: l, path: path, flags: flags, lock: s.draft.wrote}
	if err := s.start(ctx, next); err != nil {
		s.refuse(ctx, next, former, err)
		return
	}
	if former != nil {
		former.remove(s.out)
	}
	if err := install(path, s.root, s.cfg.Binary); err != nil {
		s.out.say("%v", err)
	}
	s.out.say("serving at %s", s.url)
	if next.opening() {
		s.out.say("the store is large: the server answers as soon as it has opened it")
	} else {
		next.greet(ctx, s)
	}
	s.told = false // that it serves says enough
	s.succeed()
}

// start starts a server and hands requests on to it.
func (s *session) start(ctx context.Context, srv *server) error {
	at, err := srv.startPatiently(ctx, s)
	if err != nil {
		return err
	}
	s.server = srv
	s.board.Serve(at)
	return nil
}

// refuse tells why a server did not start, and starts the one again that ran before it.
func (s *session) refuse(ctx context.Context, srv, former *server, why error) {
	srv.remove(s.out)
	if ctx.Err() != nil {
		return
	}
	s.refused = srv.launch
	s.wrong = failure{"start the server", why}
	s.out.say("cannot start the server: %s", brief(why))
	if former != nil {
		again := &server{launch: former.launch, path: former.path, flags: former.flags, lock: former.lock}
		s.draft.returns(again)
		if err := s.start(ctx, again); err != nil {
			s.wrong.err = fmt.Errorf("%w\nnor does the former one start again: %w", why, err)
			s.out.say("nor does the former one start again: %s", brief(err))
			again.remove(s.out)
		} else {
			again.told.decide(passStale)
			s.draft.started(again)
		}
	}
	s.tellFormer()
	s.settle()
}

// brief is an error without what the terminal shows already.
func brief(err error) string {
	if exit, ended := errors.AsType[*endError](err); ended {
		return exit.how + "; what it said is above"
	}
	return err.Error()
}

// succeed says that the project as it stands is served.
func (s *session) succeed() {
	s.refused, s.wrong = launch{}, failure{}
	s.mend()
}

// install puts the program where its other commands are called, such as append: at a path that may be relative to the
// project, "" for nowhere. It ends as names of programs do, since Windows runs no others.
func install(program, root, path string) error {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	return place(program, strings.TrimSuffix(path, executable)+executable)
}

// serverURL is where a server listens.
func serverURL(address string) *url.URL { return &url.URL{Scheme: "http", Host: address} }
