package health

import (
	"context"
	"sync"
	"time"

	"github.com/foldql/foldql/projection"
)

// shared has the states of the projections, which many may ask for at the same time: to find them out takes requests
// to the source of events, for each partition.
type shared struct {
	find func(context.Context) ([]projection.Status, error)

	mu   sync.Mutex // held while they are found out
	at   time.Time
	list []projection.Status
	err  error
}

const (
	// sharedFor is how old states may be that somebody else has asked for.
	sharedFor = 500 * time.Millisecond
	// findPatience is how long the source may take to answer.
	findPatience = 5 * time.Second
)

// get returns the states as somebody has just found them out, or finds them out.
func (s *shared) get(ctx context.Context) ([]projection.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() || time.Since(s.at) >= sharedFor {
		s.list, s.err = s.now(context.WithoutCancel(ctx)) // others wait for it, when who asked has gone
		s.at = time.Now()
	}
	return s.list, s.err
}

// now finds the states out.
func (s *shared) now(ctx context.Context) ([]projection.Status, error) {
	ctx, stop := context.WithTimeout(ctx, findPatience)
	defer stop()
	return s.find(ctx)
}
