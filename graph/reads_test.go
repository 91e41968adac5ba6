package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/graphqlhttp"
)

// readsPerOperation are queries of the shop and what they read of stockedForReads.
var readsPerOperation = []struct {
	name, query        string
	gets, got, queries int64
}{
	{"a row is one get", `{ Customer(id: "c1") { name } }`, 1, 1, 0},
	{"rows by their ids are one get of each", `{ OrderByIds(ids: ["o1", "o2", "o1", "none"]) { orderId } }`, 1, 3, 0},
	{"rows by their keys are one get of each", `{ LineByKeys(keys: [{shop: "s", orderId: "1", category: "toys",
		productId: "a"}, {shop: "s", orderId: "1", category: "toys", productId: "a"}, {shop: "s", orderId: "2",
		category: "toys", productId: "a"}]) { quantity } }`, 1, 2, 0},
	{"and what they are joined to is one batch", `{ OrderByIds(ids: ["o1", "o2", "o13"]) { customer { name } } }`, 2, 5, 0},
	{"the last row is one range", `{ Track(id: "o1") { status } }`, 0, 0, 1},
	{"a page with a join is one range and one batch", `{ OrderByStatus(status: OPEN, limit: 20) { items { orderId ` +
		`customer { name } } } }`, 1, 4, 1},
	{"an index that lacks a field is completed in one batch",
		`{ OrderByStatus(status: OPEN, limit: 3) { items { sold } } }`, 1, 3, 1},
	{"two joins to one target share the batch", `{ OrderByStatus(status: OPEN, limit: 3) { items { customer { name } ` +
		`more: customer { note } } } }`, 1, 3, 1},
	{"a level of many is one batch of distinct ids", `{ Order(id: "o0") { products { name } } }`, 2, 4, 0},
	{"every level is one batch", `{ Order(id: "o0") { products { maker { name } } } }`, 3, 5, 0},
	{"a batch holds every key of its level", `{ Order(id: "big") { products { name } } }`, 2, 251, 0},
	{"a sorted target is one range per id", `{ OrderByStatus(status: OPEN, limit: 3) { items { lastTrack { ` +
		`status } } } }`, 0, 0, 4},
	{"a sorted target is one batch by whole keys, none where a part is null", `{ OrderByStatus(status: OPEN, limit: 3) { ` +
		`items { placedTrack { status } } } }`, 1, 3, 1},
	{"nothing is read by a key of which a part is null", `{ Order(id: "o1") { referrerTrack { status } } }`, 1, 1, 0},
	{"a join by an index is one range for each value",
		`{ OrderByIds(ids: ["o0", "o1", "o2"]) { firstOfStatus { total } } }`, 1, 3, 3},
	{"a join by an index that lacks a field completes each row by itself",
		`{ OrderByIds(ids: ["o0", "o1", "o2"]) { firstOfStatus { sold } } }`, 4, 6, 3},
	{"two joins by one index complete no rows of which it has all that either reads",
		`{ OrderByIds(ids: ["o0", "o1", "o2"]) { firstOfStatus { total } more: firstOfStatus { orderId } } }`, 1, 3, 3},
	{"nor do they to know that there is a row",
		`{ OrderByIds(ids: ["o0"]) { firstOfStatus { __typename } more: firstOfStatus { __typename } } }`, 1, 1, 1},
	{"and do where it lacks what one of them reads",
		`{ OrderByIds(ids: ["o0", "o1", "o2"]) { firstOfStatus { total } more: firstOfStatus { sold } } }`, 4, 6, 3},
	{"pages are one range for each value", `{ OrderByStatus(status: OPEN, limit: 3) { items { tracks(limit: 1) { items { ` +
		`status } } } } }`, 0, 0, 4},
	{"rows that share a value share the page", `{ OrderByStatus(status: OPEN, limit: 3) { items { sameStatus(limit: 2) { ` +
		`items { orderId } } } } }`, 0, 0, 2},
	{"what rows of pages are joined to is one batch", `{ OrderByStatus(status: OPEN, limit: 3) { items { tracks { items { ` +
		`orderId } } sameStatus(limit: 2) { items { customer { name } } } } } }`, 1, 2, 5},
	{"pages of an index that lacks a field are completed each in one batch",
		`{ Order(id: "o0") { sameStatus(limit: 3) { items { sold } } } }`, 2, 4, 1},
	{"what is skipped is not read", `{ Order(id: "o0") { orderId products @skip(if: true) { name } } }`, 1, 1, 0},
	{"an id that is not there is not read", `{ Order(id: "o1") { referrer { name } } }`, 1, 1, 0},
}

// stockedForReads is the shop with an order of many products.
func stockedForReads(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	big := row{"orderId": "big", "customerId": "c1", "status": "PAID", "placedAt": day(20), "total": 1.0,
		"sold": int64(0), "group": "g"}
	var ids []string
	for i := range 250 {
		ids = append(ids, fmt.Sprint("x", i))
	}
	big["productIds"] = ids
	b.put(t, "Order", big)
	return b
}

func TestReadsPerOperation(t *testing.T) {
	b := stockedForReads(t)
	for _, tt := range readsPerOperation {
		t.Run(tt.name, func(t *testing.T) {
			b.store.reset()
			if got := b.do(t.Context(), tt.query, nil); got.Errors != nil {
				t.Fatal(got.Errors)
			}
			if g, n, q := b.store.gets.Load(), b.store.got.Load(), b.store.queries.Load(); g != tt.gets || n != tt.got ||
				q != tt.queries {
				t.Errorf("%d gets of %d keys and %d ranges, wanted %d of %d and %d", g, n, q, tt.gets, tt.got, tt.queries)
			}
		})
	}
	b.store.reset()
	if got := b.do(t.Context(), `{ OrderByStatus(status: OPEN, limit: 3) { items { orderId } nextToken } }`,
		nil); got.Errors != nil {
		t.Fatal(got.Errors)
	}
	if n := b.store.examined.Load(); n > 4 {
		t.Errorf("%d keys examined for 3 rows, wanted at most 4", n)
	}
}

func (b *bench) explain(document string, variables map[string]any) (*Explanation, error) {
	cfg := graphqlhttp.Config{Introspection: true}
	asked, err := graphqlhttp.ReadRequest(WithCompiledPlans(b.foreign, b.rt), cfg, document, "", variables)
	if err != nil {
		return nil, err
	}
	return Explain(b.foreign.schema, b.catalog, asked.Document, asked.Operation, asked.Variables)
}

// TestAnExplanationIsNeverExceeded: no operation reads more than is said of it.
func TestAnExplanationIsNeverExceeded(t *testing.T) {
	b := stockedForReads(t)
	for _, tt := range readsPerOperation {
		x, err := b.explain(tt.query, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		b.store.reset()
		b.do(t.Context(), tt.query, nil)
		reads := b.store.gets.Load() + b.store.queries.Load()
		keys := b.store.got.Load() + b.store.examined.Load()
		if reads > int64(x.Reads) || keys > int64(x.Keys) {
			t.Errorf("%s: %d reads of %d keys, and the explanation has %d of %d", tt.name, reads, keys, x.Reads, x.Keys)
		}
	}
}

func TestAnExplanationSaysWhatIsReadAndHow(t *testing.T) {
	b := newBench(t, Config{})
	explain := func(query string) string {
		t.Helper()
		x, err := b.explain(query, nil)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for query, want := range map[string]string{
		`{ Track(id: "o1") { status } }`: `{"steps":[{"path":"Track","field":"Track","how":"last of a partition",` +
			`"table":"Track","by":["id"],"reads":1,"rows":1,"keys":2}],"levels":1,"reads":1,"rows":1,"keys":2}`,
		`{ page: OrderByStatus(status: OPEN, limit: 3) { items { sold lastTrack { status } } } }`: `{"steps":[` +
			`{"path":"page","field":"OrderByStatus","how":"range of a partition","table":"Order","index":"byStatus",` +
			`"by":["status"],"reads":1,"rows":3,"keys":4,"lacks":["sold"],"joins":[` +
			`{"path":"page.items.lastTrack","field":"Order.lastTrack","how":"a partition each","table":"Track",` +
			`"by":["orderId"],"reads":3,"rows":3,"keys":6}]}],"levels":2,"reads":5,"rows":6,"keys":13}`,
		`{ Order(id: "o1") { placedTrack { status } } }`: `{"steps":[{"path":"Order","field":"Order","how":"by key",` +
			`"table":"Order","by":["id"],"reads":1,"rows":1,"keys":1,"joins":[` +
			`{"path":"Order.placedTrack","field":"Order.placedTrack","how":"batch of keys","table":"Track",` +
			`"by":["orderId","placedAt"],"reads":1,"rows":1,"keys":1}]}],"levels":2,"reads":2,"rows":2,"keys":2}`,
		`{ o: OrderByIds(ids: ["o0", "o1"]) { customer { name } } }`: `{"steps":[{"path":"o","field":"OrderByIds",` +
			`"how":"batch of keys","table":"Order","by":["ids"],"reads":1,"rows":2,"keys":2,"joins":[` +
			`{"path":"o.customer","field":"Order.customer","how":"batch of keys","table":"Customer","by":["customerId"],` +
			`"reads":1,"rows":2,"keys":2}]}],"levels":2,"reads":2,"rows":4,"keys":4}`,
		`{ o: Order(id: "o0") { t: tracks(limit: 5) { items { status } } } }`: `{"steps":[{"path":"o","field":"Order",` +
			`"how":"by key","table":"Order","by":["id"],"reads":1,"rows":1,"keys":1,"joins":[` +
			`{"path":"o.t","field":"Order.tracks","how":"a range each","table":"Track","by":["orderId"],"reads":1,"rows":5,` +
			`"keys":6}]}],"levels":2,"reads":2,"rows":6,"keys":7}`,
		`{ o: OrderByStatus(status: OPEN, limit: 1000) { items { t: tracks { items { status } } } } }`: `{"steps":[` +
			`{"path":"o","field":"OrderByStatus","how":"range of a partition","table":"Order","index":"byStatus",` +
			`"by":["status"],"reads":1,"rows":1000,"keys":1001,"joins":[{"path":"o.items.t","field":"Order.tracks",` +
			`"how":"a range each","table":"Track","by":["orderId"],"reads":200,"rows":10000,"keys":10200,"most":200}]}],` +
			`"levels":2,"reads":201,"rows":11000,"keys":11201}`,
		`{ __typename }`: `{"steps":null,"levels":0,"reads":0,"rows":0,"keys":0}`,
	} {
		if got := explain(query); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		`{ __schema { types { name } } }`:                         "resolvers answer",
		`{ Nothing }`:                                             "Cannot query field",
		`query($id: ID!) { Customer(id: $id) { name } }`:          "id",
		`{ OrderByStatus(status: OPEN, limit: 0) { nextToken } }`: "limit is 0",
		`query A { __typename } query B { __typename }`:           "2 operations",
		`{` + strings.Repeat(` o: Order(id: "1") {`, 40) + ` orderId ` + strings.Repeat(`}`, 40) + `}`: "deep",
	} {
		_, err := b.explain(query, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that says %q", query, err, want)
		}
	}
}

// TestWhatIsRefusedIsNotExplained: an operation over a limit of the server, or with a variable that it refuses.
func TestWhatIsRefusedIsNotExplained(t *testing.T) {
	b := newBench(t, Config{})
	for _, tt := range []struct {
		document  string
		variables map[string]any
		want      string
	}{
		{`query($ids: [ID!]!) { OrderByIds(ids: $ids) { orderId } }`,
			map[string]any{"ids": slices.Repeat([]any{"o"}, 10_001)}, "10000 may be"},
		{`query($all: Boolean = true) { Order(id: "o") { orderId @include(if: $all) } }`, map[string]any{"all": nil}, "all"},
		{`query($id: ID!) { Order(id: $id) { orderId } }`, map[string]any{"id": true}, "variable $id"},
	} {
		if _, err := b.explain(tt.document, tt.variables); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.200v, want an error that says %q", tt.document, err, tt.want)
		}
	}
	if _, err := b.explain(`{ Order(id: 12345678901234567890123) { orderId } }`, nil); err != nil {
		t.Errorf("an ID of more than 64 bits: %v, and the server answers it", err)
	}
}
