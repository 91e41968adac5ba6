package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// folds are the runners of all projections.
type folds struct {
	all  []*fold
	goal eventlog.Positions // the ends of the source at the start
	log  *slog.Logger
	done sync.WaitGroup
}

// fold is one projection and its runner.
type fold struct {
	*projection.Runner
	name string

	mu     sync.Mutex
	ended  bool  // Run has returned
	err    error // what it returned
	caught bool  // the goal has been reached once
}

func newFolds(projections []projection.Projection, src eventlog.Source, db *querydb.DB, goal eventlog.Positions, cfg projection.RunnerConfig) (*folds, error) {
	f := &folds{goal: goal, log: cfg.Logger}
	for _, p := range projections {
		r, err := projection.NewRunner(p, src, db, cfg)
		if err != nil {
			return nil, err
		}
		f.all = append(f.all, &fold{Runner: r, name: p.Name})
	}
	return f, nil
}

// start runs every runner until its end or that of the context.
func (f *folds) start(ctx context.Context) {
	for _, one := range f.all {
		f.done.Go(func() {
			err := one.Run(ctx)
			one.stopped(err)
			if err != nil && ctx.Err() == nil {
				f.log.Error("projection stopped; its rows do not change any more", "projection", one.name, "error", err)
			}
		})
	}
}

// wait returns when all runners have stopped, with what they died of, if it is not the end of their context.
func (f *folds) wait() error {
	f.done.Wait()
	var all []error
	for _, one := range f.all {
		if _, err := one.state(); err != nil && !errors.Is(err, context.Canceled) {
			all = append(all, fmt.Errorf("projection %s: %w", one.name, err))
		}
	}
	return errors.Join(all...)
}

// find returns the projection of that name, nil where there is none.
func (f *folds) find(name string) *fold {
	for _, one := range f.all {
		if one.name == name {
			return one
		}
	}
	return nil
}

func (f *fold) stopped(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, err
}

func (f *fold) state() (ended bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended, f.err
}

// silence is how long a runner may give no sign of life.
const silence = time.Minute

// ready returns why the rows of the projection must not be trusted to be up to date, nil where they may: it has been at
// the goal once, and goes on or has come to the end of its source.
func (f *fold) ready(ctx context.Context, goal eventlog.Positions) (projection.Status, error) {
	s, err := f.healthy(ctx)
	if err == nil && !f.reached(&s, goal) {
		err = fmt.Errorf("projection %s is catching up, %d events behind", f.name, s.Lag)
	}
	return s, err
}

// healthy returns why the projection does not get on, nil where it does or has come to the end of its source.
func (f *fold) healthy(ctx context.Context) (projection.Status, error) {
	s, err := f.Status(ctx)
	if err != nil {
		return s, err
	}
	switch ended, err := f.state(); {
	case err != nil:
		return s, fmt.Errorf("projection %s stopped: %w", f.name, err)
	case ended:
		return s, nil
	}
	return s, s.Healthy(time.Now(), silence)
}

// reached reports whether the projection has been at the goal.
func (f *fold) reached(s *projection.Status, goal eventlog.Positions) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.caught {
		return true
	}
	at := eventlog.Positions{}
	for _, p := range s.Partitions {
		at[p.Partition] = p.Checkpoint
	}
	for partition, end := range goal {
		if at[partition] < end {
			return false
		}
	}
	f.caught = true
	return true
}

// statuses reports on all projections, and why not all are ready.
func (f *folds) statuses(ctx context.Context) ([]projection.Status, error) {
	list := make([]projection.Status, len(f.all))
	var why []error
	for i, one := range f.all {
		s, err := one.ready(ctx, f.goal)
		list[i] = s
		why = append(why, err)
	}
	return list, errors.Join(why...)
}
