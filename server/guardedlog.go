package server

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
)

// guardedLog takes no events while the log is not the one that the rows are folded from.
type guardedLog struct {
	eventlog.Log
	folds *folds
}

// Append implements eventlog.Log.
func (l *guardedLog) Append(ctx context.Context, events []eventlog.Event) ([]eventlog.Appended, error) {
	if m := l.folds.mismatch(); m != nil {
		return nil, fmt.Errorf("%w: %w", eventlog.ErrMismatch, m)
	}
	return l.Log.Append(ctx, events)
}
