package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"

	"example.com/tenants/graph/generated"
	"example.com/tenants/model"
	"example.com/tenants/projection/tenants"
)

// sampleFile is what make run appends, and most tests look at.
const sampleFile = "../../data/sample.jsonl"

// site is the rows of the example in an embedded store, and the API over them.
type site struct {
	db    *querydb.DB
	store *store
}

// store keeps the queries that it was asked.
type store struct {
	*pebblestore.Store
	mu    sync.Mutex
	asked []driver.Query
}

// Query keeps the query.
func (s *store) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	s.mu.Lock()
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	return s.Store.Query(ctx, q)
}

// take returns the queries since the last call.
func (s *store) take() []driver.Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// open opens an empty site.
func open(t *testing.T) *site {
	t.Helper()
	files, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{store: &store{Store: files}}
	if s.db, err = querydb.Open(t.Context(), s.store, model.All, querydb.Config{}); err != nil {
		t.Fatal(errors.Join(err, files.Close()))
	}
	t.Cleanup(func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sample opens one with the events of the sample.
func sample(t *testing.T) *site {
	t.Helper()
	source, err := filesource.Open(filesource.Options{Path: sampleFile})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close() // it was only read from: nothing can be lost
	s := open(t)
	s.fold(t, source)
	return s
}

// fold runs every projection to the end of the source, and returns the runners by the names of their projections.
func (s *site) fold(t *testing.T, source eventlog.Source) map[string]*projection.Runner {
	t.Helper()
	runners := map[string]*projection.Runner{}
	for _, p := range tenants.Projections() {
		runner, err := projection.NewRunner(p, source, s.db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := runner.Run(t.Context()); err != nil {
			t.Fatalf("projection %s: %v", p.Name, err)
		}
		runners[p.Name] = runner
	}
	s.store.take()
	return runners
}

// api is the API over the rows, as the server makes it; where resolvers is set, the generated resolvers answer all.
func (s *site) api(resolvers bool) http.Handler {
	rt := graph.NewRuntime(s.db, generated.Catalog, graph.Config{TokenKey: keys.TokenKey{1}, ResolversOnly: resolvers})
	return graphqlhttp.New(graph.WithCompiledPlans(generated.New(rt), rt), graphqlhttp.Config{})
}
