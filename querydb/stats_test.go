package querydb_test

import (
	"testing"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestWhatABuildDoesWithTheStoreCounts: it may be most of what the store has to do.
func TestWhatABuildDoesWithTheStoreCounts(t *testing.T) {
	f := newFixture(t, memstore.New())
	build, err := f.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	former, err := build.Generations().Recorded(t.Context(), f.model)
	if err != nil {
		t.Fatal(err)
	}
	if err := build.Generations().Begin(t.Context(), f.model, former, nil); err != nil {
		t.Fatal(err)
	}
	built := &fixture{DB: build, t: t, model: f.model, codec: f.codec}
	f.put(sample(1))
	built.put(sample(2), sample(3))
	built.query(querydb.Query{PK: "x", Limit: 1})
	for name, s := range map[string]querydb.Stats{"the DB": f.stats(), "its view for builds": built.stats()} {
		if s.Batches != 2 || s.Writes != 3 || s.Queries != 1 {
			t.Errorf("%s has counted %d commits of %d rows, and %d ranges; want 2 of 3, and 1", name, s.Batches, s.Writes,
				s.Queries)
		}
	}
}
