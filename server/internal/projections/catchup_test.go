package projections

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAllRowsOfAUnitCatchUpWithThoseThatServeFurthest, for they are switched to at once: those of a projection that has
// no table in common with it too.
func TestAllRowsOfAUnitCatchUpWithThoseThatServeFurthest(t *testing.T) {
	gate := make(chan struct{})
	var models []*querydb.Model
	var all []projection.Projection
	for _, name := range []string{"Order", "Customer"} {
		m := &querydb.Model{Name: name, Table: name, Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1}
		models = append(models, m)
		all = append(all, projection.New(&projection.Ops[struct{}, struct{}, struct{}]{
			Codec: &querydb.Codec[struct{}]{Model: m},
		}, projection.Projection{
			Name: name, Events: []string{"T", "Late"},
			Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
				if name == "Order" && e.Type == "Late" {
					<-gate
				}
				return nil, nil
			},
		}))
	}
	db, err := querydb.Open(t.Context(), memstore.New(), models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	cfg := projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler), WindowEvents: 1}
	for i, types := range [][]string{{"T", "T"}, {"T", "T", "Late"}} {
		log := logOf(t, types...)
		log.End()
		r, err := projection.NewRunner(all[i], log, db, cfg)
		if err == nil {
			err = r.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	log := logOf(t, "T", "T", "Late")
	t.Cleanup(func() { log.Close() })
	set, err := New(all, log, db, nil, cfg)
	if err == nil {
		err = set.KeepServing(t.Context(), Keep{DB: db})
	}
	if err == nil {
		err = projection.BeginBuild(t.Context(), db, set.buildDB, log, all, cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	u := &unit{set: set, projections: all, of: set.All}
	building := newCrew(t.Context())
	defer building.end()
	if err := u.build(building); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := u.catchUp(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the orders that are built are behind the customers that serve: %v", err)
	}
	close(gate)
	if _, err := u.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if at, err := projection.BuiltOffsets(t.Context(), db, p); err != nil || at["0"] != 3 {
			t.Errorf("%s is built up to %v, %v; want 3", p.Name, at, err)
		}
	}
}

// TestASwitchToRowsWhoseBuildHasStoppedSaysWhy, and not that the rows that serve stand still.
func TestASwitchToRowsWhoseBuildHasStoppedSaysWhy(t *testing.T) {
	v := openVersionOn(t, memstore.New(), "1")
	v.fold(t, v.db, "T")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	all := []projection.Projection{v.p}
	set, err := New(all, forgetful{log}, v.db, nil, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = set.KeepServing(t.Context(), Keep{DB: v.db})
	}
	if err == nil {
		err = projection.BeginBuild(t.Context(), v.db, set.buildDB, log, all, set.cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	building := newCrew(t.Context())
	defer building.end()
	if err := set.units[0].build(building); err != nil {
		t.Fatal(err)
	}
	_, err = set.units[0].catchUp(t.Context())
	if forgotten := (*eventlog.ForgottenError)(nil); !errors.As(err, &forgotten) || errors.Is(err, ErrStandStill) {
		t.Errorf("the switch fails: %v, want it to say that events are forgotten", err)
	}
}
