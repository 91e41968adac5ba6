package graph_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/generated"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// values are what the rows and the arguments of the differential test are made of: few, so that they meet.
var (
	texts = []string{"ann", "bob", "a/b", "x%", "✓ \"", "~current"}
	times = []string{"2024-01-02T10:00:00Z", "2024-01-03T12:00:00.000+02:00", "2024-03-01T00:00:00.5Z", "2024-01-01"}
)

// TestPlanAnswersLikeTheGeneratedResolvers puts random operations to the shipped schema's two executors.
func TestPlanAnswersLikeTheGeneratedResolvers(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	db := openShop(t, memstore.New())
	plans := schema(db, graph.Config{})
	resolvers := schema(db, graph.Config{ResolversOnly: true})
	fill(t, db, plans.Schema(), rng)

	g := &graph.QueryGen{Schema: plans.Schema(), Catalog: generated.Catalog, Rand: rng, Texts: texts, Times: times}
	callers := []context.Context{t.Context(), graph.As(t.Context(), "ann"), graph.As(t.Context(), "bob", groups()...), graph.As(t.Context(), "eve")}
	met := map[string]int{}
	for range 2000 {
		query, vars := g.Next()
		ctx := callers[rng.IntN(len(callers))]
		fast, slow := do(t, ctx, plans, query, vars), do(t, ctx, resolvers, query, vars)
		slices.Sort(fast.Errors)
		slices.Sort(slow.Errors)
		if diff := cmp.Diff(slow, fast); diff != "" {
			t.Fatalf("%s\n%v\n-resolvers +plan:\n%s", query, vars, diff)
		}
		for _, err := range fast.Errors {
			met[err[:strings.IndexByte(err, ' ')]]++
		}
		if fast.Errors == nil {
			met["ok"]++
		}
	}
	t.Log(met)
	for _, code := range []string{"ok", "BAD_USER_INPUT", "INVALID_TOKEN", "UNAUTHENTICATED", "FORBIDDEN"} {
		if met[code] < 10 {
			t.Errorf("%d operations met %s, wanted at least 10", met[code], code)
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
	return graph.Accelerate(generated.New(rt), rt)
}

// groups returns every group that a rule of the catalog names.
func groups() (all []string) {
	add := func(r *graph.Rule) {
		if r != nil {
			all = append(all, r.Groups...)
		}
	}
	for _, typ := range generated.Catalog.Types {
		add(typ.Rule)
		for _, f := range typ.Fields {
			add(f.Rule)
		}
	}
	for _, q := range generated.Catalog.Queries {
		if q.Rule != nil {
			all = append(all, q.Rule.Group)
		}
	}
	return all
}

// fill writes random rows of every model.
func fill(t *testing.T, db *querydb.DB, s *ast.Schema, rng *rand.Rand) {
	t.Helper()
	var b record.Builder
	names := make([]string, 0, len(generated.Catalog.Types))
	for name := range generated.Catalog.Types {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m := generated.Catalog.Types[name].Model
		rows := map[string]querydb.Write{}
		for range 30 {
			r := graph.TestRow{}
			for _, f := range m.Fields {
				if v := value(rng, s, f); v != nil {
					r[f.Name] = v
				}
			}
			encoded, err := querydb.Encode(graph.TestCodec(m), &b, &r)
			if err != nil {
				t.Fatal(err)
			}
			rows[encoded.Key.PK+"\x00"+encoded.Key.SK] = querydb.Write{Model: m, Row: encoded}
		}
		for _, w := range rows {
			if err := db.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{w}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func value(rng *rand.Rand, s *ast.Schema, f driver.Field) any {
	if f.Nullable && rng.IntN(3) == 0 {
		return nil
	}
	if f.List {
		list := []string{}
		for range rng.IntN(4) {
			list = append(list, texts[rng.IntN(len(texts))])
		}
		return list
	}
	if f.Enum != "" {
		values := s.Types[f.Enum].EnumValues
		return values[rng.IntN(len(values))].Name
	}
	switch f.Scalar {
	case "Boolean":
		return rng.IntN(2) == 0
	case "Int":
		return rng.IntN(4)
	case "Int64":
		return rng.Int64N(4)
	case "Float":
		return float64(rng.IntN(4)) * 1.5
	case "Decimal":
		return []string{"0", "1.5", "-2"}[rng.IntN(3)]
	case "Date":
		return []string{"2024-01-02", "2024-01-03"}[rng.IntN(2)]
	case "DateTime":
		at, err := time.Parse(time.RFC3339, times[rng.IntN(3)])
		if err != nil {
			panic(err)
		}
		return at.UTC()
	}
	return texts[rng.IntN(len(texts))]
}

func do(t *testing.T, ctx context.Context, es graphql.ExecutableSchema, query string, vars map[string]any) graph.Result {
	t.Helper()
	exec := executor.New(es)
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Variables: vars})
	if errs != nil {
		t.Fatalf("%s\n%v", query, errs)
	}
	handler, ctx := exec.DispatchOperation(ctx, op)
	resp := handler(ctx)
	got := graph.ReadJSON(resp)
	for i, err := range resp.Errors {
		got.Errors[i] += " " + err.Message
	}
	return got
}
