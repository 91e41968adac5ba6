package positions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

const sdl = `
type Query {
  Order(id: ID!): Order
  OrdersByState(state: String!): OrderConnection
  ThingsAt(place: String!): ThingConnection
  Secret(id: ID!): Secret
  OwnQuery: Order
}
type Order { id: ID! customerId: ID! customer: Customer products: [Product!]! }
type OrderConnection { items: [Order!]! }
type Customer { id: ID! latest: Order orders: OrderConnection secret: Secret }
type Product { id: ID! }
type Secret { id: ID! }
union Thing = Product | Customer
type ThingConnection { items: [Thing!]! }
`

func joinsTo(target string, index int) *catalog.Field {
	return &catalog.Field{Join: &catalog.Join{Target: target, Index: index}}
}

func testCatalog() *catalog.Catalog {
	c := &catalog.Catalog{Types: map[string]*catalog.Type{}, Queries: map[string]*catalog.Query{
		"Order":         {Type: "Order", Index: driver.Primary},
		"OrdersByState": {Type: "Order", Index: 0},
		"ThingsAt":      {Collection: &catalog.Collection{Members: []string{"Product", "Customer"}}},
		"Secret":        {Type: "Secret", Index: driver.Primary, Rule: &catalog.IndexRule{AuthTable: "Owner"}},
		"SecretByIndex": {Type: "Secret", Index: 0, Rule: &catalog.IndexRule{AuthTable: "Owner"}},
	}}
	for _, name := range []string{"Order", "Customer", "Product", "Secret", "Owner"} {
		c.Types[name] = &catalog.Type{Name: name, Model: &querydb.Model{Name: name}, Fields: map[string]*catalog.Field{}}
	}
	c.Types["Order"].Fields["customer"] = joinsTo("Customer", driver.Primary)
	c.Types["Order"].Fields["products"] = joinsTo("Product", driver.Primary)
	c.Types["Customer"].Fields["latest"] = joinsTo("Order", 0)
	c.Types["Customer"].Fields["orders"] = joinsTo("Order", 0)
	c.Types["Customer"].Fields["orders"].Join.Pages = "OrdersByState"
	c.Types["Customer"].Fields["secret"] = joinsTo("Secret", 0)
	return c
}

// TestAnOperationWaitsForAllThatItReads: rows that it asks for, those that they lead to, and those that say who may see
// them.
func TestAnOperationWaitsForAllThatItReads(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: sdl})
	for query, want := range map[string]struct {
		models       string
		all, indexes bool
	}{
		`{ __typename }`:                                               {},
		`{ OwnQuery { id } }`:                                          {all: true, indexes: true},
		`{ Secret(id: "1") { id } }`:                                   {models: "Owner Secret"},
		`{ Order(id: "1") { id } }`:                                    {models: "Order"},
		`{ a: Order(id: "1") { id } b: Order(id: "2") { id } }`:        {models: "Order"},
		`query { ...q } fragment q on Query { Order(id: "1") { id } }`: {models: "Order"},
		`{ Order(id: "1") { customer { id } } }`:                       {models: "Customer Order"},
		`{ Order(id: "1") { ...f } } fragment f on Order { customer { id } products { id } }`: {
			models: "Customer Order Product"},
		`{ Order(id: "1") { customer { latest { id } } } }`: {models: "Customer Order", indexes: true},
		`{ OrdersByState(state: "x") { items { ... on Order { products { id } } } } }`: {
			models: "Order Product", indexes: true},
		`{ Order(id: "1") { customer { orders { items { products { id } } } } } }`: {
			models: "Customer Order Product", indexes: true},
		`{ Order(id: "1") { customer { secret { id } } } }`: {models: "Customer Order Owner Secret", indexes: true},
		`{ OrdersByState(state: "x") { __typename } }`:      {models: "Order", indexes: true},
		`{ ThingsAt(place: "x") { items { ... on Customer { latest { id } } } } }`: {
			models: "Customer Order Product", indexes: true},
	} {
		doc := gqlparser.MustLoadQueryWithRules(schema, query, rules.NewDefaultRules())
		got := readsOf(testCatalog(), doc.Operations[0])
		names := modelNames(got.models)
		slices.Sort(names)
		if diff := cmp.Diff(want.models, strings.Join(names, " ")); diff != "" || got.all != want.all ||
			got.indexes != want.indexes {
			t.Errorf("%s: %v, all %t, indexes %t\n%s", query, names, got.all, got.indexes, diff)
		}
	}
}

// TestWhatIsRememberedOfOperationsIsRight: it is what is found anew.
func TestWhatIsRememberedOfOperationsIsRight(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: sdl})
	all := operations{catalog: testCatalog(), folds: &folds{}}
	for _, query := range []string{`{ Order(id: "1") { id } }`, `{ OrdersByState(state: "x") { items { customer { id } } } }`,
		`{ Secret(id: "1") { id } }`, `{ OwnQuery { id } }`} {
		op := gqlparser.MustLoadQueryWithRules(schema, query, rules.NewDefaultRules()).Operations[0]
		want := readsOf(all.catalog, op)
		var memo atomic.Value
		first := all.of(op, &memo)
		if second := all.of(op, &memo); second != first {
			t.Errorf("%s: what it depends on is found twice", query)
		}
		for _, got := range []*dependencies{first, all.of(op, nil)} {
			if !cmp.Equal(modelNames(want.models), modelNames(got.models)) || got.all != want.all ||
				got.indexes != want.indexes {
				t.Errorf("%s: %+v, want %+v", query, got, want)
			}
		}
	}
}

// TestNoAnswerOfAProjectsOwnQueryIsStrong where indexes follow their tables: its resolver may ask one.
func TestNoAnswerOfAProjectsOwnQueryIsStrong(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: sdl})
	doc := gqlparser.MustLoadQueryWithRules(schema, `{ OwnQuery { id } }`, rules.NewDefaultRules())
	read := readsOf(testCatalog(), doc.Operations[0])
	several := openOver(t, memstore.NewMultiWriter(memstore.Options{}).Join(memstore.Options{}))
	err := several.refuseEventual(&read, &projection.Reached{})
	if graphqlerr.CodeOf(err) != graphqlerr.BadUserInput {
		t.Errorf("where indexes follow their tables: %v, want it refused", err)
	}
	if err := openOver(t, memstore.New()).refuseEventual(&read, &projection.Reached{}); err != nil {
		t.Errorf("where they do not: %v", err)
	}
}

// openOver returns the positions of answers from a store.
func openOver(t *testing.T, drv driver.Driver) *Positions {
	t.Helper()
	db, err := querydb.Open(t.Context(), drv, nil, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &Positions{cfg: Config{DB: db}}
}

func modelNames(models []*querydb.Model) (names []string) {
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

// TestAStrongAnswerIsNeverEventual: it is refused where an index follows its table some time later, or copies their
// rows.
func TestAStrongAnswerIsNeverEventual(t *testing.T) {
	one := openOver(t, memstore.New())
	several := openOver(t, memstore.NewMultiWriter(memstore.Options{}).Join(memstore.Options{}))
	for name, c := range map[string]struct {
		of       *Positions
		indexes  bool
		cascades int
		want     string
	}{
		"by key":                         {several, false, 0, ""},
		"an index of one writer":         {one, true, 0, ""},
		"an index that follows":          {several, true, 0, "BAD_USER_INPUT"},
		"copies that are yet to follow":  {one, false, 1, "STALE"},
		"an index that follows, as well": {several, true, 1, "BAD_USER_INPUT"},
	} {
		got := ""
		err := c.of.refuseEventual(&reads{indexes: c.indexes}, &projection.Reached{Cascades: c.cascades})
		if coded := (*gqlerror.Error)(nil); errors.As(err, &coded) {
			got = fmt.Sprint(coded.Extensions["code"])
		}
		if got != c.want {
			t.Errorf("%s: %v, want the code %q", name, err, c.want)
		}
	}
}
