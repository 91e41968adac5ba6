package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	opened, err := openStore(ctx, store, &c.places, &p.app, p.log)
	if err != nil {
		return err
	}
	db := opened.DB
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := claimSource(ctx, db, store, from); err != nil {
		return err
	}
	src, err := openSource(from, store, c.reserve(), c.MaxEvent, p, p.log)
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
			return errors.Join(err, ctx.Err(), f.summary(context.WithoutCancel(ctx), p))
		case <-look.C:
			m.at(f.average(ctx))
		}
	}
}

// average returns how far the projections have come, each as much as the others: one that waits long for its first
// commit, as on DynamoDB, does not hide that the others get on.
func (f *folds) average(ctx context.Context) uint64 {
	var sum uint64
	for _, one := range f.all {
		s, err := one.Status(ctx)
		if err != nil {
			f.log.LogAttrs(ctx, slog.LevelDebug, "status not known", slog.Any("error", err))
			continue
		}
		for _, p := range s.Partitions {
			sum += p.Checkpoint
		}
	}
	return sum / uint64(max(len(f.all), 1))
}

// summary prints what became of each projection.
func (f *folds) summary(ctx context.Context, p *program) error {
	for _, one := range f.all {
		s, err := one.Status(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s: %d events, %d rows written, %d events set aside\n", one.name, s.Events, s.Rows, s.DeadLetters)
	}
	return nil
}
