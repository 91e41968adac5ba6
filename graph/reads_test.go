package graph

import (
	"fmt"
	"testing"
)

func TestReadsPerOperation(t *testing.T) {
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
	tests := []struct {
		name, query        string
		gets, got, queries int64
	}{
		{"a row is one get", `{ Customer(id: "c1") { name } }`, 1, 1, 0},
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
		{"what is skipped is not read", `{ Order(id: "o0") { orderId products @skip(if: true) { name } } }`, 1, 1, 0},
		{"an id that is not there is not read", `{ Order(id: "o1") { referrer { name } } }`, 1, 1, 0},
	}
	for _, tt := range tests {
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
