package graph_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/tests/differential/trial"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestPlansAnswerLikeTheGeneratedResolvers puts random operations to the shipped schema's two executors. Package
// internal/tests/differential does so with schemas that it draws.
//
// DIFFERENTIAL_SEED repeats a run.
func TestPlansAnswerLikeTheGeneratedResolvers(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("DIFFERENTIAL_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("DIFFERENTIAL_SEED=%q is not a number", text)
		}
	}
	t.Logf("DIFFERENTIAL_SEED=%d repeats this", seed)
	operations := 1000
	if graph.Raced {
		operations = 100
	}
	met, err := trial.Run(t.Context(), trial.Schema{Catalog: generated.Catalog, New: generated.New}, seed, operations)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(met)
	for _, code := range []string{"ok", "BAD_USER_INPUT", "INVALID_TOKEN", "UNAUTHENTICATED", "FORBIDDEN"} {
		if met[code] < 10 && !graph.Raced {
			t.Errorf("%d answers met %s, wanted at least 10", met[code], code)
		}
	}
}

func openShop(t *testing.T, drv driver.Driver) *querydb.DB {
	t.Helper()
	var models []*querydb.Model
	for _, typ := range generated.Catalog.Types {
		models = append(models, typ.Model)
	}
	db, err := querydb.Open(t.Context(), drv, models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func schema(db *querydb.DB, cfg graph.Config) graphql.ExecutableSchema {
	rt := graph.NewRuntime(db, generated.Catalog, cfg)
	return graph.WithCompiledPlans(generated.New(rt), rt)
}
