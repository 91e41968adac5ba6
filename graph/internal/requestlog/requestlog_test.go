package requestlog_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/internal/requestlog"
)

// TestEachKindHasItsLines: many lines of one message keep none of another out, nor of the same one about another model,
// nor those below the level of the log.
func TestEachKindHasItsLines(t *testing.T) {
	var log bytes.Buffer
	logger, ctx := slog.New(slog.NewTextHandler(&log, nil)), requestlog.Bounded(t.Context())
	for range 20 {
		requestlog.Log(ctx, logger, slog.LevelDebug, "refused", "")
		requestlog.Log(ctx, logger, slog.LevelWarn, "refused", "")
		requestlog.Hide(ctx, logger, "failed", "Track")
		requestlog.Hide(ctx, logger, "failed", "Order")
	}
	for line, want := range map[string]int{
		"level=DEBUG": 0, "level=WARN msg=refused": requestlog.Most, "level=ERROR msg=failed": 2 * requestlog.Most,
		"of=refused\n": 1, "of=failed first=": 2, "what=Order": requestlog.Most + 1,
	} {
		if got := strings.Count(log.String(), line); got != want {
			t.Errorf("%d lines have %q, want %d:\n%s", got, line, want, log.String())
		}
	}
}

// TestRequestsAreCountedApart, and an operation within a request with it. What belongs to no request is all logged.
func TestRequestsAreCountedApart(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	one := requestlog.With(t.Context(), new(requestlog.Request))
	for _, tt := range []struct {
		name string
		ctx  context.Context
		want int
	}{
		{"a request", one, requestlog.Most + 1},
		{"within it", requestlog.Bounded(one), 0},
		{"another", requestlog.Bounded(t.Context()), requestlog.Most + 1},
		{"none", t.Context(), 20},
	} {
		log.Reset()
		for range 20 {
			requestlog.Log(tt.ctx, logger, slog.LevelError, "failed", "")
		}
		if got := strings.Count(log.String(), "\n"); got != tt.want {
			t.Errorf("%s: %d lines, want %d", tt.name, got, tt.want)
		}
	}
}

// TestARequestWithoutErrorsCostsNothing in memory.
func TestARequestWithoutErrorsCostsNothing(t *testing.T) {
	ctx := requestlog.With(t.Context(), new(requestlog.Request))
	if n := testing.AllocsPerRun(10, func() { requestlog.Bounded(ctx) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
