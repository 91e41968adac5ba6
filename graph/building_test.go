package graph

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb"
)

func TestRowsThatAreBeingFoldedAgainAreUnavailableInTheFieldsThatReadThem(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	customers := b.catalog.Types["Customer"].Model
	progress := func() querydb.Progress { return querydb.Progress{Folded: 30, Total: 120, ETASeconds: 8.2} }
	if err := b.db.Rebuilds().MarkRebuilding(customers, "", progress); err != nil {
		t.Fatal(err)
	}
	got := b.do(t.Context(), `{ Order(id: "o0") { orderId customer { name } } Customer(id: "c1") { name } }`, nil)
	want := result{
		Data:   wantJSON(t, `{"Order":{"orderId":"o0","customer":null},"Customer":null}`),
		Errors: []string{"UNAVAILABLE Order.customer", "UNAVAILABLE Customer"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	op, errs := b.exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()), params(1))
	if errs != nil {
		t.Fatal(errs)
	}
	handler, ctx := b.exec.DispatchOperation(t.Context(), op)
	extensions := map[string]any{"code": "UNAVAILABLE", "rebuild": map[string]any{
		"model": "Customer", "folded": uint64(30), "total": uint64(120), "etaSeconds": 9.0, "stopped": false,
	}}
	if diff := cmp.Diff(extensions, handler(ctx).Errors[0].Extensions); diff != "" {
		t.Errorf("extensions (-want +got):\n%s", diff)
	}

	if err := b.db.Rebuilds().MarkComplete(customers, ""); err != nil {
		t.Fatal(err)
	}
	if got := b.do(t.Context(), `{ Customer(id: "c1") { name } }`, nil); len(got.Errors) > 0 {
		t.Errorf("when it is done: %v", got.Errors)
	}
}
