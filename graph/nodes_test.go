package graph

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

const librarySDL = `
interface Node { uid: ID! }
type Shelf implements Node { uid: ID! id: ID! books: [Book!]! }
type Book { number: String! }
type Reader implements Node { uid: ID! id: ID! }
type Query { nodes(ids: [ID!]!): [Node]! }
`

// newLibrary has shelves, which are aggregates of books, and readers.
func newLibrary() *catalog.Catalog {
	table := &querydb.SharedTable{Name: "Library", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"}}
	schema := keys.EntitySchema{Name: "library", Version: 1, Casing: keys.CasingLower}
	layout := func(typ string, by ...keys.Segment) keys.Layout {
		return keys.EntityKey{Schema: schema, Type: typ, Casing: keys.CasingLower}.SK(by...)
	}
	typ := func(name string, fields []driver.Field) *catalog.Type {
		own := keys.EntityKey{Schema: schema, Type: name, Casing: keys.CasingLower}
		t := &catalog.Type{Name: name, Owner: -1, Model: &querydb.Model{Name: name, Table: table.Name, Version: "1",
			Fields: fields, TTL: -1, CreatedAt: -1, UpdatedAt: -1, PK: entityHalf(fields, own.PK, 0),
			SK: entityHalf(fields, own.SK), Entity: &querydb.Entity{Table: table, Kind: name}},
			Fields: map[string]*catalog.Field{"uid": {Name: "uid", Ordinal: -1, NodeKey: []int{0}}}}
		for i, f := range fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
		return t
	}
	book := stored("number", "String")
	shelf := typ("Shelf", append(stored("id", "ID"), driver.Field{Name: "books", Object: book, List: true}))
	shelf.Fields["books"].Object = &catalog.Object{Name: "Book",
		Fields: map[string]*catalog.ObjectField{"number": {Ordinal: 0}}}
	shelf.Model.Aggregate = &aggregate.Shape{Root: &aggregate.Node{Kind: "Shelf", SK: layout("Shelf"),
		Object: shelf.Model.Fields, Fields: shelf.Model.Fields[:1], Own: []int{0},
		Children: []aggregate.Child{{Field: 1, Many: true, ID: -1, Identifier: -1, OrderBy: -1,
			Node: &aggregate.Node{Name: "books", Kind: "ShelfBook", SKFields: []int{0}, Object: book, Fields: book,
				SK: layout("ShelfBook", keys.Segment{Field: "number", Kind: keys.KindString}), Own: []int{0}}}}}}
	return &catalog.Catalog{
		Types: map[string]*catalog.Type{"Shelf": shelf, "Reader": typ("Reader", stored("id", "ID"))},
		Nodes: []string{"Shelf", "Reader"},
		Queries: map[string]*catalog.Query{"nodes": {Name: "nodes", Kind: catalog.QueryNodes,
			PK: []catalog.KeyArg{{Name: "ids", Kind: keys.KindString}}}},
	}
}

// TestAnExplanationOfNodesCountsTheItemsOfAggregates: each is a range of 1,000 items at most, and rows of a type that
// is none are one batch.
func TestAnExplanationOfNodesCountsTheItemsOfAggregates(t *testing.T) {
	b := newBenchOf(t, newLibrary(), librarySDL, Config{AuthOff: true}, memstore.New())
	for _, id := range []string{"a", "b"} {
		b.put(t, "Shelf", row{"id": id, "books": json.RawMessage(`[["1"],["2"],["3"]]`)})
		b.put(t, "Reader", row{"id": id})
	}
	for _, c := range []struct {
		of                string
		reads, rows, keys int
	}{
		{"Shelf a, Shelf b", 2, 2, 2_000},
		{"Reader a, Reader b", 1, 2, 2},
		{"Shelf a, Reader a, Shelf b, Reader b", 3, 4, 2_002},
	} {
		var ids []string
		for of := range strings.SplitSeq(c.of, ", ") {
			typ, id, _ := strings.Cut(of, " ")
			ids = append(ids, base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "[%q,%q]", typ, id)))
		}
		query := fmt.Sprintf(`{ nodes(ids: ["%s"]) { ... on Shelf { books { number } } ... on Reader { id } } }`,
			strings.Join(ids, `", "`))
		x, err := b.explain(query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if x.Reads != c.reads || x.Rows != c.rows || x.Keys != c.keys {
			t.Errorf("%s: the explanation has %d reads, %d rows and %d keys, want %d, %d and %d", c.of, x.Reads, x.Rows,
				x.Keys, c.reads, c.rows, c.keys)
		}
		b.store.reset()
		if got := b.do(t.Context(), query, nil); got.Errors != nil || strings.Contains(fmt.Sprint(got.Data), "<nil>") {
			t.Fatalf("%s: %v", c.of, got)
		}
		reads := b.store.gets.Load() + b.store.queries.Load()
		keys := b.store.got.Load() + b.store.examined.Load()
		if reads > int64(x.Reads) || keys > int64(x.Keys) {
			t.Errorf("%s: %d reads of %d keys, and the explanation has %d of %d", c.of, reads, keys, x.Reads, x.Keys)
		}
	}
}
