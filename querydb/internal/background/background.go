// Package background runs work beside that of callers until it is stopped.
package background

import (
	"context"
	"sync"
	"time"
)

// Tasks are functions that run in the background.
type Tasks struct {
	ctx     context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

// New returns Tasks of which none runs yet.
func New() *Tasks {
	t := &Tasks{}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// Run calls f in the background, unless Stop has been called. Stop ends the context of f.
func (t *Tasks) Run(f func(context.Context)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	t.running.Go(func() { f(t.ctx) })
}

// Stop ends the tasks and waits for them.
func (t *Tasks) Stop() {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.cancel()
	t.running.Wait()
}

// Wait waits for the duration, and reports false where the context ends first.
func Wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
