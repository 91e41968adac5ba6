package projection

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the pause before attempt n+1, n counted from 0: doubling, and between half of that and all of it, so that
// several runners do not come back at once.
func (c *RunnerConfig) backoff(n int) time.Duration {
	d := c.MaxBackoff
	if n < 30 {
		d = min(d, c.MinBackoff<<n)
	}
	return d/2 + rand.N(d/2+1)
}

// pause waits; it returns the context's error where that ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
