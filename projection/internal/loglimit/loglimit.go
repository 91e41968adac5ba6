// Package loglimit bounds how many lines of one kind are logged: what events bring about, senders can bring about as
// often as they like.
package loglimit

import (
	"context"
	"log/slog"
	"time"
)

// Most is how many lines are logged in an interval, which begins with the first of them.
const (
	Most     = 20
	Interval = time.Minute
)

// Limit is of lines of one kind. It is used by one goroutine at a time.
type Limit struct {
	since   time.Time
	lines   int // that were to be logged since then
	leftOut int // before that
}

// Log logs a line, unless there have been too many. The last one before others are left out says so, and the next one
// after that how many were.
func (l *Limit) Log(ctx context.Context, log *slog.Logger, now time.Time, level slog.Level, message string,
	attrs ...slog.Attr) {
	if age := now.Sub(l.since); age >= Interval || age < 0 {
		l.leftOut = max(l.lines-Most, 0)
		l.since, l.lines = now, 0
	}
	if l.lines++; l.lines > Most {
		return
	}
	if l.lines == 1 && l.leftOut > 0 {
		attrs = append(attrs, slog.Int("leftOutBefore", l.leftOut))
	}
	if l.lines == Most {
		attrs = append(attrs, slog.String("others", "left out for a minute"))
	}
	log.LogAttrs(ctx, level, message, attrs...)
}
