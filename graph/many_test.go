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
			`{ r: OrderByIds(ids: []) { orderId } }`: `[]`,
			`{ r: TrackByKeys(keys: [{orderId: "o2", changedAt: "2024-01-02T10:00:00Z"}, {orderId: "o2",
				changedAt: "2023-01-01T00:00:00Z"}, {changedAt: "2024-01-01T10:00:00Z", orderId: "o1"}, {orderId: "o2",
				changedAt: "2024-01-02T10:00:00Z"}]) { orderId changedAt } }`: `[` +
				`{"changedAt":"2024-01-02T10:00:00.000Z","orderId":"o2"},null,{"changedAt":"2024-01-01T10:00:00.000Z","orderId":"o1"},` +
				`{"changedAt":"2024-01-02T10:00:00.000Z","orderId":"o2"}]`,
			`{ r: LineByKeys(keys: [{shop: "s", orderId: "1", category: "toys/x", productId: "z"}, {shop: "s", orderId: "1",
				category: "toys", productId: "x/z"}]) { quantity } }`: `[{"quantity":3},null]`,
			`{ r: LineByKeys(keys: {shop: "s", orderId: "1", category: "books", productId: "b"}) { quantity } }`: `[{"quantity":1}]`,
			`{ r: LineByKeys(keys: []) { quantity } }`:                                                           `[]`,
			`{ r: OrderByIds(ids: "o3") { orderId } }`:                                                           `[{"orderId":"o3"}]`,
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

// TestListsOfKeysAreBounded: a key counts once, however many fields it has.
func TestListsOfKeysAreBounded(t *testing.T) {
	for way, b := range bothWays(t, Config{AuthOff: true, MaxJoinFanout: 3}) {
		for n, want := range map[int][]string{3: nil, 4: {"LIMIT_EXCEEDED r"}} {
			var list []any
			for i := range n {
				list = append(list, map[string]any{"shop": "s", "orderId": "1", "category": "toys", "productId": fmt.Sprint(i)})
			}
			query := `query($keys: [LineKey!]!) { r: LineByKeys(keys: $keys) { orderId } }`
			if got := b.do(t.Context(), query, map[string]any{"keys": list}); !slices.Equal(got.Errors, want) {
				t.Errorf("%s: %d keys: errors %v, want %v", way, n, got.Errors, want)
			}
		}
	}
}

// TestAKeyThatIsNoneIsTheCallersMistake, and the error says at which place of the list.
func TestAKeyThatIsNoneIsTheCallersMistake(t *testing.T) {
	for way, b := range bothWays(t, Config{AuthOff: true}) {
		for changedAt, want := range map[string]string{
			"no time":              "BAD_USER_INPUT r: argument keys[1].changedAt",
			"2024-01-01T10:00:00Z": "BAD_USER_INPUT r",
		} {
			list := []any{map[string]any{"orderId": "o1", "changedAt": "2024-01-01T10:00:00Z"},
				map[string]any{"orderId": "", "changedAt": changedAt}}
			got := b.do(t.Context(), `query($keys: [TrackKey!]!) { r: TrackByKeys(keys: $keys) { orderId } }`,
				map[string]any{"keys": list})
			if diff := cmp.Diff([]string{want}, got.Errors); diff != "" {
				t.Errorf("%s: %s: %s", way, changedAt, diff)
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
