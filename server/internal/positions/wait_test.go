package positions

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server/internal/projections"
)

// behind is a projection that never folds an event.
func behind(t *testing.T) *projections.Running {
	t.Helper()
	m := &querydb.Model{Name: "Order", Table: "Order", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1}
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	log := memlog.New(memlog.Options{})
	t.Cleanup(func() { log.Close() })
	r, err := projection.NewRunner(projection.New(
		&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}},
		projection.Projection{Name: "Order", Events: []string{"T"},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil }},
	), log, db, projection.RunnerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return &projections.Running{Runner: r, Name: "Order"}
}

// TestQueriesThatWaitLeaveRoomForOthers: beyond as many as may wait, a query is answered at once, with what there is.
func TestQueriesThatWaitLeaveRoomForOthers(t *testing.T) {
	late := []*projections.Running{behind(t)}
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Folds: &projections.Set{}, Source: renewed{incarnation: "one"}, Wait: time.Hour, Waiters: 2,
			Logger: slog.New(slog.DiscardHandler)})
		p.source.epoch = anEpoch
		tokens := []string{p.sealer.seal([]Place{{"0", "one", 5}})}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		for range 2 {
			go func() { ended <- p.await(ctx, tokens, late) }()
		}
		synctest.Wait()
		began := time.Now()
		err := p.await(t.Context(), tokens, late)
		if graphqlerr.CodeOf(err) != graphqlerr.Stale || !strings.Contains(err.Error(), "as may") || time.Since(began) > 0 {
			t.Errorf("a third query, after %v: %v, want it STALE at once", time.Since(began), err)
		}
		if err := p.await(t.Context(), tokens, nil); err != nil {
			t.Errorf("a query that need not wait: %v", err)
		}
		cancel()
		for range 2 {
			if err := <-ended; graphqlerr.CodeOf(err) != graphqlerr.Unavailable {
				t.Errorf("a query that was cancelled: %v", err)
			}
		}
		began = time.Now()
		if err := p.await(t.Context(), tokens, late); graphqlerr.CodeOf(err) != graphqlerr.Stale ||
			time.Since(began) != time.Hour {
			t.Errorf("once others have gone, after %v: %v, want it to have waited", time.Since(began), err)
		}
	})
}

// networked is a source that is asked over a network.
type networked struct{ renewed }

func (s networked) Incarnation(ctx context.Context, partition string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return s.renewed.Incarnation(ctx, partition)
}

// TestAQueryBeyondThoseThatWaitHasTimeToAskTheSourceWhatLogItIs: it is to be told how far the rows are, and not that
// the source does not answer.
func TestAQueryBeyondThoseThatWaitHasTimeToAskTheSourceWhatLogItIs(t *testing.T) {
	p := New(Config{Folds: &projections.Set{}, Source: networked{renewed{incarnation: "one"}}, Wait: time.Hour, Waiters: 1,
		Logger: slog.New(slog.DiscardHandler)})
	p.source.epoch = anEpoch
	p.waiters <- struct{}{}
	tokens := []string{p.sealer.seal([]Place{{"0", "one", 5}})}
	if err := p.await(t.Context(), tokens, nil); err != nil {
		t.Errorf("rows that are there: %v", err)
	}
	err := p.await(t.Context(), tokens, []*projections.Running{behind(t)})
	if graphqlerr.CodeOf(err) != graphqlerr.Stale || !strings.Contains(err.Error(), "as may") {
		t.Errorf("rows that are late: %v, want it STALE", err)
	}
}

// slow is a source that takes a second to say what log it is.
type slow struct{ renewed }

func (s slow) Incarnation(ctx context.Context, partition string) (string, error) {
	if err := backoff.Wait(ctx, time.Second); err != nil {
		return "", err
	}
	return s.renewed.Incarnation(ctx, partition)
}

// TestASlowSourceLeavesConnectionsToOthers: a query beyond those that wait would else hold one as long as they may.
func TestASlowSourceLeavesConnectionsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Folds: &projections.Set{}, Source: slow{renewed{incarnation: "one"}}, Wait: time.Hour, Waiters: 1,
			Logger: slog.New(slog.DiscardHandler)})
		p.source.epoch = anEpoch
		tokens := []string{p.sealer.seal([]Place{{"0", "one", 5}})}
		p.waiters <- struct{}{}
		began := time.Now()
		err := p.await(t.Context(), tokens, nil)
		if graphqlerr.CodeOf(err) != graphqlerr.Stale || !strings.Contains(err.Error(), "as may") ||
			time.Since(began) != patience {
			t.Errorf("a query beyond, after %v: %v, want it STALE after %v", time.Since(began), err, patience)
		}
		<-p.waiters
		for range 2 {
			if err := p.await(t.Context(), tokens, nil); err != nil {
				t.Errorf("one that waits, and one after it: %v", err)
			}
			p.waiters = make(chan struct{}) // is full
		}
	})
}

// TestRowsThatStandStillAreToldFromThoseThatAreLate: nothing comes of asking again for those.
func TestRowsThatStandStillAreToldFromThoseThatAreLate(t *testing.T) {
	for want, why := range map[string]error{
		"nobody folds them": projections.ErrStandStill, "within 1s": context.DeadlineExceeded,
	} {
		if err := late(t.Context(), why, time.Second); graphqlerr.CodeOf(err) != graphqlerr.Stale ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want it to say %q", why, err, want)
		}
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the client has gone"))
	if err := late(gone, projections.ErrStandStill, time.Second); graphqlerr.CodeOf(err) != graphqlerr.Unavailable {
		t.Errorf("a query that nobody waits for: %v", err)
	}
}
