package graph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestTheTextOfACompositeKeyLeadsToItsRows: to one, to those of a list, and to pages of them; what is no text of a key
// leads nowhere.
func TestTheTextOfACompositeKeyLeadsToItsRows(t *testing.T) {
	api := newShop()
	shelf := stored("store", "String", "aisle", "String", "product", "String")
	api.Types["Shelf"] = &catalog.Type{Name: "Shelf", Owner: -1, Model: model("Shelf", shelf, []int{0, 1}, nil),
		Fields: map[string]*catalog.Field{"product": {Name: "product", Ordinal: 2}}}
	for field, j := range map[string]catalog.Join{
		"shelf": {Target: "Shelf", Index: driver.Primary}, "last": {Target: "Line", Index: driver.Primary},
		"lines": {Target: "Line", Index: driver.Primary, Pages: "LineById"},
	} {
		api.Types["Customer"].Fields[field] = &catalog.Field{Name: field, Ordinal: 2, Join: &j}
	}
	api.Types["Order"].Fields["shelves"] = &catalog.Field{Name: "shelves", Ordinal: 10,
		Join: &catalog.Join{Target: "Shelf", Index: driver.Primary, Many: true}}
	sdl := strings.NewReplacer(
		"type Customer implements Named {", "type Shelf { product: String! } type Customer implements Named { "+
			"shelf: Shelf last: Line lines(reverse: Boolean, limit: Int): LineByIdConnection ",
		"type Order {", "type Order { shelves: [Shelf!]! ").Replace(shopSDL)
	b := newBenchOf(t, api, sdl, Config{}, memstore.New())
	b.put(t, "Shelf", row{"store": "north", "aisle": "7", "product": "tea"},
		row{"store": "a/b", "aisle": "50%", "product": "oil"})
	b.put(t, "Line", row{"shop": "north", "orderId": "7", "category": "food", "productId": "p1", "quantity": 1},
		row{"shop": "north", "orderId": "7", "category": "toys", "productId": "p2", "quantity": 2})

	put := func(note any) {
		b.put(t, "Customer", row{"customerId": "c", "name": "Ann", "note": note})
	}
	const ask = `{ Customer(id: "c") { shelf { product } last { productId } lines { items { productId } } } }`
	type object = map[string]any
	nothing := object{"shelf": nil, "last": nil, "lines": object{"items": []any{}}}
	lines := object{"items": []any{object{"productId": "p1"}, object{"productId": "p2"}}}
	for note, want := range map[any]object{
		"north/7":     {"shelf": object{"product": "tea"}, "last": object{"productId": "p2"}, "lines": lines},
		"a%2Fb/50%25": {"shelf": object{"product": "oil"}, "last": nil, "lines": object{"items": []any{}}},
		"north/8":     nothing, "north": nothing, "north/": nothing, "north/7/1": nothing, "north/7%": nothing, "": nothing,
		"/": nothing, nil: nothing, strings.Repeat("n", 3000) + "/7": nothing,
	} {
		put(note)
		got := b.do(t.Context(), ask, nil)
		if diff := cmp.Diff(result{Data: object{"Customer": want}}, got); diff != "" {
			t.Errorf("%.40q: -want +got:\n%s", note, diff)
		}
	}

	b.put(t, "Order", row{"orderId": "o", "customerId": "c", "productIds": []string{}, "status": "OPEN",
		"placedAt": day(1), "total": 1.0, "sold": int64(1), "group": "g", "tags": []string{
			"a%2Fb/50%25", "north", "north/7", "a%2Fb/50%25"}})
	got := b.do(t.Context(), `{ Order(id: "o") { shelves { product } } }`, nil)
	want := result{Data: object{"Order": object{"shelves": []any{
		object{"product": "oil"}, object{"product": "tea"}, object{"product": "oil"}}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a list: -want +got:\n%s", diff)
	}
}
