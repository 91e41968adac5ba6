package loglimit_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/projection/internal/loglimit"
)

// TestManyLinesOfOneKindAreCounted in place of being logged, as the log says.
func TestManyLinesOfOneKindAreCounted(t *testing.T) {
	var text strings.Builder
	log, now := slog.New(slog.NewTextHandler(&text, nil)), time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	var l loglimit.Limit
	lines := func(n int) string {
		text.Reset()
		for range n {
			l.Log(t.Context(), log, now, slog.LevelWarn, "bad", slog.String("event", "0@1"))
		}
		return text.String()
	}
	got := lines(1000)
	if n := strings.Count(got, "bad"); n != loglimit.Most || strings.Count(got, "others=") != 1 {
		t.Errorf("at first %d lines of 1000:\n%s", n, got)
	}
	now = now.Add(loglimit.Interval - 1)
	if got := lines(20); got != "" {
		t.Errorf("within the interval: %s", got)
	}
	now = now.Add(1)
	if got := lines(2); strings.Count(got, "bad") != 2 || strings.Count(got, "leftOutBefore=1000") != 1 {
		t.Errorf("after the interval: %s", got)
	}
	now = now.Add(loglimit.Interval)
	if got := lines(1); strings.Contains(got, "leftOut") {
		t.Errorf("after an interval in which nothing was left out: %s", got)
	}
}
