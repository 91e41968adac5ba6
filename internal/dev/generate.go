package dev

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/internal/dev/sources"
	"github.com/foldql/foldql/internal/schema/eventlock"
)

// generation is the last one: of what, what it wrote, and what it failed of.
type generation struct {
	done   bool
	from   sources.Contents // the schemas
	beside sources.Contents // the code that it found; it counts where it failed, because it reads Go types too
	wrote  sources.Contents
	err    error
}

// outdated reports whether the code is to be generated again: a schema has changed, or what was generated from it has.
func (g *generation) outdated(now seen) bool {
	switch {
	case !g.done, !maps.Equal(g.from, now.schemas):
		return true
	case g.err != nil:
		return !maps.Equal(g.beside, now.files)
	}
	return !now.files.Has(g.wrote)
}

// generate generates the code, and returns whether it could.
func (s *session) generate(ctx context.Context, now seen) bool {
	s.out.say("generating the code")
	s.board.Doing("generating the code")
	began := time.Now()
	restore, err := s.draft.loosen(s.server)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { s.out.say("letting the generator end, for %s at most", toGenerate) })
		told := &wholeLines{to: s.out}
		err = generateApart(ctx, s.root, told)
		told.end()
		if err != nil {
			err = errors.Join(err, restore())
		} else {
			s.draft.left()
		}
		stop()
	}
	s.generated = generation{done: true, from: now.schemas, beside: now.files, err: err}
	if err != nil && ctx.Err() != nil {
		s.out.say("the code is not generated: %v", err)
		return false
	}
	if err != nil {
		s.fail("generate the code", err)
		return false
	}
	if err := s.remember(); err != nil {
		s.fail("read the generated code", err)
		return false
	}
	if err := s.draft.regain(s.server); err != nil {
		s.fail("give the lock of the events back what it had", err)
		return false
	}
	s.out.say("generated in %s", took(began))
	return true
}

// remember reads what was generated. The lock of the events is written by the generator, and read by it, too.
func (s *session) remember() error {
	now, err := s.look()
	if err != nil {
		return err
	}
	lock := filepath.Join(s.root, eventlock.File)
	s.generated.from = maps.Clone(s.generated.from)
	if content, ok := now.schemas[lock]; ok {
		s.generated.from[lock] = content
	}
	s.generated.wrote = now.files.Generated()
	return nil
}
