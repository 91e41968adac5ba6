package positions

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/server/internal/projections"
)

// away is a source that may not answer: at once, or not before nobody waits.
type away struct {
	renewed
	is     atomic.Bool
	isSlow bool
	asked  atomic.Int64
}

func (s *away) Incarnation(ctx context.Context, partition string) (string, error) {
	s.asked.Add(1)
	if s.is.Load() && s.isSlow {
		<-ctx.Done()
	}
	if s.is.Load() {
		return "", errors.New("no route to host")
	}
	return s.renewed.Incarnation(ctx, partition)
}

func (s *away) Partitions(ctx context.Context) ([]string, error) {
	if s.is.Load() {
		return nil, errors.New("no route to host")
	}
	return s.renewed.Partitions(ctx)
}

// TestASourceThatIsAwayHoldsNoQueriesUp, nor does it fill the log: it is asked apart from them, and logged once.
func TestASourceThatIsAwayHoldsNoQueriesUp(t *testing.T) {
	for _, isSlow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var logged strings.Builder
			src := &away{renewed: renewed{incarnation: "one"}, isSlow: isSlow}
			src.is.Store(true)
			p := New(Config{Folds: &projections.Set{}, Source: src, Logger: slog.New(slog.NewTextHandler(&logged, nil)),
				Wait: time.Minute})
			p.source.epoch = anEpoch
			read, at := &dependencies{}, eventlog.Offsets{"0": 5, "1": 5}
			token := []string{p.sealer.seal([]Place{{"0", "one", 5}})}
			began := time.Now()
			p.position(t.Context(), read, at)
			if took := time.Since(began); took > tellWithin {
				t.Errorf("the first query waits for %v, want %v at most", took, tellWithin)
			}
			time.Sleep(askWithin)
			const queries = 3600
			for range queries {
				began := time.Now()
				if header := p.position(t.Context(), read, at); header != nil {
					t.Fatalf("an answer of rows of a log that nobody knows has the position %q", header)
				}
				err := p.await(t.Context(), token, nil)
				if took := time.Since(began); graphqlerr.CodeOf(err) != graphqlerr.Unavailable || took > 0 {
					t.Fatalf("one that asks for a position: %v after %v, want %s at once", err, took, graphqlerr.Unavailable)
				}
				time.Sleep(time.Second)
			}
			if asked, most := src.asked.Load(), int64(2*queries*time.Second/askAgain+10); asked > most {
				t.Errorf("the source is asked %d times for %d queries, want %d times at most", asked, queries, most)
			}
			if lines := strings.Count(logged.String(), "\n"); lines != 1 {
				t.Errorf("%d lines are logged, want one:\n%.1000s", lines, logged.String())
			}
			src.is.Store(false)
			p.position(t.Context(), read, at)
			synctest.Wait()
			time.Sleep(askWithin + askAgain)
			p.position(t.Context(), read, at)
			synctest.Wait()
			if p.position(t.Context(), read, at) == nil || p.await(t.Context(), token, nil) != nil {
				t.Error("once it answers, there is no position")
			}
			if lines := strings.Count(logged.String(), "\n"); lines != 2 {
				t.Errorf("%d lines are logged, want two:\n%.1000s", lines, logged.String())
			}
		})
	}
}

// TestAFailureOfLongAgoIsNoReasonToHaveNoPosition: a query after a quiet time asks the source anew.
func TestAFailureOfLongAgoIsNoReasonToHaveNoPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &away{renewed: renewed{incarnation: "one"}}
		src.is.Store(true)
		p := New(Config{Folds: &projections.Set{}, Source: src, Logger: slog.New(slog.DiscardHandler), Wait: time.Minute})
		p.source.epoch = anEpoch
		token := []string{p.sealer.seal([]Place{{"0", "one", 5}})}
		if err := p.await(t.Context(), token, nil); graphqlerr.CodeOf(err) != graphqlerr.Unavailable {
			t.Fatalf("a source that does not answer is asked: %v, want %s", err, graphqlerr.Unavailable)
		}
		src.is.Store(false)
		time.Sleep(time.Hour)
		if err := p.await(t.Context(), token, nil); err != nil {
			t.Errorf("an hour later, when it answers, the first query is refused: %v", err)
		}
	})
}
