package main

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"

	"example.com/cricket/graph/generated"
	"example.com/cricket/model"
	"example.com/cricket/projection/cricket"
)

// sampleFile is what make run appends, and what the tests look at.
const sampleFile = "../../data/sample.jsonl"

// sample folds the events of the sample into an embedded store, as the server does, and returns its rows.
func sample(t *testing.T) *querydb.DB {
	t.Helper()
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	db, err := querydb.Open(t.Context(), store, model.All, querydb.Config{})
	if err != nil {
		t.Fatal(errors.Join(err, store.Close()))
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	fold(t, db)
	return db
}

// fold runs every projection to the end of the sample, and fails where an event of it could not be folded.
func fold(t *testing.T, db *querydb.DB) {
	t.Helper()
	source, err := filesource.Open(filesource.Options{Path: sampleFile})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close() // it was only read from: nothing can be lost
	for _, p := range projection.Group(cricket.Projections()) {
		runner, err := projection.NewRunner(p, source, db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := runner.Run(t.Context()); err != nil {
			t.Fatalf("projection %s: %v", p.Name, err)
		}
		letters, err := runner.DeadLetters(t.Context(), "", 10)
		if err != nil || len(letters) > 0 {
			t.Fatalf("projection %s has the dead letters %+v, %v", p.Name, letters, err)
		}
	}
}

// api is the API over the rows, as the server makes it; where resolvers is set, the generated resolvers answer all.
func api(db *querydb.DB, resolvers bool) http.Handler {
	rt := graph.NewRuntime(db, generated.Catalog, graph.Config{TokenKey: keys.TokenKey{1}, ResolversOnly: resolvers})
	return graphqlhttp.New(graph.WithCompiledPlans(generated.New(rt), rt), graphqlhttp.Config{})
}
