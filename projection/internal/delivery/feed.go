package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection/internal/position"
)

// feed hands windows over to whoever folds them.
type feed struct {
	reader  *reader
	src     eventlog.Source
	cfg     *Config
	monitor *Monitor
	retrier *retrier
	windows chan<- *window
	shared  bool              // others may fold the same rows
	failing map[string]outage // by partition
	looked  time.Time         // when nothing was handed over, and not everything could be read
}

// outage is of a partition that could not be read. It is left alone for some time, while the others are read.
type outage struct {
	failures int
	until    time.Time
}

// errEnded is a source's word that no event will follow.
var errEnded = errors.New("the source has ended")

// errUnlisted is of a source that does not say which partitions there are, so that none is read.
var errUnlisted = errors.New("list the partitions")

// all hands windows over until the source or the context ends. That nothing is left to read is said only where every
// partition can be read: rows would be taken for complete that are not. An empty window is handed over now and then all
// the same: it has the fold look at what others do.
func (f *feed) all(ctx context.Context) error {
	for failures := 0; ; {
		n, err := f.round(ctx)
		switch {
		case n > 0 || ctx.Err() != nil || final(err):
		case err == nil && len(f.failing) == 0:
			if err = f.hand(ctx, f.reader.nothing()); err == nil {
				err = f.await(ctx)
			}
		case time.Since(f.looked) >= f.cfg.Heartbeat:
			f.looked = time.Now()
			w := f.reader.nothing()
			w.unread = true
			err = cmp.Or(f.hand(ctx, w), err)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case final(err):
			return err
		case f.retrier.isFull(err):
			return err
		case err != nil:
			f.retrier.failed(ctx, Reading, err)
		}
		if n > 0 || err == nil && len(f.failing) == 0 {
			failures = 0
			continue
		}
		if err := f.cfg.pause(ctx, failures); err != nil {
			return err
		}
		if failures++; len(f.failing) > 0 && !errors.Is(err, errUnlisted) {
			failures = min(failures, 2) // the others go on: their next event does not wait long
		}
	}
}

// final reports whether the source will answer no otherwise, or the projection is to stop.
func final(err error) bool {
	return err == errEnded || errors.Is(err, eventlog.ErrClosed) || StopOf(err) != nil || position.Mismatched(err) ||
		eventlog.ForgottenIn(err) != nil || eventlog.Replaced(err)
}

// round reads one window of each partition: where others fold the same rows, in an order of chance, so that they do not
// all do the same window at the same time, of which one alone can commit it. An error that is not final is the first of
// those of single partitions, and the others are read all the same.
func (f *feed) round(ctx context.Context) (read int, err error) {
	partitions, err := f.src.Partitions(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnlisted, err)
	}
	f.monitor.round(partitions)
	if f.shared {
		partitions = slices.Clone(partitions)
		rand.Shuffle(len(partitions), func(i, j int) { partitions[i], partitions[j] = partitions[j], partitions[i] })
	}
	maps.DeleteFunc(f.failing, func(p string, _ outage) bool { return !slices.Contains(partitions, p) })
	var failed error
	for _, p := range partitions {
		if f.failing[p].until.After(time.Now()) {
			continue
		}
		w, err := f.reader.read(ctx, p)
		if w != nil {
			read++
			if err := f.hand(ctx, w); err != nil {
				return read, err
			}
			f.monitor.handed()
		}
		switch {
		case err == nil:
			f.succeeded(ctx, p)
		case ctx.Err() != nil || final(err):
			return read, err
		default:
			f.leave(p)
			if failed == nil {
				failed = err
			}
		}
	}
	return read, failed
}

// succeeded says that a partition was read: that reading fails is said as long as any cannot be.
func (f *feed) succeeded(ctx context.Context, partition string) {
	delete(f.failing, partition)
	if len(f.failing) == 0 {
		f.retrier.succeeded(ctx, Reading)
	}
}

// leave leaves a partition alone that could not be read, for longer each time.
func (f *feed) leave(partition string) {
	n := f.failing[partition].failures
	f.failing[partition] = outage{n + 1, time.Now().Add(backoff.Delay(f.cfg.MinBackoff, f.cfg.MaxBackoff, n))}
}

// hand gives a window to the fold.
func (f *feed) hand(ctx context.Context, w *window) error {
	select {
	case f.windows <- w:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// await waits for more events, at most until the next sign of life is due.
func (f *feed) await(ctx context.Context) error {
	f.monitor.idle()
	positions := make(eventlog.Offsets, len(f.reader.done))
	for p, c := range f.reader.done {
		positions[p] = c.Offset
	}
	waiting, cancel := context.WithTimeout(ctx, f.cfg.Heartbeat)
	defer cancel()
	err := f.src.Wait(waiting, positions)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return err
}
