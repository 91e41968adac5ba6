package projections

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestFrozenRowsShowWhatTheyLack: dead letters and copies that are yet to follow are still there when a program of
// another schema starts, and alerts about them must not end then.
func TestFrozenRowsShowWhatTheyLack(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first := openVersion(t, store, "1")
	first.fold(t, first.db, "T", "Bad", "T", "Bad")
	task := func(id, more string) querydb.Note {
		kind := fmt.Sprintf("cascade:Order.g%d:Order", generationOf(first.survey(t).all[0].Serving))
		return querydb.Note{Kind: kind, ID: id, Value: []byte(`{"model":"Order","pk":"` + id + `"` + more + `}`)}
	}
	failed := task("c", `,"done":true,"failed":1,"reason":"it is too large"`)
	err := first.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{task("a", ""), task("b", ""), failed}})
	if err != nil {
		t.Fatal(err)
	}
	second := openVersion(t, store, "2")
	log := logOf(t, "T", "Bad", "T", "Bad")
	t.Cleanup(func() { log.Close() })
	set, err := New([]projection.Projection{second.p}, log, second.db, nil, projection.RunnerConfig{
		Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = set.KeepServing(t.Context(), Keep{DB: second.db})
	}
	if err == nil {
		err = set.Prepare(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := set.All[0].Status(t.Context(), projection.NewHeads(log))
	if err != nil || !s.Frozen {
		t.Fatalf("the rows are frozen: %t, %v; want it", s.Frozen, err)
	}
	if s.DeadLetters != 2 || s.Cascades != 2 || len(s.FailedCascades) != 1 {
		t.Errorf("%d dead letters, %d copies are yet to follow, and %d cannot; want 2, 2 and 1", s.DeadLetters, s.Cascades,
			len(s.FailedCascades))
	}
}
