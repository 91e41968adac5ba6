package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/advice"
	"github.com/foldql/foldql/server/internal/logcheck"
)

// Mismatch is the first contradiction that was met, nil as long as there is none.
func (s *Set) Mismatch() *projection.MismatchError { return s.other.Load() }

// Mismatches ends all projections where one has met a contradiction.
func (s *Set) Mismatches(err error) {
	var m *projection.MismatchError
	if !errors.As(err, &m) || !s.other.CompareAndSwap(nil, m) {
		return
	}
	s.log.Error("the log is not the one that the rows are folded from; rows are served as they are", "error",
		logcheck.Error(m))
	s.Halt()
}

// StandStill has nobody fold, in place of Start, since the log contradicts what is on record. Until the server is
// started again, Status and Reached tell how far the rows are by that record.
func StandStill(ctx context.Context, f *Set, other *projection.MismatchError) error {
	for _, one := range f.All {
		if _, _, frozen := one.frozen.now(); frozen || one.answers() {
			continue // Prepare has read that
		}
		if err := one.LoadReached(ctx); err != nil && !otherRows(err) {
			return fmt.Errorf("read how far the rows of projection %s are: %w", one.Name, advice.Add(err))
		}
	}
	f.Halt = func() {}
	f.Mismatches(other)
	return nil
}

// tellMismatch has a status say that the log is not the one of the rows: how far these are behind it means nothing.
func tellMismatch(f *Running, s *projection.Status) {
	if f.unit == nil || f.unit.set.Mismatch() == nil {
		return
	}
	forgetLag(s)
	s.LastError = logcheck.Error(f.unit.set.Mismatch()).Error()
}

// forgetLag has a status not say how far rows are behind a log.
func forgetLag(s *projection.Status) {
	s.Lag, s.LagKnown, s.ETASeconds = 0, false, -1
	for i := range s.Partitions {
		s.Partitions[i].Lag = 0
	}
}

// Guard returns a log that takes no events while it is not the one that the rows are folded from.
func (s *Set) Guard(l eventlog.Log) eventlog.Log { return &guardedLog{l, s} }

// guardedLog takes no events while the log is not the one that the rows are folded from.
type guardedLog struct {
	eventlog.Log
	folds *Set
}

// Append implements eventlog.Log.
func (l *guardedLog) Append(ctx context.Context, events []eventlog.Event) ([]eventlog.AppendResult, error) {
	if m := l.folds.Mismatch(); m != nil {
		return nil, fmt.Errorf("%w: %w", eventlog.ErrMismatch, m)
	}
	return l.Log.Append(ctx, events)
}
