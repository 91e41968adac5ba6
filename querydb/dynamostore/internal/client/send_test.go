package client

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
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
