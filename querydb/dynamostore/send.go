package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/querydb/driver"
)

// The SDK sends a request once. Whether to send it again is decided here, where it is known what that means for a
// write; so one place counts attempts, waits, and sees to it that nothing is begun after a batch's deadline.
const (
	attemptTimeout = 10 * time.Second // after which an answer is not waited for any longer
	firstDelay     = 25 * time.Millisecond
	mostDelay      = 5 * time.Second
)

// A read that somebody waits for is neither repeated nor waited for as long, where it gets no answer.
const (
	readTimeout  = 3 * time.Second
	readRetryFor = time.Second
)

// send makes a request, again and again while that may help: at most as long as the Config says, until the context
// ends, and not after the deadline. again tells the call that an earlier attempt may have been carried out. A call with
// a budget is one that somebody waits for.
func (s *Store) send(ctx context.Context, deadline time.Time, call func(ctx context.Context, again bool) error) error {
	began := time.Now()
	again, awaited := false, driver.BudgetOf(ctx) != nil
	for n := 0; ; n++ {
		if awaited {
			if err := s.breaker.admit(ctx, s.ask); err != nil {
				return err
			}
		}
		err := s.attempt(ctx, deadline, awaited, again, call)
		if err == nil || ctx.Err() != nil {
			return err
		}
		what := retryabilityOf(err)
		delay := delayOf(n)
		if what == final || time.Since(began)+delay > s.retryFor(awaited, what) {
			return err
		}
		if what == refused {
			s.stats.throttled.Add(1)
		}
		again = again || what == doubtful
		s.stats.retries.Add(1)
		s.cfg.Log.DebugContext(ctx, "dynamostore: a request is sent again", "attempt", n+1, "delay", delay, "error", err)
		if backoff.Wait(ctx, delay) != nil {
			return fmt.Errorf("%w, after: %w", ctx.Err(), err)
		}
	}
}

// retryFor is how long a request is sent again that failed so.
func (s *Store) retryFor(awaited bool, what retryability) time.Duration {
	if awaited && what == doubtful {
		return min(readRetryFor, s.cfg.RetryFor)
	}
	return s.cfg.RetryFor
}

// ask finds out whether DynamoDB answers at all: a refusal is an answer too. It passes by requests that wait for room.
func (s *Store) ask(ctx context.Context) error {
	s.stats.requests.Add(1)
	table, none := s.cfg.Prefix+"foldql", "probe"
	key := map[string]value{"id": text(none), "_subId": text(none)}
	_, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key})
	return err
}

// attempt makes the request once, when there is room for one more in flight.
func (s *Store) attempt(
	ctx context.Context, deadline time.Time, awaited, again bool, call func(ctx context.Context, again bool) error,
) error {
	timeout := attemptTimeout
	if awaited {
		timeout = readTimeout
	}
	if err := s.board(ctx, awaited); err != nil {
		return err
	}
	defer func() { <-s.flights }()
	if err := ctx.Err(); err != nil {
		return err
	}
	if late(deadline) {
		return fmt.Errorf("%w: the batch was not written by its deadline, %v", driver.ErrStale, deadline)
	}
	s.stats.requests.Add(1)
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	err := call(bounded, again)
	switch {
	case err != nil && ctx.Err() != nil:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && time.Since(began) >= mostFailing {
			s.breaker.unanswered(began, err)
		}
		return ctx.Err()
	case err != nil && bounded.Err() != nil:
		err = fmt.Errorf("%w: %v", errUnanswered, err)
	}
	s.judge(began, err)
	return err
}

// judge tells the breaker what came of an attempt.
func (s *Store) judge(began time.Time, err error) {
	if err == nil {
		s.breaker.answered()
		return
	}
	var api smithy.APIError
	switch what := retryabilityOf(err); {
	case what == doubtful:
		s.breaker.unanswered(began, err)
	case what == refused || errors.As(err, &api):
		s.breaker.answered()
	}
}

// board waits for room for one more request in flight; not for long where somebody waits for it.
func (s *Store) board(ctx context.Context, awaited bool) error {
	select {
	case s.flights <- struct{}{}:
		return nil
	default:
	}
	var enough <-chan time.Time
	if awaited {
		timer := time.NewTimer(readTimeout)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case s.flights <- struct{}{}:
		return nil
	case <-enough:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// late reports whether the deadline has passed by the wall clock: the monotonic one stands still while a machine
// sleeps.
func late(deadline time.Time) bool {
	return !deadline.IsZero() && time.Now().Round(0).After(deadline.Round(0))
}

// delayOf is how long to wait after n attempts more than one: anything up to twice what it was before, so that those
// who wait do not come back together.
func delayOf(n int) time.Duration {
	return rand.N(min(mostDelay, firstDelay<<min(n, 16)) + 1)
}

// each does n things, as many at a time as may be in flight. The first error ends what is not done yet. A panic of one
// of them is the caller's: on a goroutine of its own it would end the process.
func (s *Store) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var workers sync.WaitGroup
	var once sync.Once
	var first error
	var panicked any
	for range min(n, s.cfg.Concurrency) {
		workers.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					once.Do(func() { panicked = fmt.Sprintf("%v\n%s", v, debug.Stack()) })
					cancel()
				}
			}()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(inner, i); err != nil {
					once.Do(func() { first = err })
					cancel()
					return
				}
			}
		})
	}
	workers.Wait()
	if panicked != nil {
		panic(panicked)
	}
	return first
}

// enter begins a call, which Close waits for; leave ends it.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	s.calls.RLock()
	err = ctx.Err()
	if s.closed {
		err = fmt.Errorf("dynamostore: %w: the store is closed", driver.ErrUnavailable)
	}
	if err != nil {
		s.calls.RUnlock()
		return nil, err
	}
	return s.calls.RUnlock, nil
}
