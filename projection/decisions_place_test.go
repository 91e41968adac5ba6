package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// failingAt is the projection of a program that folds the event only after it was corrected.
func failingAt(g *program, offset uint64, corrected *atomic.Bool) projection.Projection {
	p := ProjectionOf("script", g.ops)
	project := p.Project
	p.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		if e.Offset == offset && !corrected.Load() {
			return nil, errors.New("to be corrected")
		}
		return project(e, m)
	}
	return p
}

// TestEventsThatAreRetriedInRowsBesideEachOtherAreBothInLaterRows: rows that serve and rows that are built stand at one
// event of the log when each retries a dead letter that the others have folded, and neither know of the other. The rows
// of a later fold, which changes one row for both, have both.
func TestEventsThatAreRetriedInRowsBesideEachOtherAreBothInLaterRows(t *testing.T) {
	for _, order := range []string{"those that serve first", "those that are built first"} {
		t.Run(order, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store func() driver.Driver) {
				log := openLog(t, event("one", upsert("a", 10)), event("two", upsert("a", 100)), event("", upsert("o", 1)))
				var corrected atomic.Bool
				fold := func(version string, fails uint64, db func(*program) *querydb.DB) (retry func() error) {
					g := start(t, store(), hold(log, 3), version)
					g.p = failingAt(g, fails, &corrected)
					if version != "1" {
						if err := g.begin(); err != nil {
							t.Fatal(err)
						}
					}
					r, run := inBackground(t, g.runner(db(g)))
					run.reaches(t, r, 3)
					if run.stop(); !errors.Is(run.wait(), context.Canceled) {
						t.Fatalf("the run of version %s has ended otherwise", version)
					}
					return func() error { return r.Retry(t.Context(), fmt.Sprintf("0@%d", fails)) }
				}
				retries := []func() error{
					fold("1", 1, func(g *program) *querydb.DB { return g.db }),
					fold("2", 2, func(g *program) *querydb.DB { return g.build }),
				}
				if order == "those that are built first" {
					slices.Reverse(retries)
				}
				corrected.Store(true)
				for _, retry := range retries {
					if err := retry(); err != nil {
						t.Fatal(err)
					}
				}
				log.End()
				third := start(t, store(), log, "3")
				if err := third.begin(); err != nil {
					t.Fatal(err)
				}
				cfg := quick()
				cfg.WindowEvents = 1 // of the two, each is in a commit of its own
				runProjection(t, third.p, log, third.build, cfg)
				want := map[string]int{"a": 110, "o": 1}
				if diff := cmp.Diff(want, third.totals(third.build.ForFold(""), "a", "o")); diff != "" {
					t.Errorf("rows of a later fold (-want +got):\n%s", diff)
				}
			})
		})
	}
}
