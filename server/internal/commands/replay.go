package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/sources"
)

// Replay folds events into a store without serving, and leaves what serves as it is.
type Replay struct {
	config.Data
	config.Fold
	MaxEvent int `help:"Bytes of one event." default:"262144" group:"Data"`
}

// Run folds to the end of the source as it is at the start, from where each projection has come to.
func (c *Replay) Run(ctx context.Context, p *Program) (err error) {
	store, from, err := c.Data.Parse()
	if err != nil {
		return err
	}
	if c.MaxEvent < 1 {
		return config.Wrong("max-event", "give 1 at least")
	}
	if err := projections.Check(p.Models, p.Projections); err != nil {
		return err
	}
	runner, err := c.Fold.Runner(p.Log)
	if err != nil {
		return err
	}
	runner.EndWhenFull = true
	defer c.Data.TuneMemory(p.Env)()
	o, err := open(ctx, p, &c.Data, store, from, c.MaxEvent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	known := from.Path != "-" // the end of standard input is known when it has come
	if !known {
		if err := o.Source.Wait(ctx, eventlog.Offsets{}); err != nil && !sources.Ended(err) {
			return err
		}
	}
	if copies := o.Source.Mirror; copies != nil { // else what it has copied so far would be taken for all
		if err := copies.Writable(); err != nil {
			return withoutSpace(err)
		}
	}
	events := o.Source.Source
	if err := logcheck.Check(ctx, o.DB, o.Source, p.Projections); err != nil {
		return err
	}
	var ends eventlog.Offsets
	if known {
		if ends, err = sources.Heads(ctx, events); err != nil {
			return err
		}
		events = &sources.UpTo{Source: events, Ends: ends}
	}
	f, err := projections.NewReplay(ctx, p.Projections, events, o.DB, ends, runner)
	if err != nil {
		return err
	}
	if err := f.Prepare(ctx); err != nil {
		return err
	}
	return replay(ctx, p, f, ends)
}

// withoutSpace says of a disk that is full what to do about it.
func withoutSpace(err error) error {
	if !errors.Is(err, driver.ErrFull) && !errors.Is(err, eventlog.ErrFull) {
		return err
	}
	return fmt.Errorf("the disk is full: free space, and run 'server replay' again, which folds the rest: %w", err)
}

// replay runs the projections to their end and shows how they get on.
func replay(ctx context.Context, p *Program, f *projections.Replay, ends eventlog.Offsets) error {
	f.Start(ctx)
	done := make(chan error, 1)
	go func() { done <- f.Wait() }()
	var m progress.Meter
	for _, end := range ends {
		m.Total += end
	}
	m.From(f.Average(ctx))
	m.Start(p.Stderr, "folded")
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			m.At(f.Average(context.WithoutCancel(ctx)))
			m.Stop()
			return errors.Join(withoutSpace(err), ctx.Err(), f.Summary(context.WithoutCancel(ctx), p.Stdout))
		case <-look.C:
			m.At(f.Average(ctx))
		}
	}
}
