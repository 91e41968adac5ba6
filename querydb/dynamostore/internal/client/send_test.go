package client

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestAReadThatIsAnsweredInPartsLetsDynamoDBRest between them, and gets on all the same.
func TestAReadThatIsAnsweredInPartsLetsDynamoDBRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		c := &Client{
			Options: Options{RetryFor: time.Nanosecond, Log: log}, inFlight: newInFlight(1), breaker: breaker{log: log},
		}
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
			log := slog.New(slog.DiscardHandler)
			c := &Client{Options: Options{RetryFor: time.Minute, Log: log}, inFlight: newInFlight(1), breaker: breaker{log: log}}
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
