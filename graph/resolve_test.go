package graph

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/resolve"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// resolving returns a context as a resolver of the only root field of the query gets it from gqlgen.
func (b *bench) resolving(t *testing.T, query string) context.Context {
	t.Helper()
	op, errs := b.exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{Query: query})
	if errs != nil {
		t.Fatal(errs)
	}
	ctx := graphql.WithOperationContext(t.Context(), op)
	field := op.Operation.SelectionSet[0].(*ast.Field)
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Field: graphql.CollectedField{Field: field,
		Selections: field.SelectionSet}})
	return resolve.NewLoaders(b.rt.resolver, nil).Within(ctx)
}

func (b *bench) codec(typ string) *querydb.Codec[row] { return codec(b.catalog.Types[typ].Model) }

func text1(r *row, field string) (s string) {
	raw, _ := (*r)[field].(json.RawMessage)
	_ = json.Unmarshal(raw, &s)
	return s
}

func TestResolversFindTheirJoinsLoaded(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	ctx := b.resolving(t, `{ OrderByStatus(status: OPEN, limit: 20) { ...P nextToken } }
		fragment P on OrderByStatusConnection { items { orderId customer { name } products { maker { name } } ... @skip(if: true) { lastTrack { status } } } }`)
	conn, err := FetchPage(ctx, b.rt, b.codec("Order"), &QueryRequest{Name: "OrderByStatus",
		PK: []keys.Value{keys.String("OPEN")}, Page: catalog.PageArgs{Limit: new(20)}})
	if err != nil {
		t.Fatal(err)
	}
	// The rows of the index are completed in a batch; then come customers with products, and makers.
	if gets, queries := b.store.gets.Load(), b.store.queries.Load(); gets != 4 || queries != 1 {
		t.Errorf("%d batches and %d ranges, wanted 4 and 1", gets, queries)
	}
	b.store.reset()
	for _, order := range conn.Items {
		customer, err := JoinOne(ctx, b.rt, "Order", "customer", b.codec("Customer"), keys.String(text1(order, "customerId")))
		if err != nil {
			t.Fatal(err)
		}
		if customer != nil && text1(customer, "customerId") != text1(order, "customerId") {
			t.Errorf("order of %s has the customer %s", text1(order, "customerId"), text1(customer, "customerId"))
		}
		products, err := JoinMany(ctx, b.rt, "Order", "products", b.codec("Product"),
			[]keys.Value{keys.String("p1"), keys.String("gone"), keys.String("p0"), keys.String("p1"), keys.String("")})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range products {
			got = append(got, text1(p, "productId"))
		}
		if !slices.Equal(got, []string{"p1", "p0", "p1"}) {
			t.Errorf("products %v, wanted p1, p0, p1", got)
		}
	}
	if gets := b.store.gets.Load(); gets != 0 {
		t.Errorf("%d more batches, wanted none", gets)
	}
}

func TestResolversReadWhatWasNotPrefetchedAtOnce(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	ctx := resolve.NewLoaders(b.rt.resolver, nil).Within(t.Context())
	for range 3 {
		got, err := JoinOne(ctx, b.rt, "Order", "lastTrack", b.codec("Track"), keys.String("o1"))
		if err != nil || got == nil || text1(got, "status") != "SENT" {
			t.Fatalf("%v %v", got, err)
		}
	}
	if n := b.store.queries.Load(); n != 1 {
		t.Errorf("%d ranges, wanted 1", n)
	}
	placed, err := JoinOne(ctx, b.rt, "Order", "placedTrack", b.codec("Track"), keys.String("o1"), keys.DateTime(day(1)))
	if err != nil || placed == nil || text1(placed, "status") != "OPEN" {
		t.Errorf("by a key of two values: %v %v", placed, err)
	}
	part, err := JoinOne(ctx, b.rt, "Order", "placedTrack", b.codec("Track"), keys.String("o1"), keys.Value{})
	if part != nil || err != nil {
		t.Errorf("by a key of which a part is absent: %v %v", part, err)
	}
	one := keys.String("o1")
	for _, some := range [][]keys.Value{nil, {one}, {one, one, one}} {
		if got, err := JoinOne(ctx, b.rt, "Order", "placedTrack", b.codec("Track"), some...); got != nil || err == nil {
			t.Errorf("by %d values in place of two: %v %v", len(some), got, err)
		}
		page, err := JoinPage(ctx, b.rt, "Line", "beside", b.codec("Line"), &QueryRequest{}, some...)
		if page != nil || err == nil {
			t.Errorf("a page by %d values in place of two: %v %v", len(some), page, err)
		}
	}
	none, err := JoinOne(ctx, b.rt, "Order", "referrer", b.codec("Customer"), keys.Value{})
	if none != nil || err != nil {
		t.Errorf("an absent id: %v %v", none, err)
	}
}

func TestPrefetchServesRowsOfOtherResolvers(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	ctx := b.resolving(t, `{ OrderByStatus(status: OPEN) { items { orderId } } o: Order(id: "x") { customer { name } } }`)
	op := graphql.GetOperationContext(ctx)
	field := op.Operation.SelectionSet[1].(*ast.Field)
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Field: graphql.CollectedField{Field: field, Selections: field.SelectionSet},
	})
	var rows []*row
	for _, id := range []string{"c1", "c2", "c3"} {
		rows = append(rows, &row{"orderId": id, "customerId": id, "productIds": []string{}, "status": "OPEN",
			"placedAt": day(1), "total": 1.0, "sold": int64(1), "group": "g"})
	}
	if err := Prefetch(ctx, b.rt, "Order", b.codec("Order"), rows); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"c1", "c2", "c3"} {
		if got, err := JoinOne(ctx, b.rt, "Order", "customer", b.codec("Customer"), keys.String(id)); err != nil ||
			got == nil {
			t.Fatalf("%v %v", got, err)
		}
	}
	if n := b.store.gets.Load(); n != 1 {
		t.Errorf("%d batches, wanted 1", n)
	}
}

func TestResolversAnswerLikeThePlan(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	ann := as(t.Context(), "ann")
	got, err := FetchOne(ann, b.rt, b.codec("Invoice"),
		&QueryRequest{Name: "Invoice", PK: []keys.Value{keys.String("i1")}})
	if err != nil || text1(got, "invoiceId") != "i1" {
		t.Errorf("%v %v", got, err)
	}
	if _, err := FetchOne(t.Context(), b.rt, b.codec("Invoice"), &QueryRequest{Name: "Invoice",
		PK: []keys.Value{keys.String("i1")}}); graphqlerr.CodeOf(err) != graphqlerr.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	if _, err := FetchPage(ann, b.rt, b.codec("Track"), &QueryRequest{Name: "TrackById",
		PK:   []keys.Value{keys.String("o1")},
		Page: catalog.PageArgs{Limit: new(0)}}); graphqlerr.CodeOf(err) != graphqlerr.BadUserInput {
		t.Errorf("limit 0: %v", err)
	}
	order := row{"orderId": "o1"}
	if err := CheckFieldAccess(ann, b.rt, "Order", "margin", b.codec("Order"), &order); graphqlerr.CodeOf(err) !=
		graphqlerr.Forbidden {
		t.Errorf("a guarded field: %v", err)
	}
	if err := CheckFieldAccess(as(ann, "eve", "Staff"), b.rt, "Order", "margin", b.codec("Order"), &order); err != nil {
		t.Errorf("a guarded field for its group: %v", err)
	}
	conn, err := FetchPage(ann, b.rt, b.codec("Track"), &QueryRequest{Name: "TrackById",
		PK:   []keys.Value{keys.String("o1")},
		Page: catalog.PageArgs{Limit: new(2)}})
	if err != nil || len(conn.Items) != 2 || conn.NextToken == nil {
		t.Fatalf("%v %v", conn, err)
	}
	conn, err = FetchPage(ann, b.rt, b.codec("Track"), &QueryRequest{
		Name: "TrackById", PK: []keys.Value{keys.String("o1")},
		Page: catalog.PageArgs{Limit: new(2), NextToken: conn.NextToken}})
	if err != nil || len(conn.Items) != 1 || conn.NextToken != nil {
		t.Errorf("the second page: %v %v", conn, err)
	}
}

func TestAFailedBatchFailsEachFieldOnItsOwn(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	b.store.fail = func(context.Context, string) error { return querydb.ErrThrottled }
	ctx := resolve.NewLoaders(b.rt.resolver, nil).Within(t.Context())
	_, first := JoinOne(ctx, b.rt, "Order", "customer", b.codec("Customer"), keys.String("c1"))
	_, second := JoinOne(ctx, b.rt, "Order", "customer", b.codec("Customer"), keys.String("c1"))
	if graphqlerr.CodeOf(first) != graphqlerr.Unavailable || graphqlerr.CodeOf(second) != graphqlerr.Unavailable {
		t.Fatalf("%v, %v", first, second)
	}
	if n := b.store.gets.Load(); n != 1 {
		t.Errorf("%d batches, wanted 1: an error is remembered", n)
	}
	if errors.Is(first, second) {
		t.Error("two fields share one error, and would share its path")
	}
}

func TestForeignOperationsGetLoadersOfTheirOwn(t *testing.T) {
	b := newBench(t, Config{AuthOff: true, ResolversOnly: true})
	var seen []*resolve.Loaders
	es := &probe{foreign: b.foreign, saw: func(ctx context.Context) { seen = append(seen, b.rt.resolver.Loaders(ctx)) }}
	for range 2 {
		op, errs := b.exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()), params(1))
		if errs != nil {
			t.Fatal(errs)
		}
		ctx := graphql.WithOperationContext(t.Context(), op)
		WithCompiledPlans(es, b.rt).Exec(ctx)(ctx)
	}
	if len(seen) != 2 || seen[0] == seen[1] {
		t.Errorf("loaders %v, wanted two different ones", seen)
	}
}

type probe struct {
	*foreign
	saw func(context.Context)
}

func (p *probe) Exec(context.Context) graphql.ResponseHandler {
	return func(ctx context.Context) *graphql.Response {
		p.saw(ctx)
		return &graphql.Response{Data: []byte("null")}
	}
}
