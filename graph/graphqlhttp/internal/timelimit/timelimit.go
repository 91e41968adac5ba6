// Package timelimit bounds the time of a request without a timer, where nobody waits for its end.
//
// [context.WithTimeout] starts a timer, and registers with its parent, for each request. Most requests look now and
// then whether they have to end, and never wait for it: they need a clock alone.
package timelimit

import (
	"context"
	"sync"
	"time"
)

// Limited is a context with a deadline. It becomes one of package context when somebody asks for its Done channel, as
// those do who derive another context that can be cancelled.
type Limited struct {
	parent   context.Context
	deadline time.Time

	mu     sync.Mutex
	ended  bool
	timed  context.Context // nil until somebody waits
	cancel context.CancelFunc
}

// WithTimeout is a context that ends after the time, with its parent, or with End, which has to be called.
func WithTimeout(parent context.Context, timeout time.Duration) *Limited {
	deadline := time.Now().Add(timeout)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(deadline) {
		deadline = earlier
	}
	return &Limited{parent: parent, deadline: deadline}
}

// End ends the context, and lets go of what it holds.
func (c *Limited) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline implements context.Context.
func (c *Limited) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements context.Context.
func (c *Limited) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.parent, c.deadline) // which may have ended already
		if c.ended {
			c.cancel()
		}
	}
	return c.timed.Done()
}

// Err implements context.Context. Once somebody waits, it is nil for as long as they do.
func (c *Limited) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.timed != nil:
		return c.timed.Err()
	case c.parent.Err() != nil:
		return c.parent.Err()
	case !time.Now().Before(c.deadline):
		return context.DeadlineExceeded
	case c.ended:
		return context.Canceled
	}
	return nil
}

// Value implements context.Context. Derived contexts find by it what they register with.
func (c *Limited) Value(key any) any {
	c.mu.Lock()
	from := c.timed
	c.mu.Unlock()
	if from == nil {
		from = c.parent
	}
	return from.Value(key)
}
