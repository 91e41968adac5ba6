package client

import (
	"log/slog"
	"testing"
	"time"
)

// TestOneFailureAmongAnswersSuspendsNothing: a request that takes too long is its own fault where others are answered.
func TestOneFailureAmongAnswersSuspendsNothing(t *testing.T) {
	b := breaker{log: slog.New(slog.DiscardHandler)}
	long := time.Now().Add(-time.Minute)
	for range 10 {
		b.answered()
		b.unanswered(long, errUnanswered)
		if b.isOpen() {
			t.Fatal("a failure among answers opens the breaker")
		}
	}
	for range mostFailures {
		b.unanswered(time.Now(), errUnanswered)
	}
	if !b.isOpen() {
		t.Error("failures one after another do not open the breaker")
	}
	if b.answered(); b.isOpen() {
		t.Error("an answer does not close the breaker")
	}
}
