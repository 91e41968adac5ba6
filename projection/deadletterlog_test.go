package projection_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestManyDeadLettersFillNoLog: later events of a subject that is blocked become dead letters too, as many as a sender
// likes, and so do those whose row is not there.
func TestManyDeadLettersFillNoLog(t *testing.T) {
	events := []eventlog.Event{event("same", Step{Op: "fail"})}
	for range 200 {
		events = append(events, event("same", upsert("a", 1)))
	}
	var text strings.Builder
	cfg := quick()
	cfg.Logger, cfg.MaxDeadLetterPercent = slog.New(slog.NewTextHandler(&text, nil)), 100
	r := newRunner(t, "script", logOf(t, events...), open(t, newFaultyStore()), cfg)
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if letters := r.Reached().DeadLetters; letters != len(events) {
		t.Fatalf("there are %d dead letters, want %d", letters, len(events))
	}
	if n := strings.Count(text.String(), "event became a dead letter"); n != 20 {
		t.Errorf("the log has %d lines about dead letters, want 20", n)
	}
}
