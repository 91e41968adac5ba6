// Package trial puts random operations to the two executors of a generated schema, and compares their answers with each
// other and with the rows.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/internal/tests/differential"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// Schema is a generated schema on trial.
type Schema struct {
	Name    string
	Catalog *catalog.Catalog
	New     func(*graph.Runtime) graphql.ExecutableSchema
}

// trial is one schema over rows of its own.
type trial struct {
	Schema
	ctx     context.Context
	rng     *rand.Rand
	db      *querydb.DB
	schema  *ast.Schema
	rows    map[string][]stored // by type
	plans   http.Handler
	slow    http.Handler
	callers []context.Context
	met     map[string]int
}

// stored is a row as it was written, and where it lies.
type stored struct {
	typ string
	row row
	at  querydb.Row
}

// Run puts so many documents to both executors, each with several values of its variables. met counts the answers by
// the codes of their errors.
func Run(ctx context.Context, s Schema, seed uint64, documents int) (met map[string]int, err error) {
	t := &trial{Schema: s, ctx: ctx, rng: rand.New(rand.NewPCG(seed, 1)), rows: map[string][]stored{},
		met: map[string]int{}}
	var models []*querydb.Model
	for _, name := range t.typeNames() {
		models = append(models, s.Catalog.Types[name].Model)
	}
	// An embedded store keeps answers, rows and pages in memory.
	store, err := pebblestore.Open(pebblestore.Options{Dir: "rows", FS: vfs.NewMem(), CacheBytes: 8 << 20})
	if err != nil {
		return nil, fmt.Errorf("open a store: %w", err)
	}
	if t.db, err = querydb.Open(ctx, store, models, querydb.Config{}); err != nil {
		return nil, fmt.Errorf("open the rows: %w", err)
	}
	defer func() {
		if closing := t.db.Close(); err == nil {
			err = closing
		}
	}()
	t.plans, t.slow = t.handler(graph.Config{}), t.handler(graph.Config{ResolversOnly: true})
	for _, c := range []*auth.Caller{nil, {Subject: "ann"}, {Subject: "bob", Groups: []string{"Staff"}},
		{Subject: "eve", Groups: t.groups()}} {
		caller := ctx
		if c != nil {
			caller = auth.NewContext(ctx, *c)
		}
		t.callers = append(t.callers, caller)
	}
	if err := t.fill(); err != nil {
		return nil, err
	}
	if err := t.compare(documents); err != nil {
		return nil, err
	}
	if hits := store.CacheStats().AnswerHits; hits < uint64(documents/10) {
		return nil, fmt.Errorf("%d answers to %d documents came from memory: the trial proves little of them", hits,
			documents)
	}
	if err := t.consult(); err != nil {
		return t.met, err
	}
	return t.met, consultRelay(t)
}

func (t *trial) typeNames() []string {
	var names []string
	for name := range t.Catalog.Types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t *trial) handler(cfg graph.Config) http.Handler {
	cfg.TokenKey = keys.TokenKey{1} // both executors give the same tokens
	rt := graph.NewRuntime(t.db, t.Catalog, cfg)
	es := graph.WithCompiledPlans(t.New(rt), rt)
	t.schema = es.Schema()
	return graphqlhttp.New(es, graphqlhttp.Config{Introspection: true, MaxAliases: 1_000, MaxFields: 10_000})
}

// groups returns every group that a rule of the catalog names.
func (t *trial) groups() (all []string) {
	add := func(r *catalog.Rule) {
		if r != nil {
			all = append(all, r.Groups...)
		}
	}
	for _, typ := range t.Catalog.Types {
		add(typ.Rule)
		for _, f := range typ.Fields {
			add(f.Rule)
		}
	}
	for _, q := range t.Catalog.Queries {
		if q.Rule != nil {
			all = append(all, q.Rule.Group)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compare puts random documents to both executors: their answers are the same bytes, errors and their order included.
func (t *trial) compare(documents int) error {
	var queries []string
	for name := range t.Catalog.Queries {
		queries = append(queries, name)
	}
	slices.Sort(queries)
	g := &differential.Documents{Schema: t.schema, Queries: queries, Rand: t.rng, Texts: texts, Times: times,
		Invalid: true}
	repeated := repetition{trial: t}
	for range documents {
		query, variables := g.Next()
		for range 1 + t.rng.IntN(3) {
			q := question{query, variables(), t.callers[t.rng.IntN(len(t.callers))]}
			fast, err := t.put(&q)
			if err != nil {
				return err
			}
			t.count(g, fast)
			repeated.asked[t.rng.IntN(len(repeated.asked))] = q
			if t.rng.IntN(4) == 0 {
				if err := repeated.ask(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// count notes what an answer was, and keeps the page tokens in it for other questions.
func (t *trial) count(g *differential.Documents, answer []byte) {
	var got struct {
		Data   map[string]any
		Errors []struct{ Extensions struct{ Code string } }
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.met["unreadable"]++
		return
	}
	for _, e := range got.Errors {
		t.met[e.Extensions.Code]++
	}
	if got.Errors == nil {
		t.met["ok"]++
	}
	keep(g, got.Data)
}

// keep keeps the page tokens, cursors and global identifiers in an answer.
func keep(g *differential.Documents, answer any) {
	switch answer := answer.(type) {
	case []any:
		for _, elem := range answer {
			keep(g, elem)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			text, isText := answer[name].(string)
			switch {
			case !isText:
				keep(g, answer[name])
			case strings.Contains(name, "nextToken") || strings.Contains(strings.ToLower(name), "cursor"):
				g.Tokens = kept(g, g.Tokens, text)
			case strings.Contains(name, "uid"):
				g.IDs = kept(g, g.IDs, text)
			}
		}
	}
}

// kept is a list with a text in it, in the place of another where it is long.
func kept(g *differential.Documents, list []string, text string) []string {
	if len(list) < 50 {
		return append(list, text)
	}
	list[g.Rand.IntN(len(list))] = text
	return list
}

// ask returns the body of the answer to a request.
func ask(h http.Handler, ctx context.Context, query string, vars map[string]any) []byte {
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer, err := io.ReadAll(w.Body)
	if err != nil {
		panic(err)
	}
	return answer
}
