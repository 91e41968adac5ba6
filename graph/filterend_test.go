package graph

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql/executor"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestRowsBehindAFilteredPageRefuseNothing: the page after it is refused, which they are of, however many rows a page
// is read with.
func TestRowsBehindAFilteredPageRefuseNothing(t *testing.T) {
	for _, resolvers := range []bool{false, true} {
		api := newShop()
		orders := api.Types["Order"]
		orders.Owner = slices.Index(namesOf(orders), "group")
		orders.Fields["total"].Rule = &catalog.Rule{Owner: true}
		b := newBenchOf(t, api, shopSDL, Config{ResolversOnly: resolvers}, memstore.New())
		if resolvers {
			b.exec = executor.New(WithCompiledPlans(&reference{b.foreign, b}, b.rt))
		}
		const own = 20
		for i := range own {
			b.put(t, "Order", order(fmt.Sprintf("a%02d", i), "OPEN", float64(100*(i%2)), "ann"))
		}
		b.put(t, "Order", order("b", "OPEN", 100, "bob"))
		read := func(ctx context.Context, limit int, token string) (rows int, next any, errs []string) {
			got := b.do(ctx, fmt.Sprintf(`{ OrderByStatus(status: OPEN, limit: %d, filter: {total: {gt: 50}}%s) {
				items { orderId } nextToken } }`, limit, token), nil)
			data, _ := got.Data.(map[string]any)
			page, _ := data["OrderByStatus"].(map[string]any)
			items, _ := page["items"].([]any)
			return len(items), page["nextToken"], got.Errors
		}
		ann, refused := as(t.Context(), "ann"), []string{"FORBIDDEN OrderByStatus"}
		for limit := 1; limit <= own/2; limit++ {
			rows, next, errs := read(ann, limit, "")
			if rows != limit || next == nil || errs != nil {
				t.Fatalf("resolvers %t: a page of %d: %d rows, next token %v, errors %v", resolvers, limit, rows, next, errs)
			}
			if limit < own/2 {
				continue
			}
			if _, _, errs := read(ann, limit, fmt.Sprintf(", nextToken: %q", next)); !slices.Equal(errs, refused) {
				t.Errorf("resolvers %t: the page that another's row is of: errors %v", resolvers, errs)
			}
		}
		if _, _, errs := read(ann, own/2+1, ""); !slices.Equal(errs, refused) {
			t.Errorf("resolvers %t: a page that another's row stands before the end of: errors %v", resolvers, errs)
		}
	}
}

func namesOf(t *catalog.Type) (names []string) {
	for _, f := range t.Model.Fields {
		names = append(names, f.Name)
	}
	return names
}
