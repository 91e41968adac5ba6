package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// folds are the runners of all projections.
type folds struct {
	all         []*fold
	projections []projection.Projection
	goal        eventlog.Positions // the ends of the source at the start
	log         *slog.Logger
	done        sync.WaitGroup
	// readyLag is how many events a projection may be behind and be ready.
	readyLag uint64
	// other is what says that the log is not the one that the rows are folded from: see mismatch.go.
	other atomic.Pointer[projection.MismatchError]
	halt  context.CancelFunc
	// resumes: a projection that has stopped at an event goes on when somebody has decided about that.
	resumes bool
}

func newFolds(projections []projection.Projection, src eventlog.Source, db *querydb.DB, goal eventlog.Positions, cfg projection.RunnerConfig) (*folds, error) {
	f := &folds{goal: goal, log: cfg.Logger, projections: projections}
	for _, p := range projections {
		r, err := projection.NewRunner(p, src, db, cfg)
		if err != nil {
			return nil, err
		}
		f.all = append(f.all, &fold{Runner: r, name: p.Name, decided: make(chan struct{}, 1)})
	}
	return f, nil
}

// prepare has every runner look at its rows before they are read.
func (f *folds) prepare(ctx context.Context) error {
	for _, one := range f.all {
		if err := one.Prepare(ctx); err != nil {
			return fmt.Errorf("prepare projection %s: %w", one.name, err)
		}
	}
	return nil
}

// start runs every runner until its end or that of the context.
func (f *folds) start(ctx context.Context) {
	ctx, f.halt = context.WithCancel(ctx)
	for _, one := range f.all {
		f.done.Go(func() {
			for f.run(ctx, one) {
				f.log.Info("projection goes on", "projection", one.name)
			}
		})
	}
}

// run runs a projection once, and reports whether it is to run again: it has stopped at an event, and somebody has
// decided about that.
func (f *folds) run(ctx context.Context, one *fold) bool {
	err := one.whole(ctx)
	one.ends(true, err)
	if err == nil || ctx.Err() != nil {
		return false
	}
	f.mismatches(err)
	f.log.Error("projection stopped; its rows do not change any more", "projection", one.name, "error", err)
	var stop *projection.StopError
	if !f.resumes || !errors.As(err, &stop) || !one.await(ctx, stop) {
		return false
	}
	one.ends(false, nil)
	return true
}

// waitUntil is wait that gives up at a time.
func (f *folds) waitUntil(at time.Time) (error, bool) {
	ended := make(chan error, 1)
	go func() { ended <- f.wait() }()
	select {
	case err := <-ended:
		return err, true
	case <-time.After(time.Until(at)):
		return nil, false
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

// statuses reports on all projections, and why not all are ready.
func (f *folds) statuses(ctx context.Context) ([]projection.Status, error) {
	list := make([]projection.Status, len(f.all))
	var why []error
	for i, one := range f.all {
		s, err := one.ready(ctx, f.goal, f.readyLag)
		list[i] = s
		why = append(why, err)
	}
	if m := f.mismatch(); m != nil {
		return list, errMismatch(m)
	}
	return list, errors.Join(why...)
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
func (f *folds) summary(ctx context.Context, to io.Writer) error {
	for _, one := range f.all {
		s, err := one.Status(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(to, "%s: %d events, %d rows written, %d events set aside\n", one.name, s.Events, s.Rows, s.DeadLetters)
	}
	return nil
}
