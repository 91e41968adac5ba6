package graph

import (
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// The tests of collections run on a yard, whose animals share one table: they lie in it clustered, those that bark in a
// collection inside, and in a shed isolated.
const yardSDL = `
interface Named { name: String }
type Cat implements Named { id: ID! yard: ID! name: String keeperId: ID keeper: Keeper }
type Dog implements Named { id: ID! yard: ID! name: String size: Int! keeperId: ID keeper: Keeper }
type Fox { id: ID! yard: ID! owner: String }
type Keeper { id: ID! name: String }
union Animal = Cat | Dog | Fox
union Barker = Dog | Fox
enum Kind { Cat Dog Fox }
enum BarkerKind { Dog Fox }
type YardConnection { items: [Animal!]! nextToken: String }
type BarkersConnection { items: [Barker!]! nextToken: String }
type ShedConnection { items: [Animal!]! nextToken: String }
type Query {
  Yard(yard: ID!, only: [Kind!], reverse: Boolean, limit: Int, nextToken: String): YardConnection!
  Barkers(yard: ID!, only: [BarkerKind!], reverse: Boolean, limit: Int, nextToken: String): BarkersConnection!
  Shed(yard: ID!, only: [Kind!], reverse: Boolean, limit: Int, nextToken: String): ShedConnection!
}
`

var yardKeys = keys.EntitySchema{Name: "farm", Version: 1, Casing: keys.CasingLower}

// entityHalf is a half of a key of an entity: the fields, and the layout that they make.
func entityHalf(fields []driver.Field, layout func(...keys.Segment) keys.Layout, ordinals ...int) querydb.Half {
	kinds := map[string]keys.Kind{"ID": keys.KindString, "String": keys.KindString, "Int": keys.KindInt}
	var segments []keys.Segment
	for _, o := range ordinals {
		segments = append(segments, keys.Segment{Field: fields[o].Name, Kind: kinds[fields[o].Scalar]})
	}
	return querydb.Half{Layout: layout(segments...), Fields: ordinals}
}

var yardTable = &querydb.SharedTable{
	Name: "Farm", Keys: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
	Indexes: []querydb.SharedIndex{
		{Name: "gsi1", AlwaysSorted: true, Keys: driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}},
		{Name: "gsi2", AlwaysSorted: true, Keys: driver.KeyNames{PK: "gsi2pk", SK: "gsi2sk"}},
	},
}

// animal is a model in both indexes of the table: its rows lie in a yard by the ordinals of sort, and in a shed by
// name.
func animal(name string, fields []driver.Field, inside []string, sort ...int) *querydb.Model {
	own := keys.EntityKey{Schema: yardKeys, Type: name, Casing: keys.CasingLower}
	yard, shed := own, own
	yard.Collection, yard.Clustered = append([]string{"yard"}, inside...), true
	shed.Collection = []string{"shed"}
	return &querydb.Model{
		Name: name, Table: yardTable.Name, Version: "1", Fields: fields, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		PK: entityHalf(fields, own.PK, 0), SK: entityHalf(fields, own.SK),
		Indexes: []querydb.Index{
			{Name: "yard", PK: entityHalf(fields, yard.PK, 1), SK: entityHalf(fields, yard.SK, sort...)},
			{Name: "shed", PK: entityHalf(fields, shed.PK, 1), SK: entityHalf(fields, shed.SK, 2)},
		},
		Entity: &querydb.Entity{Table: yardTable, Kind: name, PhysicalIndexes: []int{0, 1}},
	}
}

func newYard() *catalog.Catalog {
	keeper := stored("id", "ID", "name", "String?")
	own := keys.EntityKey{Schema: yardKeys, Type: "Keeper", Casing: keys.CasingLower}
	types := map[string]*catalog.Type{
		"Cat": {Model: animal("Cat", stored("id", "ID", "yard", "ID", "name", "String?", "keeperId", "ID?"), nil), Owner: -1},
		"Dog": {Model: animal("Dog", stored("id", "ID", "yard", "ID", "name", "String?", "size", "Int", "keeperId", "ID?"),
			[]string{"barkers"}, 3, 2), Owner: -1},
		"Fox": {Model: animal("Fox", stored("id", "ID", "yard", "ID", "owner", "String?"), []string{"barkers"}, 0), Owner: 2,
			Rule: &catalog.Rule{Groups: []string{"Hunter"}, Owner: true}},
		"Keeper": {Owner: -1, Model: &querydb.Model{
			Name: "Keeper", Table: yardTable.Name, Version: "1", Fields: keeper, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
			PK: entityHalf(keeper, own.PK, 0), SK: entityHalf(keeper, own.SK), Entity: &querydb.Entity{Table: yardTable,
				Kind: "Keeper"},
		}},
	}
	types["Dog"].Model.Indexes[1].Projected = []int{0, 1, 2} // the shed does not say how large a dog is
	for name, t := range types {
		t.Name, t.Fields = name, map[string]*catalog.Field{}
		for i, f := range t.Model.Fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	for name, ordinal := range map[string]int{"Cat": 3, "Dog": 4} {
		types[name].Fields["keeper"] = &catalog.Field{Name: "keeper", Ordinal: ordinal,
			Join: &catalog.Join{Target: "Keeper", Index: driver.Primary}}
	}
	collection := func(name, union string, index int, within keys.Range, members ...string) *catalog.Query {
		c := &catalog.Collection{Stored: &querydb.Collection{Name: name, Table: yardTable, Index: index}, Union: union,
			Members: members, Range: within}
		for _, m := range members {
			c.Stored.Members = append(c.Stored.Members, querydb.Member{Model: types[m].Model, Index: index})
		}
		return &catalog.Query{Name: name, Kind: catalog.QueryPage, Collection: c, Connection: name + "Connection",
			PK: []catalog.KeyArg{{Name: "yard", Kind: keys.KindString}}}
	}
	level := keys.EntityKey{Schema: yardKeys, Collection: []string{"yard", "barkers"}, Clustered: true,
		Casing: keys.CasingLower}
	queries := map[string]*catalog.Query{}
	for _, q := range []*catalog.Query{
		collection("Yard", "Animal", 0, level.CollectionRange(0), "Cat", "Dog", "Fox"),
		collection("Barkers", "Barker", 0, level.CollectionRange(1), "Dog", "Fox"),
		collection("Shed", "Animal", 1, keys.Range{}, "Cat", "Dog", "Fox"),
	} {
		queries[q.Name] = q
	}
	return &catalog.Catalog{Types: types, Queries: queries, Secured: true}
}

// kinds are all ways to ask for some members of a collection; nil asks for all of them.
func kinds(members []string) (all [][]string) {
	for set := range 1 << len(members) {
		var some []string
		for i, m := range members {
			if set>>i&1 == 1 {
				some = append(some, m)
			}
		}
		all = append(all, slices.Clip(some))
	}
	return all
}
