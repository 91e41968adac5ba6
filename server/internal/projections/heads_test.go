package projections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// asked counts what is asked of a source.
type asked struct {
	eventlog.Source
	mu                sync.Mutex
	partitions, heads int
	lost              int           // so many requests for heads
	silent            bool          // whoever has asked hears nothing of that
	takes             time.Duration // until it knows a head
}

func (a *asked) Partitions(ctx context.Context) ([]string, error) {
	a.partitions++
	return a.Source.Partitions(ctx)
}

func (a *asked) Head(ctx context.Context, partition string) (uint64, error) {
	if err := backoff.Wait(ctx, a.takes); err != nil {
		return 0, err
	}
	a.mu.Lock()
	a.heads++
	isLost := a.heads <= a.lost
	a.mu.Unlock()
	if isLost {
		if a.silent {
			<-ctx.Done()
		}
		return 0, errors.New("no answer")
	}
	return a.Source.Head(ctx, partition)
}

// tenOver are ten projections over a source of one event.
func tenOver(t *testing.T) (*Set, *asked) {
	t.Helper()
	var models []*querydb.Model
	var all []projection.Projection
	for i := range 10 {
		m := &querydb.Model{Name: fmt.Sprint("Order", i), Table: fmt.Sprint("Order", i), Version: "1", TTL: -1, CreatedAt: -1,
			UpdatedAt: -1}
		models = append(models, m)
		all = append(all, projection.New(
			&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}}, projection.Projection{
				Name: m.Name, Events: []string{"T"},
				Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
			}))
	}
	db, err := querydb.Open(t.Context(), memstore.New(), models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	src := &asked{Source: log}
	set, err := New(all, src, db, nil, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return set, src
}

// TestAProbeAsksTheSourceOnceForAllProjections, and so does a scrape: of a log that is far away, a hundred projections
// would else find no time to say that they are ready.
func TestAProbeAsksTheSourceOnceForAllProjections(t *testing.T) {
	set, src := tenOver(t)
	for what, look := range map[string]func(){
		"a probe": func() { set.Statuses(t.Context()) },
		"a scrape": func() {
			VisitHealth(t.Context(), set, func(_ *Running, s projection.Status, _ error) {
				if s.Lag != 1 {
					t.Errorf("the lag of %s is %d, want 1", s.Projection, s.Lag)
				}
			})
		},
	} {
		src.partitions, src.heads = 0, 0
		if look(); src.partitions != 1 || src.heads != 1 {
			t.Errorf("%s asks for the partitions %d times, and %d times for the head; want once each", what, src.partitions,
				src.heads)
		}
	}
}

// TestALostRequestIsMadeAgain, for the status that needs it: a probe says else that no projection is ready. A source
// that is away is not asked for each.
func TestALostRequestIsMadeAgain(t *testing.T) {
	for _, c := range []struct {
		lost   int
		silent bool
		known  int
	}{{1, false, 10}, {1, true, 10}, {100, false, 0}, {100, true, 0}} {
		synctest.Test(t, func(t *testing.T) {
			set, src := tenOver(t)
			src.lost, src.silent = c.lost, c.silent
			if known := knownLags(t, set); known != c.known || src.heads != 2 {
				t.Errorf("%+v: %d lags are known after %d requests; want %d, after 2", c, known, src.heads, c.known)
			}
		})
	}
}

// TestASlowSourceHasAllTheTimeOfAProbe, since nothing is lost where it is only slow.
func TestASlowSourceHasAllTheTimeOfAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, src := tenOver(t)
		src.takes = 4 * time.Second
		if known := knownLags(t, set); known != 10 {
			t.Errorf("%d lags are known, want 10", known)
		}
	})
}

// knownLags is of how many projections the lag is known within 5 seconds.
func knownLags(t *testing.T, set *Set) (known int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	VisitHealth(ctx, set, func(_ *Running, s projection.Status, _ error) {
		if s.LagKnown {
			known++
		}
	})
	return known
}
