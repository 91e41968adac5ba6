// Package delivery brings the events of a source to a projection, and what they make into the store.
//
// An event goes through it in one direction: a feed hands over windows of events that its reader has read and
// projected (feed.go, reader.go, window.go); the Runner makes each a batch (runner.go); the batcher brings the batch
// into commits (batcher.go); the committer has an evaluator fold the events, each into rows or a dead letter
// (evaluator.go, failedevents.go), and writes what that gives, with the checkpoint (committer.go, outcome.go). What
// fails and may succeed later is tried again (retrier.go); at an event that decides nothing the projection stops
// (stop.go). Dead letters are listed, retried and skipped in deadletters.go; those that wait for a row of another
// model are retried by themselves (missingrow.go), and what was decided about them in other rows is done in
// settlement.go: all three have release.go fold them. Between windows, copies of rows follow the rows that they are of
// (cascade.go).
package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/pace"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/projection/rates"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Runner folds the events of a source into the rows of one projection: see projection.Runner.
type Runner struct {
	Monitor *Monitor

	projection Projection
	src        eventlog.Source
	db         *querydb.DB
	cfg        Config
	log        *slog.Logger
	shared     bool // others may fold the same rows
	calls      *usercode.Supervisor
	retrier    *retrier
	budget     *pace.Member
	turns      *pace.Turns // of who folds; guarded by mu

	mu      sync.Mutex // a fold is going on; guards what follows
	stop    *StopError // of the last Run
	state   *checkpoint.State
	batcher *batcher
	plan    *deadletter.Plan // of what was decided
	planned basis            // of the plan
	// retriesLeft says that dead letters are to be retried by themselves, and the source or the store did not answer.
	retriesLeft bool
	endUnknown  bool // the source did not say last time whether it has more
	retried     bool // the cascades that had failed before the first Run have been begun again
}

// New makes the Runner of a projection. Nothing is read or written before Run.
func New(p Projection, src eventlog.Source, db *querydb.DB, cfg Config) *Runner {
	r := &Runner{
		projection: p, src: src, db: db, cfg: cfg, log: cfg.Logger.With("projection", p.Name),
		Monitor: newMonitor(cfg.Now), shared: db.MultiWriter(),
		calls:  &usercode.Supervisor{Limit: cfg.EventTimeout, Attempts: cfg.Attempts},
		budget: cfg.Budget.Join(db.MultiWriter()),
	}
	r.turns = r.budget.NewTurns()
	v := &evaluator{
		projection: &r.projection, db: db, cfg: &r.cfg, calls: r.calls, turns: r.turns, shared: r.shared,
		fold: p.newFold(db, &cfg),
	}
	c := &committer{
		projection: &r.projection, src: src, evaluator: v, monitor: r.Monitor, log: r.log, shared: r.shared,
		links: noLimit(),
	}
	r.state = checkpoint.NewState(p.record(), src, db, checkpoint.Config{
		Now: cfg.Now, CommitTimeout: cfg.CommitTimeout, Logger: r.log, Reread: c.reread,
		KeepServing: cfg.KeepServing, CopyRows: min(cfg.WindowEvents, mostCopied),
	}, r.Monitor)
	v.state, c.state = r.state, r.state
	r.retrier = newRetrier(&r.cfg, r.log, r.Monitor)
	r.retrier.onPanic = func() (inWrite bool) {
		inWrite, c.inWrite = c.inWrite, false
		r.state.Invalidate()
		return inWrite
	}
	r.batcher = &batcher{
		cfg: &r.cfg, state: r.state, retrier: r.retrier, committer: c, shared: r.shared, limit: noLimit(),
	}
	r.batcher.retryWoken = waker{releaser{r}}.retryWokenInRun
	return r
}

// Abandoned counts the calls of user code that were given up and still have not returned.
func (r *Runner) Abandoned() int64 { return r.calls.Abandoned() }

// Run folds events as they come: see projection.Runner.Run.
func (r *Runner) Run(ctx context.Context) (err error) {
	if r.cfg.Budget != nil {
		ctx = driver.InBackground(ctx)
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	err = errVanished
	defer func() { r.end(err) }()
	defer usercode.Recovered(&err)
	for {
		err := mismatched(r, r.run(ctx))
		if err != checkpoint.ErrRewound {
			return err
		}
		r.Monitor.rewound()
	}
}

// errVanished is of a goroutine that ends without a word.
var errVanished = errors.New("the goroutine of the projection has ended without an error (runtime.Goexit): " +
	"restart the server")

// run reads and folds from where the checkpoint stands.
func (r *Runner) run(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	windows := make(chan *window)
	readErr := errVanished
	go func() {
		defer close(windows)
		defer usercode.Recovered(&readErr)
		f := &feed{reader: r.newReader(), src: r.src, cfg: &r.cfg, monitor: r.Monitor, retrier: r.retrier, windows: windows,
			shared: r.shared, failing: map[string]outage{}}
		readErr = f.all(reading)
	}()
	var foldErr error
	for {
		w, open := r.next(windows, foldErr != nil)
		switch {
		case !open && foldErr != nil:
			return foldErr
		case !open && readErr == errEnded:
			if err := (waker{releaser{r}}).retryLeft(ctx); err != nil {
				return err
			}
			return r.refreshAll(ctx)
		case !open:
			return readErr
		case foldErr != nil:
			continue // drain what was read ahead
		case w != nil:
			r.budget.Works(!w.isEmpty())
			if foldErr = r.budget.Wait(ctx); foldErr == nil {
				foldErr = r.fold(ctx, w)
			}
		default:
			r.budget.Works(true)
		}
		for again := true; again && foldErr == nil; again = isCrowded(r) {
			if foldErr = r.budget.Wait(ctx); foldErr == nil {
				foldErr = r.refreshSome(ctx)
			}
		}
		if foldErr != nil {
			stop()
		}
	}
}

// next waits for the next window, and not at all while copies are to follow their rows: then it may be nil.
func (r *Runner) next(windows <-chan *window, failed bool) (w *window, open bool) {
	if failed || !r.refreshes() {
		w, open = <-windows
		return w, open
	}
	select {
	case w, open = <-windows:
		return w, open
	default:
		return nil, true
	}
}

func (r *Runner) begin(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Running {
		return fmt.Errorf("projection %s runs already", r.projection.Name)
	}
	r.Monitor.begin()
	r.state.Invalidate()
	r.stop, r.calls.Ending = nil, ctx.Done()
	err := r.retrier.do(ctx, Opening, r.state.Open)
	if err == nil {
		err = copyRows(ctx, r)
	}
	if err != nil {
		r.budget.Works(false) // it has copied, maybe
		r.Monitor.end(r.cfg.explained(err))
		return err
	}
	r.state.DropFormer(ctx)
	if !r.retried { // a server has it begin again whenever generations change
		r.state.Tasks.RetryFailed()
		r.retried = true
	}
	r.Monitor.refreshing(r.state.Tasks, 0)
	r.state.Running = true
	return nil
}

// mostCopied is how many rows one commit copies at most.
const mostCopied = 2000

// copyRows copies the rows that serve, where those that are built are to be made of them.
func copyRows(ctx context.Context, r *Runner) error {
	c := checkpoint.Copier{State: r.state}
	if !c.Copying() {
		return nil
	}
	first, copied := r.cfg.Now(), c.Copied()
	for c.Copying() {
		r.budget.Works(true)
		if err := r.turns.Begin(ctx); err != nil {
			return err
		}
		err := r.retrier.do(ctx, Copying, c.CopyRows)
		r.turns.End()
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if rows := r.Monitor.Snapshot().Copied; r.state.IsComplete() && rows > copied {
		saveRates(ctx, r, rates.Rates{Copy: rates.Since(first, r.cfg.Now(), rows-copied)})
	}
	return nil
}

func (r *Runner) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Running, r.calls.Ending = false, nil
	r.budget.Works(false)
	r.stop = StopOf(err)
	r.Monitor.end(r.cfg.explained(err))
}

// newReader makes a reader that goes on where the checkpoint stands.
func (r *Runner) newReader() *reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	return readerHere(r)
}

// readerHere is newReader while nobody folds.
func readerHere(r *Runner) *reader {
	rd := emptyReader(r)
	rd.generation, rd.decided, rd.plan = r.state.Done().Generation, r.state.Decided, releaser{r}.newPlan()
	for p, c := range r.state.Done().Partitions {
		rd.done[p], rd.watermarks[p] = c.Cursor, c.ExpiryWatermark()
	}
	return rd
}

// emptyReader makes a reader that knows no position.
func emptyReader(r *Runner) *reader {
	return &reader{
		projection: &r.projection, src: r.src, cfg: &r.cfg, calls: r.calls, log: r.log, turns: r.budget.NewTurns(),
		eventSize: 1024,
		done:      map[string]position.Cursor{}, watermarks: map[string]time.Time{},
	}
}

// fold folds a window and commits it. A window that has begun is committed even when the context ends; only the pauses
// between attempts are cut short.
func (r *Runner) fold(ctx context.Context, w *window) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.turns.Begin(ctx); err != nil {
		return err
	}
	defer r.turns.End()
	folding := foldEvents
	if w.isEmpty() {
		folding = lookAround
	}
	if err := folding(ctx, r, w); err != nil {
		return err
	}
	return r.complete(ctx, w)
}

// lookAround is what a fold of no events does: other processes may have begun the rows again, changed which copies are
// to follow, decided about dead letters, or written rows that dead letters wait for.
func lookAround(ctx context.Context, r *Runner, w *window) error {
	err := r.retrier.do(ctx, Opening, func(ctx context.Context) error { return r.state.LookAround(ctx, w.generation) })
	if err != nil {
		return err
	}
	if w.decided != r.state.Decided {
		return checkpoint.ErrRewound
	}
	if r.shared && r.batcher.committer.evaluator.fold.Tracked().Any() {
		if err := checkpoint.ReadTasks(ctx, r.state); err != nil {
			return err
		}
		r.Monitor.refreshing(r.state.Tasks, 0)
	}
	if err := (settler{releaser{r}}).settleInRun(ctx); err != nil {
		return err
	}
	r.state.Letters.Unchecked = r.state.Letters.Unchecked || r.shared && r.state.Letters.Waiting()
	return waker{releaser{r}}.retryWokenInRun(ctx)
}

// foldEvents folds the events of a window, after what was decided before them.
func foldEvents(ctx context.Context, r *Runner, w *window) error {
	err := r.retrier.do(ctx, Opening, func(ctx context.Context) error {
		if err := checkpoint.Listen(ctx, r.state); err != nil {
			return err
		}
		return r.state.Open(ctx)
	})
	if err != nil {
		return err
	}
	if err := (settler{releaser{r}}).settleInRun(ctx); err != nil {
		return err
	}
	if err := (waker{releaser{r}}).retryWokenInRun(ctx); err != nil {
		return err
	}
	if err := r.batcher.fold(ctx, w.batch()); err != nil {
		return err
	}
	r.Monitor.folded(w.scanned)
	return nil
}

// complete has the rows served, once they are complete, and the copies that they hold are up to date.
func (r *Runner) complete(ctx context.Context, w *window) error {
	if r.state.IsComplete() || r.state.Tasks.Len() > 0 {
		return nil
	}
	return completeRows(ctx, r, w.generation, w.isEmpty() && !w.unread && hasEnded(ctx, r))
}

// endTimeout is how long a source may take to say where it ends: decisions about dead letters wait meanwhile.
const endTimeout = 5 * time.Second

// hasEnded reports whether rows that have nothing to fold have come to their goal, or to where the log ends before it.
// That the source does not say is logged once, and again after it has said so: it is asked every few seconds.
func hasEnded(ctx context.Context, r *Runner) (ended bool) {
	asking, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	var err error
	r.turns.Aside(func() { ended, err = checkpoint.EndsBeforeGoal(asking, r.state) })
	if err != nil && ctx.Err() == nil && !r.endUnknown {
		r.log.WarnContext(ctx, "projection: the rows are not complete while the source does not say whether it has more",
			"error", err)
	}
	r.endUnknown = err != nil
	return ended
}

// completeRows notes that the rows of a generation are complete, if they are, and how fast they were folded. Ended is
// as in checkpoint.State.Complete.
func completeRows(ctx context.Context, r *Runner, generation int, ended bool) error {
	err := r.retrier.do(ctx, Folding, func(ctx context.Context) error { return r.state.Complete(ctx, generation, ended) })
	if err == nil && r.state.IsComplete() {
		saveRates(ctx, r, rates.Rates{Fold: foldRate(r.Monitor)})
	}
	return err
}

// LoadCheckpoint reads what is on record: see projection.Runner.LoadCheckpoint. A survey, nil where there was none,
// spares it what has not changed since: see projection.Runner.LoadFound.
func (r *Runner) LoadCheckpoint(ctx context.Context, found *checkpoint.Generations) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found != nil {
		return r.state.PrepareFound(ctx, found)
	}
	return r.state.Prepare(ctx)
}

// Rebuild rebuilds from the whole log: see projection.Runner.Rebuild.
func (r *Runner) Rebuild(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.retrier.do(ctx, Opening, r.state.Rebuild)
}
