package graph

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

const purchaseSDL = `
enum Kind { HOME WORK }
type Address { street: String! zip: String! kind: Kind note: String }
type Purchase { id: ID! delivery: Address stops: [Address!] }
type Query { Purchase(id: ID!, consistent: Boolean): Purchase }
`

// purchases is a model whose rows hold objects of these fields.
func purchases(address ...driver.Field) *catalog.Catalog {
	m := model("Purchase", []driver.Field{
		{Name: "id", Scalar: "ID"},
		{Name: "delivery", Object: address, Nullable: true},
		{Name: "stops", Object: address, List: true, Nullable: true},
	}, []int{0}, nil)
	object := &catalog.Object{Name: "Address", Fields: map[string]*catalog.ObjectField{}}
	for i, f := range address {
		object.Fields[f.Name] = &catalog.ObjectField{Ordinal: i}
	}
	return &catalog.Catalog{
		Types: map[string]*catalog.Type{"Purchase": {Name: "Purchase", Model: m, Owner: -1, Fields: map[string]*catalog.Field{
			"id": {Name: "id"}, "delivery": {Name: "delivery", Ordinal: 1, Object: object},
			"stops": {Name: "stops", Ordinal: 2, Object: object}}}},
		Queries: map[string]*catalog.Query{"Purchase": {Name: "Purchase", Kind: catalog.QueryOne, Type: "Purchase",
			Index: driver.Primary, PK: []catalog.KeyArg{{Name: "id", Kind: keys.KindString}}}},
	}
}

// TestObjectsOfAFormerSchemaAnswerWhatTheySay: of an object, and of each in a list, what the former schema did not have
// is REBUILDING at its place, and the answer is JSON.
func TestObjectsOfAFormerSchemaAnswerWhatTheySay(t *testing.T) {
	street := driver.Field{Name: "street", Scalar: "String"}
	kind := driver.Field{Name: "kind", Scalar: "String", Enum: "Kind", Nullable: true}
	note := driver.Field{Name: "note", Scalar: "String", Nullable: true}
	store := &outliving{memstore.New()}
	was := newBenchOf(t, purchases(street, note), purchaseSDL, Config{AuthOff: true}, store)
	was.put(t, "Purchase", row{"id": "1", "delivery": json.RawMessage(`["North",null]`),
		"stops": json.RawMessage(`[["East","x"],["West",null]]`)})
	b := newBenchOf(t, purchases(street, driver.Field{Name: "zip", Scalar: "String"}, kind, note), purchaseSDL,
		Config{AuthOff: true}, store)
	err := b.db.Generations().ServeAll([]querydb.Served{{Model: b.catalog.Types["Purchase"].Model,
		Layout: was.catalog.Types["Purchase"].Model.Layout()}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query, data string
		errors      []string
	}{
		{`{Purchase(id:"1"){delivery{street note} stops{street note}}}`, `{"Purchase":{"delivery":{"street":"North",` +
			`"note":null},"stops":[{"street":"East","note":"x"},{"street":"West","note":null}]}}`, nil},
		{`{Purchase(id:"1"){id delivery{street kind}}}`,
			`{"Purchase":{"id":"1","delivery":{"street":"North","kind":null}}}`,
			[]string{"REBUILDING Purchase.delivery.kind"}},
		{`{Purchase(id:"1"){id delivery{zip}}}`, `{"Purchase":{"id":"1","delivery":null}}`,
			[]string{"REBUILDING Purchase.delivery.zip"}},
		{`{Purchase(id:"1"){id stops{zip street}}}`, `{"Purchase":{"id":"1","stops":null}}`,
			[]string{"REBUILDING Purchase.stops[0].zip", "REBUILDING Purchase.stops[1].zip"}},
	} {
		got := b.do(t.Context(), c.query, nil)
		want := result{Errors: c.errors}
		if err := json.Unmarshal([]byte(c.data), &want.Data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.query, diff)
		}
	}
}
