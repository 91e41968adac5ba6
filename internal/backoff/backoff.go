// Package backoff waits between attempts.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Delay is the pause before attempt n+1, n counted from 0: doubling from least up to most, and between half of that
// and all of it, so that several processes do not come back at once.
func Delay(least, most time.Duration, n int) time.Duration {
	d := most
	if n < 30 {
		d = min(d, least<<n)
	}
	return d/2 + rand.N(d/2+1)
}

// Wait waits; it returns the cause of the context's end where that comes first.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
