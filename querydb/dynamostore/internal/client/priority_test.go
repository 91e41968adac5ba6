package client

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

type unbounded struct{}

func (unbounded) Take(int) error { return nil }

// TestRequestsOfAPriorityLeaveRoomForHigherOnes: whatever builds and folds send, a client's request finds a place at
// once; and what is given back is there again.
func TestRequestsOfAPriorityLeaveRoomForHigherOnes(t *testing.T) {
	background := driver.InBackground(t.Context())
	awaited := driver.WithBudget(t.Context(), unbounded{})
	for _, c := range []struct{ concurrency, builds, folds, clients int }{
		{64, 16, 32, 16}, {8, 2, 4, 2}, {4, 1, 2, 1}, {3, 1, 1, 1}, {2, 1, 0, 1}, {1, 1, 0, 0},
	} {
		f := newInFlight(c.concurrency)
		for range 2 {
			for _, of := range []struct {
				ctx  context.Context
				find int
			}{{background, c.builds}, {t.Context(), c.folds}, {awaited, c.clients}} {
				if n := fill(t, &f, of.ctx); n != of.find {
					t.Errorf("of %d requests in flight, those of priority %d find %d places, want %d", c.concurrency,
						priorityOf(of.ctx), n, of.find)
				}
			}
			for l, n := range []int{c.builds, c.folds, c.clients} {
				for range n {
					f.leave(priority(l))
				}
			}
		}
	}
}

// fill takes all places that are left for requests of a context, and returns how many.
func fill(t *testing.T, f *inFlight, ctx context.Context) (n int) {
	t.Helper()
	full, cancel := context.WithCancel(ctx)
	cancel()
	for ; n < 1000; n++ {
		if err := f.enter(full, priorityOf(ctx), time.Time{}); errors.Is(err, context.Canceled) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return n
}
