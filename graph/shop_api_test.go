package graph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

// ways are the two executors of the generated API.
var ways = map[string]graph.Config{"plans": {AuthOff: true}, "resolvers": {AuthOff: true, ResolversOnly: true}}

// api is the shop's generated API over an embedded store, served over HTTP by each executor.
type api struct {
	*testing.T
	store    *counted
	db       *querydb.DB
	schema   *ast.Schema
	handlers map[string]http.Handler // by way
	builder  record.Builder
}

func newAPI(t *testing.T) *api {
	t.Helper()
	// Small tables in memory: most rows are read from files.
	store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem(), MemTableBytes: 256 << 10,
		CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{T: t, store: &counted{Driver: store}, handlers: map[string]http.Handler{}}
	a.db = openShop(t, a.store)
	for way, cfg := range ways {
		es := schema(a.db, cfg)
		a.schema = es.Schema()
		a.handlers[way] = graphqlhttp.New(es, graphqlhttp.Config{})
	}
	return a
}

// in is the same API for a subtest.
func (a *api) in(t *testing.T) *api {
	sub := *a
	sub.T = t
	return &sub
}

// ask sends a query and decodes the data of the answer, which must be without errors.
func (a *api) ask(way, query string, vars map[string]any, data any) {
	a.Helper()
	a.askOperation(way, "", query, vars, data)
}

// askOperation is ask for one of several operations of a document.
func (a *api) askOperation(way, name, query string, vars map[string]any, data any) {
	a.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "operationName": name, "variables": vars})
	if err != nil {
		a.Fatal(err)
	}
	req := httptest.NewRequestWithContext(a.Context(), http.MethodPost, "/graphql", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	res := httptest.NewRecorder()
	a.handlers[way].ServeHTTP(res, req)
	answer := struct {
		Data   any
		Errors []any
	}{Data: data}
	if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || res.Code != http.StatusOK ||
		len(answer.Errors) > 0 {
		a.Fatalf("%s by %s: status %d, error %v, answer %.500s", body, way, res.Code, err, res.Body)
	}
}

// encode makes the stored form of a row of the GraphQL type.
func (a *api) encode(typ string, r graph.TestRow) querydb.Write {
	a.Helper()
	m := generated.Catalog.Types[typ].Model
	encoded, err := querydb.Encode(graph.TestCodec(m), &a.builder, &r)
	if err != nil {
		a.Fatal(err)
	}
	return querydb.Write{Model: m, Row: encoded}
}

func (a *api) write(writes ...querydb.Write) {
	a.Helper()
	if err := a.db.Apply(a.Context(), querydb.Batch{Writes: writes}); err != nil {
		a.Fatal(err)
	}
}

// counted counts what reaches the driver: its batches of keys and its ranges, whatever layer asks for them.
type counted struct {
	driver.Driver
	gets, keys, ranges, rows, examined atomic.Int64
	beyond                             atomic.Int64 // ranges that looked at more than their rows and one key more
}

func (c *counted) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	c.gets.Add(1)
	c.keys.Add(int64(len(g.Keys)))
	return c.Driver.Get(ctx, g)
}

func (c *counted) Records(ctx context.Context, g driver.Get, records []record.Record) error {
	c.gets.Add(1)
	c.keys.Add(int64(len(g.Keys)))
	return c.Driver.(driver.RecordReader).Records(ctx, g, records)
}

func (c *counted) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	p, err := c.Driver.Query(ctx, q)
	c.ranges.Add(1)
	c.rows.Add(int64(len(p.Rows)))
	c.examined.Add(int64(p.Examined))
	if p.Examined > len(p.Rows)+1 {
		c.beyond.Add(1)
	}
	return p, err
}

// reads is a snapshot of what was counted.
type reads struct{ Gets, Keys, Ranges, Rows int64 }

func (c *counted) take() (r reads, examined int64) {
	return reads{c.gets.Swap(0), c.keys.Swap(0), c.ranges.Swap(0), c.rows.Swap(0)}, c.examined.Swap(0)
}
