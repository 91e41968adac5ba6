package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/smithy-go"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/querydb/driver"
)

// The SDK sends a request once. Whether to retry it is decided here, where it is known what that means for a write; so
// one place counts attempts, waits, and ensures that nothing begins after a batch's deadline.
const (
	attemptTimeout = 10 * time.Second // the longest wait for an answer
	firstDelay     = 25 * time.Millisecond
	mostDelay      = 5 * time.Second
	mostSlowed     = 4 // retries that the delay grows with where each gets on: DynamoDB may be throttling still
)

// A read that somebody waits for is given less time and fewer retries where it gets no answer: for a place in flight,
// the answer, and retries together.
const (
	readTimeout  = 3 * time.Second
	readRetryFor = time.Second
)

// Send makes a request, and retries it while that may help: until the context ends, not after the deadline, and for
// Options.RetryFor at most since it began or has got on: see Unprocessed. again says to the call that an earlier
// attempt may have been carried out. A call with a budget is one that somebody waits for.
func (c *Client) Send(ctx context.Context, deadline time.Time, call func(ctx context.Context, again bool) error) error {
	began := time.Now()
	again, of := false, priorityOf(ctx)
	until := patience(of)
	for n := 0; ; n++ {
		if of == awaited {
			if err := c.breaker.admit(ctx, c.probe); err != nil {
				return err
			}
		}
		err := c.attempt(ctx, deadline, until, again, call)
		if err == nil || ctx.Err() != nil {
			return err
		}
		what, progress := retryabilityOf(err), errors.Is(err, errProgress)
		if progress {
			began, n = time.Now(), min(n, mostSlowed)
		}
		delay := Delay(n)
		if what == final || !progress && time.Since(began)+delay > c.retryFor(of, what) {
			return err
		}
		if what == refused {
			c.Counters.refused(err)
		}
		again = again || what == doubtful
		c.Counters.Retries.Add(1)
		c.Options.Log.DebugContext(ctx, "dynamostore: a request is sent again", "attempt", n+1, "delay", delay, "error", err)
		if backoff.Wait(ctx, delay) != nil {
			return fmt.Errorf("%w, after: %w", ctx.Err(), err)
		}
		if what == refused { // which is an answer
			until = patience(of)
		}
	}
}

// patience is until when an answer is waited for from now on; zero where as long as it takes.
func patience(of priority) time.Time {
	if of == awaited {
		return time.Now().Add(readTimeout)
	}
	return time.Time{}
}

// retryFor is how long a request is retried that failed so.
func (c *Client) retryFor(of priority, what retryability) time.Duration {
	if of == awaited && what == doubtful {
		return min(readRetryFor, c.Options.RetryFor)
	}
	return c.Options.RetryFor
}

// attempt makes the request once, when there is room for one more in flight. It waits for that and the answer until a
// time, or, where that is zero, as long as it takes for room, and attemptTimeout for the answer.
func (c *Client) attempt(
	ctx context.Context, deadline, until time.Time, again bool, call func(ctx context.Context, again bool) error,
) error {
	of := priorityOf(ctx)
	if err := c.inFlight.enter(ctx, of, until); err != nil {
		return err
	}
	defer c.inFlight.leave(of)
	if err := ctx.Err(); err != nil {
		return err
	}
	if late(deadline) {
		return fmt.Errorf("%w, %v", driver.ErrLate, deadline)
	}
	c.Counters.Requests.Add(1)
	began := time.Now()
	if until.IsZero() {
		until = began.Add(attemptTimeout)
	}
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	err := call(bounded, again)
	switch {
	case err != nil && ctx.Err() != nil:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && time.Since(began) >= mostFailing {
			c.breaker.unanswered(began, err)
		}
		return ctx.Err()
	case err != nil && bounded.Err() != nil:
		err = fmt.Errorf("%w: %v", errUnanswered, err)
		if time.Since(began) < mostFailing {
			return err // little time was left: it says nothing of DynamoDB
		}
	}
	c.observe(began, err)
	return err
}

// observe reports the outcome of an attempt to the breaker.
func (c *Client) observe(began time.Time, err error) {
	if err == nil {
		c.breaker.answered()
		return
	}
	var api smithy.APIError
	switch what := retryabilityOf(err); {
	case what == doubtful:
		c.breaker.unanswered(began, err)
	case what == refused || errors.As(err, &api):
		c.breaker.answered()
	}
}

// late reports whether the deadline has passed by the wall clock: the monotonic one stands still while a machine
// sleeps.
func late(deadline time.Time) bool {
	return !deadline.IsZero() && time.Now().Round(0).After(deadline.Round(0))
}

// Delay is how long to wait before retry n, counted from 0: a random time up to a bound that doubles, so that those who
// wait do not come back together.
func Delay(n int) time.Duration {
	return rand.N(min(mostDelay, firstDelay<<min(n, 16)) + 1)
}
