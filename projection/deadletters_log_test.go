package projection_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// TestManyEventsThatWaitFillNoLog: later events of a subject that is blocked become dead letters too, as many as a
// sender likes, and so do those whose row is not there. They hide no other fault.
func TestManyEventsThatWaitFillNoLog(t *testing.T) {
	blocked := []eventlog.Event{event("same", Step{Op: "fail"})}
	var early []eventlog.Event
	for range 200 {
		blocked = append(blocked, event("same", upsert("a", 1)))
		early = append(early, refEvent("", ref{Op: "set", ID: "a", Club: "of no row"}))
	}
	bad := eventlog.Event{Source: "/test", Type: "Pick", Data: []byte("1")}
	for name, c := range map[string]struct {
		text    string
		failure string
		lines   int // 20 of events that wait
	}{
		"for an event": {logOfLetters(t, Projection("script"), append(blocked, event("another", Step{Op: "fail"}))),
			"event=0@202 ", 22},
		"for a row": {logOfLetters(t, refGroup(refMode{}), append(early, bad)), "event=0@201 ", 21},
	} {
		if n := strings.Count(c.text, lineOfLetter); n != c.lines {
			t.Errorf("%s: the log has %d lines about dead letters, want %d", name, n, c.lines)
		}
		if !strings.Contains(c.text, c.failure) {
			t.Errorf("%s: events that wait hide from the log that another has failed:\n%s", name, c.text)
		}
	}
}

// TestManyEventsThatFailFillNoLog: a sender brings these about too.
func TestManyEventsThatFailFillNoLog(t *testing.T) {
	text := logOfLetters(t, Projection("script"), slices.Repeat([]eventlog.Event{event("", Step{Op: "fail"})}, 200))
	if n := strings.Count(text, lineOfLetter); n != 20 {
		t.Errorf("the log has %d lines about dead letters, want 20", n)
	}
}

// TestALetterThatFailedSaysWhatToDo: what waits for it, or for a row, is folded by itself.
func TestALetterThatFailedSaysWhatToDo(t *testing.T) {
	text := logOfLetters(t, Projection("script"), []eventlog.Event{event("same", Step{Op: "fail"}), event("same",
		upsert("a", 1))})
	if n := strings.Count(text, "'server deadletters --help'"); n != 1 || strings.Count(text, lineOfLetter) != 2 {
		t.Errorf("of one event that failed and one that waits it tells\n%s", text)
	}
}

const lineOfLetter = "event became a dead letter"

// logOfLetters is what is logged while the events become dead letters.
func logOfLetters(t *testing.T, p projection.Projection, events []eventlog.Event) string {
	t.Helper()
	var text strings.Builder
	cfg := quick()
	cfg.Logger, cfg.MaxDeadLetterPercent = slog.New(slog.NewTextHandler(&text, nil)), 100
	r, err := projection.NewRunner(p, logOf(t, events...), open(t, newFaultyStore(), p.Models()...), cfg)
	if err == nil {
		err = r.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if letters := r.Reached().DeadLetters; letters != len(events) {
		t.Fatalf("there are %d dead letters, want %d", letters, len(events))
	}
	return text.String()
}
