package projection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// Runner folds the events of a source into the rows of one projection. Run and the methods that mend set-aside events take
// turns. On a store with one writer it is the only one of those rows; on a Shared store other processes may run the same
// projection at the same time.
type Runner struct {
	projection Projection
	src        eventlog.Source
	db         *querydb.DB
	cfg        RunnerConfig
	log        *slog.Logger
	progress   *progress

	shared bool // others may fold the same rows: see cut.go
	calls  *usercode.Supervisor

	mu         sync.Mutex // a fold is going on; guards what follows
	running    bool
	stop       *StopError // of the last Run
	completion completion // what is on record, as r.done is
	// known: done, asides and replays are what is on record, unless another process has gone on since seen. After a
	// commit whose answer was lost they are not.
	known      bool
	seen       time.Time
	identified time.Time // when the table of the rows was looked at last
	done       build
	asides     asides
	replays    map[ref]replay
	fold       *fold.Fold
	reach      int // items that a commit tries at most
	inWrite    bool
	writes     []querydb.Write
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
	return &Runner{
		projection: p,
		src:        src,
		db:         db,
		cfg:        cfg,
		log:        cfg.Logger.With("projection", p.Name),
		progress:   newProgress(cfg.Now),
		shared:     db.MultiWriter(),
		calls:      &usercode.Supervisor{Limit: cfg.EventTimeout, Attempts: cfg.Attempts},
		fold:       p.newFold(db, &cfg),
		reach:      math.MaxInt,
	}, nil
}

// Run folds events as they come. It returns nil at the end of a source that has one, the context's error when that ends
// (what is in hand is committed first), a StopError where it goes no further than an event, and any other error where no
// attempt can mend it. Run may be called again.
func (r *Runner) Run(ctx context.Context) (err error) {
	if err := r.begin(ctx); err != nil {
		return err
	}
	err = errVanished
	defer func() { r.end(err) }()
	defer usercode.Recovered(&err)
	for {
		err := r.run(ctx)
		if err != errRewound {
			return err
		}
		r.progress.rewound()
	}
}

// errVanished is of a goroutine that ends without a word.
var errVanished = errors.New("the goroutine of the projection has ended without an error (runtime.Goexit): restart the server")

// run reads and folds from where the checkpoint stands.
func (r *Runner) run(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	windows := make(chan *window)
	readErr := errVanished
	go func() {
		defer close(windows)
		defer usercode.Recovered(&readErr)
		readErr = r.readAll(reading, r.newReader(), windows)
	}()
	var foldErr error
	for w := range windows {
		if foldErr != nil {
			continue // drain what was read ahead
		}
		if foldErr = r.foldWindow(ctx, w); foldErr != nil {
			stop()
		}
	}
	if foldErr != nil {
		return foldErr
	}
	if readErr == errEnded {
		return nil
	}
	return readErr
}

func (r *Runner) begin(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		return fmt.Errorf("projection %s runs already", r.projection.Name)
	}
	r.progress.begin()
	r.known, r.stop, r.calls.Ending = false, nil, ctx.Done()
	err := r.persist(ctx, opening, r.open)
	if err != nil {
		r.progress.end(err)
		return err
	}
	r.dropFormer(ctx)
	r.running = true
	return nil
}

func (r *Runner) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running, r.calls.Ending = false, nil
	r.stop = stopsAt(err)
	r.progress.end(err)
}

// newReader makes a reader that goes on where the checkpoint stands.
func (r *Runner) newReader() *reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	rd := &reader{
		projection: &r.projection, src: r.src, cfg: &r.cfg, calls: r.calls, eventSize: 1024, generation: r.done.Generation,
		done: map[string]cursor{}, watermarks: map[string]time.Time{}, plan: planReplays(r.replays),
	}
	for p, c := range r.done.Partitions {
		rd.done[p], rd.watermarks[p] = c.cursor, c.watermark()
	}
	return rd
}

// readAll hands windows over until the source or the context ends.
func (r *Runner) readAll(ctx context.Context, rd *reader, windows chan<- *window) error {
	for failures := 0; ; {
		n, err := r.readRound(ctx, rd, windows)
		if err == nil && n == 0 {
			if err = r.hand(ctx, &window{generation: rd.generation}, windows); err == nil {
				err = r.await(ctx, rd)
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == errEnded || errors.Is(err, eventlog.ErrClosed) || stopsAt(err) != nil || mismatched(err):
			return err
		case err == nil:
			failures = 0
			continue
		}
		r.failed(ctx, reading, err)
		if err := pause(ctx, r.cfg.backoff(failures)); err != nil {
			return err
		}
		failures++
	}
}

// readRound reads one window of each partition.
func (r *Runner) readRound(ctx context.Context, rd *reader, windows chan<- *window) (read int, err error) {
	partitions, err := r.src.Partitions(ctx)
	if err != nil {
		return 0, fmt.Errorf("list the partitions: %w", err)
	}
	r.progress.round(partitions)
	for _, p := range partitions {
		w, err := rd.read(ctx, p)
		if w != nil {
			read++
			if err := r.hand(ctx, w, windows); err != nil {
				return read, err
			}
			r.progress.handed()
		}
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// hand gives a window to the fold.
func (r *Runner) hand(ctx context.Context, w *window, windows chan<- *window) error {
	select {
	case windows <- w:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errEnded is a source's word that no event will follow.
var errEnded = errors.New("the source has ended")

// await waits for more events, at most until the next sign of life is due.
func (r *Runner) await(ctx context.Context, rd *reader) error {
	r.progress.idle()
	positions := make(eventlog.Positions, len(rd.done))
	for p, c := range rd.done {
		positions[p] = c.Offset
	}
	waiting, cancel := context.WithTimeout(ctx, r.cfg.Heartbeat)
	defer cancel()
	err := r.src.Wait(waiting, positions)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return err
}

// foldWindow folds a window and commits it, in parts where it cannot be committed whole. A window that has begun is
// committed even when the context ends; only the pauses between attempts are cut short.
func (r *Runner) foldWindow(ctx context.Context, w *window) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.scanned == 0 && len(w.items) == 0 {
		err := r.persist(ctx, opening, func(ctx context.Context) error { return r.lookAround(ctx, w.generation) })
		if err != nil {
			return err
		}
		return r.complete(ctx, w, true)
	}
	err := r.foldAll(ctx, stretch{
		partition: w.partition, items: w.items, from: w.from, end: w.end, last: w.last, watermark: w.watermark, generation: w.generation,
	})
	if err != nil {
		return err
	}
	r.progress.folded(w.scanned)
	return r.complete(ctx, w, false)
}
