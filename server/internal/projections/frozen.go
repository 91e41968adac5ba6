package projections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/advice"
)

// following is of rows that serve and that this program does not fold, since they have another form: how far others
// have folded them.
type following struct {
	db *querydb.DB
	of projection.Projection

	mu          sync.Mutex
	frozen      bool
	why         string // nobody builds others; "" where this program does
	at          projection.Reached
	generations map[string]int      // of the rows that at is of
	was         *projection.Reached // of the rows that queries read until they read those; nil where they do
	counted     counted

	hurried chan struct{}
}

// counted is what the rows that serve lack, when that was counted last.
type counted struct {
	lacks *projection.Backlog // nil where it was not
	again time.Time           // it is counted no sooner; of countAgain, as wait is, and of nobody else beside it
	wait  time.Duration       // until then, where a count takes little time
}

// freeze says that this program does not fold the rows that serve, once it knows how far others have. Queries go on
// reading rows that have come as far as was, until they are said to read the others.
func (f *following) freeze(ctx context.Context, why string, was *projection.Reached) error {
	at, generations, err := projection.ServingReached(ctx, f.db, f.of)
	if err != nil { // what was known is of other rows
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !maps.Equal(generations, f.generations) {
		f.counted = counted{}
	}
	f.frozen, f.why, f.at, f.generations, f.was = true, why, at, generations, was
	return nil
}

// How often and for how long it is counted at most what rows lack that others fold: for a twentieth of the time, since
// each dead letter is read for that, and less often, down to once in pollEveryAtMost, as long as they lack the same.
const (
	countWithin = time.Minute
	countPauses = 20
)

// count counts what the rows that serve lack, by what is on record, and reports whether that is as much as before, with
// dead letters: without any, a count costs little. Where it fails, what was known of them stays.
func (f *following) count(ctx context.Context) (same bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	lacks, err := projection.ServingBacklog(ctx, f.db, f.of)
	if err != nil {
		return false, fmt.Errorf("count the dead letters of the rows of %s that serve: %w", f.of.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.counted.lacks
	f.counted.lacks = &lacks
	return was != nil && lacks.DeadLetters > 0 && was.DeadLetters == lacks.DeadLetters && was.Cascades == lacks.Cascades &&
		len(was.FailedCascades) == len(lacks.FailedCascades), nil
}

// countAgain counts again and again, apart from probes and from queries that wait for the rows, whose time it could
// take. It says once that it fails, until it succeeds.
func (f *following) countAgain(ctx context.Context, fails func(error)) {
	failing := false
	for backoff.Wait(ctx, time.Until(f.counted.again)) == nil {
		began := time.Now()
		same, err := f.count(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			fails(err)
		}
		c := &f.counted
		failing, c.wait = err != nil, nextWait(c.wait, same)
		c.again = time.Now().Add(max(c.wait, countPauses*time.Since(began)))
	}
}

// errOthersServe says that others have come to serve while queries were about to read those that did.
var errOthersServe = errors.New("the rows that serve are others by now")

// read says that queries read the rows that served when freeze was called. It is errOthersServe where others do by now.
func (f *following) read(ctx context.Context) error {
	if _, _, frozen := f.now(); !frozen {
		return nil
	}
	_, generations, err := projection.ServingReached(ctx, f.db, f.of)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !maps.Equal(generations, f.generations) {
		return errOthersServe
	}
	f.was = nil
	return nil
}

// explain says why this program neither folds the rows that serve nor builds others.
func (f *following) explain(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.why = why
}

// thaw says that this program folds the rows that serve.
func (f *following) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen, f.counted = false, counted{}
}

// The times between two looks at how far others have folded the rows that serve: where nobody waits for these, and at
// least.
const (
	followEvery = 500 * time.Millisecond
	followSoon  = 25 * time.Millisecond
)

// hurry has follow look soon, for somebody waits.
func (f *following) hurry() {
	select {
	case f.hurried <- struct{}{}:
	default:
	}
}

// follow looks again and again how far the rows that serve have come.
func (f *following) follow(ctx context.Context, look func(context.Context)) {
	usual := time.NewTicker(followEvery)
	defer usual.Stop()
	for {
		look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(followSoon):
		}
		select {
		case <-ctx.Done():
			return
		case <-f.hurried:
		case <-usual.C:
		}
	}
}

// look reads how far they have come, and calls othersServe where others do by now, which queries do not read yet. Then,
// and where it fails, what was known is a lower bound still.
func (f *following) look(ctx context.Context, othersServe func()) {
	at, generations, err := projection.ServingReached(ctx, f.db, f.of)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !maps.Equal(generations, f.generations) {
		othersServe()
		return
	}
	f.at = at
}

// now is how far the rows that serve have come; false where this program folds them.
func (f *following) now() (at projection.Reached, why string, frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.frozen {
		return at, "", false
	}
	at = f.at
	if f.was != nil {
		at = projection.Reached{Offsets: lower(at.Offsets, f.was.Offsets),
			DeadLetters: max(at.DeadLetters, f.was.DeadLetters), Cascades: max(at.Cascades, f.was.Cascades)}
	}
	return at, f.why, true
}

// lower is the offsets, and of each partition that others name the lower of both.
func lower(at, others eventlog.Offsets) eventlog.Offsets {
	all := eventlog.Offsets{}
	maps.Copy(all, at)
	for partition, offset := range others {
		all[partition] = min(all[partition], offset)
	}
	return all
}

// countLacks has a crew count what rows lack that others fold.
func countLacks(u *unit, one *Running, c *crew) {
	c.add(func(ctx context.Context) {
		one.frozen.countAgain(ctx, func(err error) {
			u.log(slog.LevelWarn, "what frozen rows lack is shown as it was", "error", advice.Add(err))
		})
	})
}

// backlog is what the rows that serve lack, as it was counted last, or at least, where it was not or they have got dead
// letters since. It is nil where this program folds them.
func (f *following) backlog() *projection.Backlog {
	at, _, frozen := f.now()
	if !frozen {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counted.lacks == nil {
		return &projection.Backlog{DeadLetters: at.DeadLetters, Cascades: at.Cascades}
	}
	lacks := *f.counted.lacks
	lacks.DeadLetters = max(lacks.DeadLetters, at.DeadLetters)
	return &lacks
}

// takesOver has this program fold the rows that serve. Where it has not folded those before, it first learns how far
// they are: it would be taken for one that has folded nothing.
func (r *Running) takesOver(ctx context.Context) error {
	if _, _, frozen := r.frozen.now(); frozen {
		if err := r.Follow(ctx); err != nil {
			return err
		}
	}
	r.frozen.thaw()
	return nil
}

// standing is how far the rows that serve have come where this program does not fold them, or no more.
func (r *Running) standing(ctx context.Context) (at eventlog.Offsets, why string, frozen bool, err error) {
	if reached, why, frozen := r.frozen.now(); frozen {
		return reached.Offsets, why, true, nil
	}
	if _, ended := r.state(); r.unit == nil || !otherRows(ended) {
		return nil, "", false, nil
	}
	// others have just been switched to, and the unit is about to find that out; queries read the former ones still
	at, err = projection.ServingOffsets(ctx, r.frozen.db, r.frozen.of)
	return lower(at, r.Runner.Reached().Offsets), "", true, err
}

// Status is that of the rows that serve, whoever folds them, and of those that are built beside them. On an error it
// has what is known.
func (r *Running) Status(ctx context.Context, heads *projection.Heads) (s projection.Status, err error) {
	var unknown error
	if r.answers() {
		s, unknown = followed{r}.status(ctx, heads)
	} else {
		soon, cancel := mostOf(ctx)
		s, unknown = heads.Status(soon, r.Runner)
		cancel()
	}
	at, why, frozen, unread := r.standing(ctx)
	if frozen && unread == nil {
		if lacks := r.frozen.backlog(); lacks != nil {
			s.DeadLetters, s.Cascades, s.FailedCascades = lacks.DeadLetters, lacks.Cascades, lacks.FailedCascades
		}
		s.State, s.Frozen, s.LastError, s.Stop, s.Rebuilding = projection.StateFrozen, true, why, nil, false
		s.Lag, s.Heartbeat = 0, time.Now()
		s.EventsPerSecond, s.RowsPerSecond, s.ETASeconds = 0, 0, -1
		addPartitions(&s, at)
		for i := range s.Partitions {
			p := &s.Partitions[i]
			p.Checkpoint, p.Lag = at[p.Partition], 0
			if p.Head > p.Checkpoint {
				p.Lag = p.Head - p.Checkpoint
			}
			s.Lag += p.Lag
		}
	}
	if o := outageOf(r); !o.since.IsZero() {
		s.State, s.LastError, s.ETASeconds = projection.StateStalled, o.why, -1
		if s.FailingSince.IsZero() || o.since.Before(s.FailingSince) {
			s.FailingSince = o.since
		}
	}
	s.Build, err = r.build.status(ctx, heads)
	tellMismatch(r, &s)
	return s, cmp.Or(unknown, unread, err)
}

// addPartitions adds the partitions that rows are of, also where the source does not name them.
func addPartitions(s *projection.Status, of eventlog.Offsets) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !slices.ContainsFunc(s.Partitions, func(p projection.PartitionStatus) bool { return p.Partition == name }) {
			s.Partitions = append(s.Partitions, projection.PartitionStatus{Partition: name})
		}
	}
}

// Reached is how far the rows that serve have come: see projection.Runner.Reached.
func (r *Running) Reached() projection.Reached {
	if at, _, is := r.frozen.now(); is {
		return at
	}
	return r.Runner.Reached()
}

// waitEvery is how often who waits looks who folds the rows, and has it looked how far others are.
const waitEvery = 50 * time.Millisecond

// ErrStandStill says that nobody folds the rows that serve: before somebody has decided about the event at which their
// projection has stopped, before others serve in their place, or before the log is again the one that they are of.
var ErrStandStill = errors.New("the rows that serve stand still")

// Await returns when the rows that serve reflect the events up to the offsets: see projection.Runner.Await. It is
// ErrStandStill where they do not, and nobody folds them.
func (r *Running) Await(ctx context.Context, offsets eventlog.Offsets) error {
	look := time.NewTicker(waitEvery)
	defer look.Stop()
	for {
		r.frozen.hurry()
		at, _, is := r.frozen.now()
		if r.standsStill(is) && r.Reached().Offsets.Behind(offsets) {
			return ErrStandStill
		}
		if !is {
			some, cancel := context.WithTimeout(ctx, waitEvery)
			err := r.Runner.Await(some, offsets)
			cancel()
			if err == nil || ctx.Err() != nil {
				return err
			}
			continue
		}
		if !at.Offsets.Behind(offsets) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
	}
}

// standsStill reports whether nobody folds the rows that serve, and nobody is about to. Where other programs may fold
// them, this one does not know.
func (r *Running) standsStill(frozen bool) bool {
	if r.unit != nil && r.unit.set.Mismatch() != nil {
		return true
	}
	if frozen {
		return !r.unit.set.keep.DB.MultiWriter() && !foldsServing(r.unit)
	}
	ended, err := r.state()
	return ended && err != nil && !otherRows(err)
}

// serveFormer has queries read rows that this program does not fold as they were written, those of some models from
// tables that these had before. Of a model that is new there are none yet.
func serveFormer(ctx context.Context, db *querydb.DB, models []*querydb.Model, found *survey) error {
	at, err := querydb.RecordedAll(ctx, db, models)
	if err != nil {
		return err
	}
	layouts, err := querydb.Layouts(ctx, db, models, at)
	if err != nil {
		return err
	}
	elsewhere, others := found.elsewhere()
	all := make([]querydb.Served, len(models))
	for i, m := range models {
		if !at[i].Begun || layouts[i] == nil || slices.Contains(others, m) {
			layouts[i] = querydb.NoRows()
		}
		all[i] = querydb.Served{Model: m, Generation: at[i].Number, Layout: layouts[i]}
		for _, s := range elsewhere {
			if s.Model == m {
				all[i] = s
			}
		}
	}
	return db.Generations().ServeAll(all)
}
