package server

import (
	"context"
	"time"

	"github.com/foldql/foldql/server/internal/projections"
)

// following takes over what is decided about dead letters at another server. Nil follows none.
type following struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// follow takes over what is decided until the context ends, or somebody ends it.
func follow(ctx context.Context, u *projections.Upstream) *following {
	ctx, stop := context.WithCancel(ctx)
	f := &following{stop, make(chan struct{})}
	go func() {
		defer close(f.ended)
		u.Run(ctx)
	}()
	return f
}

// end returns when nothing more is taken over.
func (f *following) end() {
	if f == nil {
		return
	}
	f.stop()
	<-f.ended
}

// endsUntil reports whether nothing more is taken over, at a time at the latest.
func (f *following) endsUntil(at time.Time) bool {
	return f == nil || isClosedBy(at, f.ended)
}

// isClosedBy waits for a channel to be closed, until a time at the latest, and reports whether it is.
func isClosedBy(at time.Time, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(time.Until(at)):
		return false
	}
}
