package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
)

// bothWays are the shop with its rows, answered by plans and by resolvers.
func bothWays(t *testing.T, cfg Config) map[string]*bench {
	plans := newBench(t, cfg)
	plans.stock(t)
	resolvers, slow := *plans, *plans.rt
	slow.cfg.ResolversOnly = true
	resolvers.exec = executor.New(WithCompiledPlans(&reference{plans.foreign, plans}, &slow))
	return map[string]*bench{"plans": plans, "resolvers": &resolvers}
}

// TestManyRowsStandInTheOrderOfTheirIDs: each as often as it is named, and null in the place of one that is not there.
func TestManyRowsStandInTheOrderOfTheirIDs(t *testing.T) {
	for way, b := range bothWays(t, Config{AuthOff: true}) {
		for query, want := range map[string]string{
			`{ r: OrderByIds(ids: ["o2", "none", "o1", "o2"]) { orderId customer { name } } }`: `[` +
				`{"customer":{"name":"Customer 2"},"orderId":"o2"},null,{"customer":{"name":"Customer 1"},"orderId":"o1"},` +
				`{"customer":{"name":"Customer 2"},"orderId":"o2"}]`,
			`{ r: OrderByIds(ids: []) { orderId } }`:   `[]`,
			`{ r: OrderByIds(ids: "o3") { orderId } }`: `[{"orderId":"o3"}]`,
		} {
			got := b.do(t.Context(), query, nil)
			data, _ := got.Data.(map[string]any)
			text, err := json.Marshal(data["r"])
			if err != nil || got.Errors != nil || string(text) != want {
				t.Errorf("%s: %s: %s, errors %v, %v; want %s", way, query, text, got.Errors, err, want)
			}
		}
	}
}

// TestListsOfIDsAreBounded: by how many rows a virtual field may lead to.
func TestListsOfIDsAreBounded(t *testing.T) {
	for way, b := range bothWays(t, Config{AuthOff: true, MaxJoinFanout: 3}) {
		for n, want := range map[int][]string{3: nil, 4: {"LIMIT_EXCEEDED r"}} {
			var ids []any
			for i := range n {
				ids = append(ids, fmt.Sprint("o", i))
			}
			query := `query($ids: [ID!]!) { r: OrderByIds(ids: $ids) { orderId } }`
			if got := b.do(t.Context(), query, map[string]any{"ids": ids}); !slices.Equal(got.Errors, want) {
				t.Errorf("%s: %d ids: errors %v, want %v", way, n, got.Errors, want)
			}
		}
	}
}

// TestAnIDThatCanBeNoKeyIsTheCallersMistake: no row is answered as if it were not there, and the error says which it
// is.
func TestAnIDThatCanBeNoKeyIsTheCallersMistake(t *testing.T) {
	for way, b := range bothWays(t, Config{AuthOff: true}) {
		for _, id := range []string{"", strings.Repeat("x", 3000)} {
			got := b.do(t.Context(), `query($ids: [ID!]!) { r: OrderByIds(ids: $ids) { orderId } }`,
				map[string]any{"ids": []any{"o1", id}})
			if diff := cmp.Diff([]string{"BAD_USER_INPUT r"}, got.Errors); diff != "" {
				t.Errorf("%s: an id of %d bytes: %s", way, len(id), diff)
			}
			_, err := read.ByIDs{Reader: b.rt.reader, Query: b.catalog.Queries["OrderByIds"]}.Read(t.Context(),
				&read.Request{IDs: []keys.Value{keys.String("o1"), keys.String(id)}})
			if err == nil || !strings.Contains(err.Error(), "OrderByIds: ids[1]: no row of Order can have this key") {
				t.Errorf("%s: an id of %d bytes: %v", way, len(id), err)
			}
		}
	}
}
