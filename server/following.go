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
	if f == nil {
		return true
	}
	select {
	case <-f.ended:
		return true
	case <-time.After(time.Until(at)):
		return false
	}
}
