package server

import (
	"context"
	"errors"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// replayCommand folds events into a store without serving.
type replayCommand struct {
	places
	folding
	MaxEvent int `help:"Bytes of one event." default:"262144" group:"Data"`
}

// Run folds to the end of the source as it is at the start, from where each projection has come to.
func (c *replayCommand) Run(ctx context.Context, p *program) (err error) {
	store, from, err := c.places.parse()
	if err != nil {
		return err
	}
	if c.MaxEvent < 1 {
		return wrongConfig("max-event", "give 1 at least")
	}
	if err := p.app.checkComplete(); err != nil {
		return err
	}
	runner, err := c.folding.runner(p.log)
	if err != nil {
		return err
	}
	defer c.places.tuneMemory(p.env)()
	opened, err := p.store(ctx, store, &c.places)
	if err != nil {
		return err
	}
	db := opened.DB
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := claimSource(ctx, db, store, from); err != nil {
		return err
	}
	src, err := p.source(from, store, c.reserve(), c.MaxEvent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	known := from.path != "-" // the end of standard input is known when it has come
	if !known {
		if err := src.Wait(ctx, eventlog.Positions{}); err != nil && !ended(err) {
			return err
		}
	}
	var events eventlog.Source = src.Source
	other, err := firstMismatch(ctx, db, src, p.app.Projections)
	if err != nil {
		return err
	}
	if other != nil {
		return errMismatch(other)
	}
	var ends eventlog.Positions
	if known {
		if ends, err = heads(ctx, events); err != nil {
			return err
		}
		events = &upTo{events, ends}
	}
	f, err := newFolds(p.app.Projections, events, db, ends, runner)
	if err != nil {
		return err
	}
	if err := f.prepare(ctx); err != nil {
		return err
	}
	return replay(ctx, p, f, ends)
}

// replay runs the projections to their end and shows how they get on.
func replay(ctx context.Context, p *program, f *folds, ends eventlog.Positions) error {
	f.start(ctx)
	done := make(chan error, 1)
	go func() { done <- f.wait() }()
	var m meter
	for _, end := range ends {
		m.total += end
	}
	m.from(f.average(ctx))
	m.start(p.stderr, "folded")
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			m.at(f.average(context.WithoutCancel(ctx)))
			m.stop()
			return errors.Join(err, ctx.Err(), f.summary(context.WithoutCancel(ctx), p.stdout))
		case <-look.C:
			m.at(f.average(ctx))
		}
	}
}
