package projections

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
)

// Guard returns a log that takes no events while it is not the one that the rows are folded from.
func (f *Set) Guard(l eventlog.Log) eventlog.Log { return &guardedLog{l, f} }

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
