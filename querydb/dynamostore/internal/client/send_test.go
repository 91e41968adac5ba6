package client

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
)

// clientOf returns a client of no service.
func clientOf(concurrency int, retryFor time.Duration) *Client {
	log := slog.New(slog.DiscardHandler)
	return &Client{
		Options: Options{RetryFor: retryFor, Log: log}, inFlight: newInFlight(concurrency), breaker: breaker{log: log},
	}
}

// TestAReadThatIsAnsweredInPartsLetsDynamoDBRest between them, and gets on all the same.
func TestAReadThatIsAnsweredInPartsLetsDynamoDBRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(1, time.Nanosecond)
		const parts = 100
		left, began := parts, time.Now()
		err := c.Send(t.Context(), time.Time{}, func(context.Context, bool) error {
			if left--; left > 0 {
				return Unprocessed(1)
			}
			return nil
		})
		took := time.Since(began)
		if err != nil || left > 0 {
			t.Errorf("%d parts are left: %v", left, err)
		}
		if took < parts*firstDelay || took > parts*(firstDelay<<mostSlowed) {
			t.Errorf("%d parts took %v", parts, took)
		}
	})
}

// TestConflictsAreCountedApartFromThrottling: more capacity does not help against them.
func TestConflictsAreCountedApartFromThrottling(t *testing.T) {
	cancelled := func(code string) error {
		none := "None"
		reasons := []types.CancellationReason{{Code: &none}, {Code: &code}}
		return &types.TransactionCanceledException{CancellationReasons: reasons}
	}
	for name, test := range map[string]struct {
		refusal              error
		throttled, conflicts uint64
	}{
		"a write of a row in a transaction": {&types.TransactionConflictException{}, 0, 1},
		"a transaction in conflict":         {cancelled("TransactionConflict"), 0, 1},
		"a transaction that is too much":    {cancelled("ThrottlingError"), 1, 0},
		"too many requests":                 {&types.ProvisionedThroughputExceededException{}, 1, 0},
		"a part":                            {ErrUnprocessed, 1, 0},
		"a signature of another time":       {skewedError{}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := clientOf(1, time.Minute)
			refusal := test.refusal
			err := c.Send(t.Context(), time.Time{}, func(context.Context, bool) (err error) {
				err, refusal = refusal, nil
				return err
			})
			throttled, conflicts := c.Counters.Throttled.Load(), c.Counters.Conflicts.Load()
			if err != nil || throttled != test.throttled || conflicts != test.conflicts {
				t.Errorf("%s: %v, %d throttled, %d conflicts; want %d throttled, %d conflicts", name, err, throttled, conflicts,
					test.throttled, test.conflicts)
			}
		})
	}
}

// skewedError is as the SDK has it.
type skewedError struct{}

func (skewedError) Error() string        { return "the clock is wrong" }
func (skewedError) RetryableError() bool { return true }

// never is a call that gets no answer.
func never(ctx context.Context, _ bool) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestAQueryGivesUpInThreeSeconds, whatever it has waited for: others that DynamoDB does not answer either, or retries.
func TestAQueryGivesUpInThreeSeconds(t *testing.T) {
	wantIn := func(t *testing.T, began time.Time, err error) {
		t.Helper()
		if took := time.Since(began); took > readTimeout || !errors.Is(Wrap("get", "t", err), driver.ErrUnavailable) {
			t.Errorf("%v after %v, want ErrUnavailable in %v", err, took, readTimeout)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := driver.WithBudget(t.Context(), unbounded{})
		c, began := clientOf(1, time.Minute), time.Now()
		var queries sync.WaitGroup
		for range 5 {
			queries.Go(func() { wantIn(t, began, c.Send(ctx, time.Time{}, never)) })
		}
		queries.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		ctx := driver.WithBudget(t.Context(), unbounded{})
		c, began := clientOf(1, time.Minute), time.Now()
		cutOff := 2
		wantIn(t, began, c.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
			if cutOff--; cutOff >= 0 {
				time.Sleep(readRetryFor / 4)
				return errUnanswered
			}
			return never(ctx, false)
		}))
	})
}

// TestAQueryThatWaitsForRoomSaysNothingOfDynamoDB: little time is left for its answer.
func TestAQueryThatWaitsForRoomSaysNothingOfDynamoDB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := driver.WithBudget(t.Context(), unbounded{})
		const most = 2 * mostFailures
		c := clientOf(most, time.Minute)
		var queries sync.WaitGroup
		for range 2 * most {
			queries.Go(func() {
				_ = c.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
					select {
					case <-time.After(readTimeout * 9 / 10):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			})
		}
		queries.Wait()
		if open, _ := c.Suspended(); open {
			t.Error("queries are refused, and DynamoDB answers")
		}
	})
}

// TestAQueryThatIsThrottledIsGivenTimeAnew: DynamoDB answers, if not as it should.
func TestAQueryThatIsThrottledIsGivenTimeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, began := 12, time.Now()
		err := clientOf(1, time.Hour).Send(driver.WithBudget(t.Context(), unbounded{}), time.Time{},
			func(ctx context.Context, _ bool) error {
				time.Sleep(readTimeout / 3)
				if left--; left > 0 {
					return &types.ProvisionedThroughputExceededException{}
				}
				return ctx.Err()
			})
		if err != nil || time.Since(began) < readTimeout {
			t.Errorf("%v after %v, want an answer", err, time.Since(began))
		}
	})
}
