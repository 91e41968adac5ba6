package projection_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// lastingOps are of a model whose rows have no time of creation, and no end: their field of that name is like any other.
func lastingOps() *OpsOf {
	return Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.TTL = -1
	})
}

// queried counts the rows that are read.
type queried struct {
	driver.Driver
	rows int
}

func (s *queried) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	page, err := s.Driver.Query(ctx, q)
	s.rows += len(page.Rows)
	return page, err
}

func (s *queried) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.rows += len(g.Keys)
	return s.Driver.Get(ctx, g)
}

func (s *queried) Close() error { return nil }

// TestAFollowReadsWhatItNeeds, however long the history of its entity is.
func TestAFollowReadsWhatItNeeds(t *testing.T) {
	const n = 2000
	var events []eventlog.Event
	for i := range n {
		events = append(events, event("", Step{Op: "follow", ID: "a", Version: fmt.Sprintf("v%06d", i), Total: 1}))
	}
	for _, window := range []int{1, 10, 500} {
		store := &queried{Driver: memstore.New()}
		ops := lastingOps()
		cfg := quick()
		cfg.Window = window
		db := open(t, store, ops.Codec.Model)
		r, err := projection.NewRunner(ProjectionOf("script", ops), logOf(t, events...), db, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most := 3*n/window + 100; store.rows > most {
			t.Errorf("window %d: %d rows were read for %d events, want at most %d", window, store.rows, n, most)
		}
		last := Key{"a", fmt.Sprintf("v%06d", n-1)}
		key, err := ops.Key(last)
		if err != nil {
			t.Fatal(err)
		}
		page, err := db.Query(t.Context(), ops.Codec.Model, querydb.Query{Index: -1, PK: key.PK, Limit: 1, Reverse: true})
		var row Row
		if err == nil {
			err = ops.Codec.Decode(page.Rows[0].Record, &row)
		}
		if err != nil || row.Total != n {
			t.Errorf("window %d: the last row has the total %d, %v, want %d", window, row.Total, err, n)
		}
	}
}

// TestWhatIsRememberedOfPartitionsIsWhatIsStored: one runner that folds random events in windows, failures among them, makes
// the rows that runners make which remember nothing, each for one event.
func TestWhatIsRememberedOfPartitionsIsWhatIsStored(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawEvents(rt)
		forgetful := newMortalFold(lastingOps(), memstore.New())
		var db *querydb.DB
		var r *projection.Runner
		for i := range events {
			db, r = forgetful.upTo(t, events[i:i+1], 1)
		}
		want, err := readRows(db, forgetful.ops.Codec.Model, everyKey())
		if err != nil {
			rt.Fatal(err)
		}
		wantAside := asideOf(t, r)
		one := newMortalFold(lastingOps(), memstore.New())
		db, r = one.upTo(t, events, rapid.SampledFrom([]int{1, 2, 3, 7, 100}).Draw(rt, "window"))
		got, err := readRows(db, one.ops.Codec.Model, everyKey())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("rows (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantAside, asideOf(t, r)); diff != "" {
			rt.Fatalf("dead letters (-want +got):\n%s", diff)
		}
	})
}
