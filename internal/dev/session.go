package dev

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/internal/dev/front"
	"github.com/foldql/foldql/internal/dev/sources"
	"github.com/foldql/foldql/internal/dev/watch"
	"github.com/foldql/foldql/internal/gen"
)

// session is what is known of the project, and of what was made of it last.
type session struct {
	cfg     Config
	root    string // folder of the project
	temp    string // folder of the programs
	url     string // where it is served
	gitLock string // see gitLock
	out     *console
	board   *front.Board
	watcher *watch.Watcher
	failed  chan error // what the listener died of

	program  sources.Program
	followed []string // the folders that are watched

	generated generation
	draft     draft
	built     build
	server    *server // the one that runs; nil where none does
	refused   launch  // what a server was last started of in vain
	wrong     failure // of the build, or of the server
	told      bool    // that something is wrong
}

// failure is what has failed, and why.
type failure struct {
	what string
	err  error
}

func newSession(cfg Config, root, temp string, watcher *watch.Watcher) *session {
	return &session{
		cfg: cfg, root: root, temp: temp, out: &console{to: cfg.Out}, board: front.NewBoard(), watcher: watcher,
		gitLock: gitLock(root), failed: make(chan error, 1), program: sources.Module(root),
	}
}

// run does what is to be done, and again with each change, until the context ends.
func (s *session) run(ctx context.Context) error {
	defer s.stop()
	again := lines(s.cfg.Again)
	for force := false; ; {
		s.pass(ctx, force)
		force = false
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.failed:
			return err
		case <-s.watcher.Changes():
		case <-again:
			force = true
		case <-s.server.opened():
			s.server.opens = nil
			s.server.greet(ctx, s)
		case <-s.server.ended():
			s.died()
		}
	}
}

// pass brings all up to date, a step at a time.
func (s *session) pass(ctx context.Context, force bool) {
	for more := true; more && ctx.Err() == nil; {
		awaitGit(ctx, s.gitLock)
		more = s.step(ctx, force)
		force = force && more
	}
}

// step generates, or builds and starts, whatever is to be done first. It returns whether there may be more to do.
func (s *session) step(ctx context.Context, force bool) (more bool) {
	now, err := s.look()
	if err != nil {
		s.fail("read the project", err)
		return false
	}
	s.built.notice(now)
	switch {
	case s.generated.outdated(now), force && s.generated.err != nil:
		return s.generate(ctx, now)
	case s.generated.err != nil:
		return false
	case force || s.built.due(now, s.server != nil):
		return s.renew(ctx, now, force)
	}
	s.settle()
	return false
}

// settle shows what is wrong still, when there is nothing to do.
func (s *session) settle() {
	if s.wrong.err != nil {
		s.told = true
		s.board.Fail(s.wrong.what, readable(s.root, s.wrong.err))
		return
	}
	s.mend()
}

// mend shows that nothing is wrong, and tells it where something was.
func (s *session) mend() {
	if s.told {
		s.out.say("fixed: the server at %s is that of the project as it stands", s.url)
	}
	s.told = false
	s.board.Mend()
}

// seen is the project as it stands on the disk.
type seen struct {
	inputs  gen.Inputs
	schemas sources.Contents // what it is generated from
	files   sources.Contents // what it is compiled from
	flags   []string         // of the server
}

// same reports whether a project stands as it did.
func (n seen) same(as seen) bool {
	return maps.Equal(n.schemas, as.schemas) && maps.Equal(n.files, as.files) && slices.Equal(n.flags, as.flags)
}

// look watches the folders of the project, and then reads it: what changes later is told.
func (s *session) look() (now seen, err error) {
	for {
		now.inputs, _ = gen.Inspect(s.root) // what is wrong there is told where the code is generated
		now.flags = slices.Concat(now.inputs.Flags, s.cfg.Flags)
		var folders []string
		if now.files, folders, err = s.program.Look(stores(s.root, now.flags)); err != nil {
			return now, err
		}
		if now.schemas, err = sources.Read(now.inputs.Files); err != nil {
			return now, fmt.Errorf("read the schemas: %w", err)
		}
		folders = append(folders, s.root)
		for _, file := range now.inputs.Files {
			folders = append(folders, filepath.Dir(file))
		}
		slices.Sort(folders)
		folders = slices.Compact(folders)
		if err := s.watcher.Follow(folders); err != nil {
			return now, err
		}
		if slices.Equal(folders, s.followed) {
			return now, nil
		}
		s.followed = folders // what has changed before they were watched is seen by a second look
	}
}

// list finds out what the program is compiled from, and returns whether that is other than it was. Where the go command
// cannot say so, it stays as it was: a build will tell why.
func (s *session) list(ctx context.Context, server string) (changed bool) {
	program, err := sources.List(ctx, s.root, server)
	if err != nil || len(program.Roots) == 0 || program.Equal(s.program) {
		return false
	}
	s.program = program
	return true
}

// fail tells what has failed, and why.
func (s *session) fail(what string, err error) {
	s.told = true
	s.out.say("cannot %s:\n%v", what, err)
	s.tellFormer()
	s.board.Fail(what, readable(s.root, err))
}

// tellFormer says that there is a server still, where there is, or else what there is one after.
func (s *session) tellFormer() {
	if s.server != nil {
		s.out.say("the former server goes on at %s", s.url)
		return
	}
	s.out.say("no server runs: it starts %s", s.cfg.nextStart())
}

// failFor tells what has failed, until a build serves.
func (s *session) failFor(what string, err error) {
	s.wrong = failure{what, err}
	s.fail(what, err)
}

// readable is an error as it is shown in GraphiQL: paths of the project are short.
func readable(root string, err error) string {
	return strings.ReplaceAll(err.Error(), root+string(os.PathSeparator), "")
}

// died tells that the server has ended by itself.
func (s *session) died() {
	why := s.server.why()
	s.server.remove(s.out)
	s.server, s.built.changed = nil, false
	leave(s.board)
	s.wrong = failure{"go on serving", why}
	s.out.say("the server has ended: %s. It starts again %s", brief(why), s.cfg.nextStart())
	s.settle()
}

// stop ends the server.
func (s *session) stop() {
	if s.server == nil {
		return
	}
	s.out.say("stopping the server")
	leave(s.board)
	if err := s.draft.served(s.server); err != nil {
		s.out.say("%v", err)
	}
	s.server.stop(s.out)
	s.server = nil
}

// leave hands no more requests on to the server, and waits a moment for those in flight; the server answers what takes
// longer before it ends.
func leave(board *front.Board) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	board.Leave(ctx)
}

// errSuperseded is of a build of files that have changed meanwhile.
var errSuperseded = errors.New("the files have changed")
