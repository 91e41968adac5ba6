package projection

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/delivery"
	"github.com/foldql/foldql/projection/sourcehash"
	"github.com/foldql/foldql/querydb"
)

// Runner folds the events of a source into the rows of one projection. [Runner.Run] and the methods that retry and
// skip dead letters take turns. On a store with one writer it is the only one of those rows; on a store that several
// processes write ([querydb.DB.MultiWriter]), others may run the same projection at the same time.
type Runner struct {
	projection Projection
	src        eventlog.Source
	cfg        RunnerConfig
	engine     *delivery.Runner
	follower   *delivery.Follower
	progress   progress
}

// NewRunner makes the Runner of a projection. Nothing is read or written before Run.
func NewRunner(p Projection, src eventlog.Source, db *querydb.DB, cfg RunnerConfig) (*Runner, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if src == nil || db == nil {
		return nil, fmt.Errorf("runner of %s: it needs a source and a DB", p.Name)
	}
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &Runner{projection: p, src: src, cfg: cfg, progress: progress{now: cfg.Now}}
	r.engine = delivery.New(delivery.Projection{
		Name: p.Name, Models: p.folds(), Code: codeOf(&r.projection), CodeHash: sourcehash.Of(p.code()...),
	}, src, db, delivery.Config(cfg))
	r.follower = delivery.NewFollower(r.engine)
	return r, nil
}

// Run folds events as they come. It returns nil at the end of a source that has one, the context's error when that ends
// (what is in progress is committed first), a [StopError] if it has stopped at an event, and any other error if no
// other attempt can succeed. Run may be called again.
func (r *Runner) Run(ctx context.Context) error { return r.engine.Run(ctx) }

// LoadCheckpoint reads the checkpoint and marks incomplete rows, so that they are not served: see [querydb.Rebuilds].
// Call it before anybody reads the rows; Run does the same before it folds.
func (r *Runner) LoadCheckpoint(ctx context.Context) error { return r.engine.LoadCheckpoint(ctx, nil) }

// LoadFound is LoadCheckpoint for who has just called [LookUp]: it reads again what may have changed since then, and
// the rest only where that has.
func (r *Runner) LoadFound(ctx context.Context, found *Generations) error {
	return r.engine.LoadCheckpoint(ctx, found)
}

// Follow reads how far other processes have folded the rows, where this one never does, and marks those that are
// incomplete as LoadCheckpoint does. Reached, Await and Status tell what it has found, so call it again and again.
func (r *Runner) Follow(ctx context.Context) error { return r.follower.Look(ctx) }

// FollowAgain is Follow for the rows that it has found before, and reports whether they still serve. Where those of
// another generation do, queries go on reading the former, and Reached tells of these, until Follow is called.
func (r *Runner) FollowAgain(ctx context.Context) (same bool, err error) {
	return r.follower.LookAgain(ctx)
}

// LoadReached is LoadCheckpoint for a Runner that is not to run, as its source is not the one that the rows were folded
// from: Reached and Status tell how far the rows are, by what is on record.
func (r *Runner) LoadReached(ctx context.Context) error { return r.follower.LookOnce(ctx) }

// Rebuild drops the rows and rebuilds from the whole log, with what was decided about dead letters. It returns when
// that is on record; the fold is Run's. Projections that write to the same table begin again too. Where the source is
// not the one that the rows were folded from, it is a [MismatchError], and nothing changes.
func (r *Runner) Rebuild(ctx context.Context) error {
	if err := r.engine.Rebuild(ctx); err != nil {
		return fmt.Errorf("rebuild %s: %w", r.projection.Name, err)
	}
	return nil
}

// Progress is how far the rows are on their way to be complete: it never waits.
func (r *Runner) Progress() querydb.Progress { return r.engine.Monitor.Rebuild() }

// ProgressTo is how far rows that are built beside others are on their way to where the partitions end: events come
// while they are built, and after they are complete. It never waits.
func ProgressTo(r *Runner, ends map[string]uint64) querydb.Progress {
	return delivery.ProgressTo(r.engine.Monitor, ends)
}

// ReadDecisions reads what was decided about dead letters, and does that: also what was decided in rows of another
// generation, which hold for these. A Runner does so by itself where it finds that others have gone on; on a store with
// one writer it must be told.
func (r *Runner) ReadDecisions(ctx context.Context) error { return r.engine.ReadDecisions(ctx) }

// CanResume reports whether a Runner that was stopped can go on: the event has been skipped, another process that folds
// the same rows has come past it, or there are no longer too many dead letters.
func (r *Runner) CanResume(ctx context.Context, stop *StopError) (bool, error) {
	return r.engine.CanResume(ctx, stop)
}

// StopError says at which event a [Runner] has stopped, and why. The event is neither folded nor made a dead letter,
// and all events before it are done. Nothing of it has taken effect, unless Reason says that some of its rows may be
// written; then it cannot be skipped.
//
// The next [Runner.Run] tries the event again; [Runner.Retry] leaves that to it, and does nothing. To skip the event,
// pass the field Event to [Runner.Skip]: the event's partition, "@", its offset. ID, Source, Type and Subject are the
// event's. Reason says what is the matter, and Fix what to do about it. TooManyDeadLetters reports whether the Runner
// has stopped because of all recent dead letters, and not because of this event alone: once enough of them have been
// retried or skipped, it can go on.
type StopError = delivery.StopError
