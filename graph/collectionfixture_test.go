package graph

import (
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// The tests of collections run on the projects of a tracker, whose items share one table: they are clustered in the
// collection of their project, those to do in a backlog inside of it, and isolated in its roadmap.
const trackerSDL = `
interface Named { name: String }
type Milestone implements Named { id: ID! project: ID! name: String assigneeId: ID assignee: Person }
type Story implements Named { id: ID! project: ID! name: String size: Int! assigneeId: ID assignee: Person }
type Task { id: ID! project: ID! owner: String }
type Person { id: ID! name: String }
union Item = Milestone | Story | Task
union BacklogItem = Story | Task
enum ItemKind { Milestone Story Task }
enum BacklogItemKind { Story Task }
type ProjectConnection { items: [Item!]! nextToken: String }
type BacklogConnection { items: [BacklogItem!]! nextToken: String }
type RoadmapConnection { items: [Item!]! nextToken: String }
type Query {
  Project(project: ID!, only: [ItemKind!], reverse: Boolean, limit: Int, nextToken: String): ProjectConnection!
  Backlog(project: ID!, only: [BacklogItemKind!], reverse: Boolean, limit: Int, nextToken: String): BacklogConnection!
  Roadmap(project: ID!, only: [ItemKind!], reverse: Boolean, limit: Int, nextToken: String): RoadmapConnection!
}
`

var trackerKeys = keys.EntitySchema{Name: "tracker", Version: 1, Casing: keys.CasingLower}

// entityHalf is a half of a key of an entity: the fields, and the layout that they make.
func entityHalf(fields []driver.Field, layout func(...keys.Segment) keys.Layout, ordinals ...int) querydb.Half {
	kinds := map[string]keys.Kind{"ID": keys.KindString, "String": keys.KindString, "Int": keys.KindInt}
	var segments []keys.Segment
	for _, o := range ordinals {
		segments = append(segments, keys.Segment{Field: fields[o].Name, Kind: kinds[fields[o].Scalar]})
	}
	return querydb.Half{Layout: layout(segments...), Fields: ordinals}
}

var trackerTable = &querydb.SharedTable{
	Name: "Tracker", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
	Indexes: []querydb.SharedIndex{
		{Name: "gsi1", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}},
		{Name: "gsi2", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi2pk", SK: "gsi2sk"}},
	},
}

// itemModel is a model in both indexes of the table: its rows are in a project by the ordinals of sort, and in a
// roadmap by name.
func itemModel(name string, fields []driver.Field, inside []string, sort ...int) *querydb.Model {
	own := keys.EntityKey{Schema: trackerKeys, Type: name, Casing: keys.CasingLower}
	project, roadmap := own, own
	project.Collection, project.Clustered = append([]string{"project"}, inside...), true
	roadmap.Collection = []string{"roadmap"}
	return &querydb.Model{
		Name: name, Table: trackerTable.Name, Version: "1", Fields: fields, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		PK: entityHalf(fields, own.PK, 0), SK: entityHalf(fields, own.SK),
		Indexes: []querydb.Index{
			{Name: "project", PK: entityHalf(fields, project.PK, 1), SK: entityHalf(fields, project.SK, sort...)},
			{Name: "roadmap", PK: entityHalf(fields, roadmap.PK, 1), SK: entityHalf(fields, roadmap.SK, 2)},
		},
		Entity: &querydb.Entity{Table: trackerTable, Kind: name, PhysicalIndexes: []int{0, 1}},
	}
}

func newTracker() *catalog.Catalog {
	milestone := stored("id", "ID", "project", "ID", "name", "String?", "assigneeId", "ID?")
	story := stored("id", "ID", "project", "ID", "name", "String?", "size", "Int", "assigneeId", "ID?")
	task := stored("id", "ID", "project", "ID", "owner", "String?")
	person := stored("id", "ID", "name", "String?")
	own := keys.EntityKey{Schema: trackerKeys, Type: "Person", Casing: keys.CasingLower}
	types := map[string]*catalog.Type{
		"Milestone": {Model: itemModel("Milestone", milestone, nil), Owner: -1},
		"Story":     {Model: itemModel("Story", story, []string{"backlog"}, 3, 2), Owner: -1},
		"Task": {Model: itemModel("Task", task, []string{"backlog"}, 0), Owner: 2,
			Rule: &catalog.Rule{Groups: []string{"Manager"}, Owner: true}},
		"Person": {Owner: -1, Model: &querydb.Model{
			Name: "Person", Table: trackerTable.Name, Version: "1", Fields: person, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
			PK: entityHalf(person, own.PK, 0), SK: entityHalf(person, own.SK),
			Entity: &querydb.Entity{Table: trackerTable, Kind: "Person"},
		}},
	}
	types["Story"].Model.Indexes[1].Projected = []int{0, 1, 2} // the roadmap does not say how large a story is
	for name, t := range types {
		t.Name, t.Fields = name, map[string]*catalog.Field{}
		for i, f := range t.Model.Fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	for name, ordinal := range map[string]int{"Milestone": 3, "Story": 4} {
		types[name].Fields["assignee"] = &catalog.Field{Name: "assignee", Ordinal: ordinal,
			Join: &catalog.Join{Target: "Person", Index: driver.Primary}}
	}
	collection := func(name, union string, index int, within keys.Range, members ...string) *catalog.Query {
		c := &catalog.Collection{Stored: &querydb.Collection{Name: name, Table: trackerTable, Index: index}, Union: union,
			Members: members, Range: within}
		for _, m := range members {
			c.Stored.Members = append(c.Stored.Members, querydb.CollectionMember{Model: types[m].Model, Index: index})
		}
		return &catalog.Query{Name: name, Kind: catalog.QueryPage, Collection: c, Connection: name + "Connection",
			PK: []catalog.KeyArg{{Name: "project", Kind: keys.KindString}}}
	}
	level := keys.EntityKey{Schema: trackerKeys, Collection: []string{"project", "backlog"}, Clustered: true,
		Casing: keys.CasingLower}
	queries := map[string]*catalog.Query{}
	for _, q := range []*catalog.Query{
		collection("Project", "Item", 0, level.CollectionRange(0), "Milestone", "Story", "Task"),
		collection("Backlog", "BacklogItem", 0, level.CollectionRange(1), "Story", "Task"),
		collection("Roadmap", "Item", 1, keys.Range{}, "Milestone", "Story", "Task"),
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
