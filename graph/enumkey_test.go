package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// The tests of text of keys that holds values of enums run on papers in boxes: on rows of a table of their own, which
// names them by text, on labels, whose key is one enum, and on slips, which are entities.
const papersSDL = `
enum Stage { DRAFT Done }
enum Level { LOW HIGH }
type Paper { box: String! stage: Stage! level: Level! title: String! }
type Label {
  stage: Stage! text: String! paper: String
  papers(eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): PaperByIdConnection
}
type Slip { box: ID! level: Level! title: String! }
type PaperByIdConnection { items: [Paper!]! nextToken: String }
type SlipByPrimaryConnection { items: [Slip!]! nextToken: String }
type Query {
  Paper(id: ID, box: String, stage: Stage, _subId: ID, level: Level, title: String): Paper
  PaperById(id: ID, box: String, stage: Stage, level: Level, title: String, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): PaperByIdConnection!
  Label(id: ID!): Label
  LabelByIds(ids: [ID!]!): [Label]!
  SlipByPrimary(box: ID!, level: Level, title: String, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): SlipByPrimaryConnection!
}
`

func newPapers() *catalog.Catalog {
	ofEnums := func(fields []driver.Field) []driver.Field {
		for i := range fields {
			fields[i].Enum = map[string]string{"stage": "Stage", "level": "Level"}[fields[i].Name]
		}
		return fields
	}
	slip := ofEnums(stored("box", "ID", "level", "String", "title", "String"))
	own := keys.EntityKey{Schema: trackerKeys, Type: "Slip", Casing: keys.CasingLower}
	types := map[string]*catalog.Type{
		"Paper": {Owner: -1, Model: model("Paper",
			ofEnums(stored("box", "String", "stage", "String", "level", "String", "title", "String")),
			[]int{0, 1}, []int{2, 3})},
		"Label": {Owner: -1, Model: model("Label", ofEnums(stored("stage", "String", "text", "String", "paper", "String?")),
			[]int{0}, nil)},
		"Slip": {Owner: -1, Model: &querydb.Model{
			Name: "Slip", Table: trackerTable.Name, Version: "1", Fields: slip, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
			PK: entityHalf(slip, own.PK, 0), SK: entityHalf(slip, own.SK, 1, 2),
			Entity: &querydb.Entity{Table: trackerTable, Kind: "Slip"},
		}},
	}
	for name, t := range types {
		t.Name, t.Fields = name, map[string]*catalog.Field{}
		t.Model.Enums = []querydb.Enum{
			{Name: "Stage", Values: []string{"DRAFT", "Done"}}, {Name: "Level", Values: []string{"LOW", "HIGH"}}}
		for i, f := range t.Model.Fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	types["Label"].Fields["papers"] = &catalog.Field{Name: "papers", Ordinal: 2,
		Join: &catalog.Join{Target: "Paper", Index: driver.Primary, Pages: "PaperById"}}
	args := func(names ...string) (all []catalog.KeyArg) {
		for _, name := range names {
			all = append(all, catalog.KeyArg{Name: name, Kind: keys.KindString})
		}
		return all
	}
	queries := map[string]*catalog.Query{
		"Paper": {Kind: catalog.QueryOne, Type: "Paper", PK: args("id"), SK: args("_subId"),
			PKParts: args("box", "stage"), SKParts: args("level", "title")},
		"PaperById": {Kind: catalog.QueryPage, Type: "Paper", PK: args("id"), HasOperands: true,
			PKParts: args("box", "stage"), SKParts: args("level", "title")},
		"Label":      {Kind: catalog.QueryOne, Type: "Label", PK: args("id")},
		"LabelByIds": {Kind: catalog.QueryMany, Type: "Label", PK: args("ids")},
		"SlipByPrimary": {Kind: catalog.QueryPage, Type: "Slip", PK: args("box"), SK: args("level", "title"),
			HasOperands: true},
	}
	for name, q := range queries {
		q.Name, q.Index = name, driver.Primary
		if q.Kind == catalog.QueryPage {
			q.Connection = name + "Connection"
		}
	}
	return &catalog.Catalog{Types: types, Queries: queries}
}

func openPapers(t *testing.T) *bench {
	t.Helper()
	b := newBenchOf(t, newPapers(), papersSDL, Config{}, memstore.New())
	b.put(t, "Paper", row{"box": "b", "stage": "DRAFT", "level": "HIGH", "title": "plan"},
		row{"box": "b", "stage": "DRAFT", "level": "LOW", "title": "note"})
	b.put(t, "Label", row{"stage": "Done", "text": "finished"})
	b.put(t, "Slip", row{"box": "b", "level": "HIGH", "title": "plan"}, row{"box": "b", "level": "LOW", "title": "note"})
	return b
}

// TestTextOfAKeyWithNoValueOfItsEnumIsRefused wherever a query takes a key, or a part of one, as text.
func TestTextOfAKeyWithNoValueOfItsEnumIsRefused(t *testing.T) {
	b := openPapers(t)
	for _, ask := range []string{
		`Label(id: "DONE") { text }`,
		`LabelByIds(ids: ["Done", "Dnoe"]) { text }`,
		`Paper(id: "b/DRAF") { title }`,
		`Paper(id: "b/DRAFT", _subId: "HIHG/plan") { title }`,
		`PaperById(id: "b/") { items { title } }`,
		`PaperById(id: "b/DRAFT", eq: "HIHG/plan") { items { title } }`,
		`PaperById(id: "b/DRAFT", from: "HIHG") { items { title } }`,
		`PaperById(id: "b/DRAFT", to: "HIHG/plan") { items { title } }`,
		`PaperById(id: "b/DRAFT", from: "HIGH", to: "") { items { title } }`,
		`PaperById(id: "b/DRAFT", prefix: "HIHG/p") { items { title } }`,
		`PaperById(id: "b/DRAFT", prefix: "HIH") { items { title } }`,
		`SlipByPrimary(box: "b", eq: "HIHG") { items { title } }`,
		`SlipByPrimary(box: "b", from: "HIHG") { items { title } }`,
		`SlipByPrimary(box: "b", to: "HIHG") { items { title } }`,
		`SlipByPrimary(box: "b", prefix: "HIH") { items { title } }`,
	} {
		name, _, _ := strings.Cut(ask, "(")
		got := b.do(t.Context(), "{ "+ask+" }", nil)
		if diff := cmp.Diff([]string{"BAD_USER_INPUT " + name}, got.Errors); diff != "" {
			t.Errorf("%s: -want +got:\n%s", ask, diff)
		}
	}
}

// TestTextOfAKeyWithValuesOfItsEnumFindsTheRows, in the casing of the key where that has one.
func TestTextOfAKeyWithValuesOfItsEnumFindsTheRows(t *testing.T) {
	b := openPapers(t)
	for ask, want := range map[string]string{
		`Label(id: "Done") { text }`:                                                  "finished",
		`LabelByIds(ids: ["Done", "DRAFT"]) { text }`:                                 "finished",
		`Paper(id: "b/DRAFT", _subId: "HIGH/plan") { title }`:                         "plan",
		`PaperById(id: "b/DRAFT", eq: "HIGH/plan") { items { title } }`:               "plan",
		`PaperById(id: "b/DRAFT", level: HIGH, eq: "plan") { items { title } }`:       "plan",
		`PaperById(id: "b/DRAFT", prefix: "HI") { items { title } }`:                  "plan",
		`PaperById(id: "b/DRAFT", prefix: "LOW/n") { items { title } }`:               "note",
		`PaperById(id: "b/DRAFT", from: "HIGH/x", to: "LOW") { items { title } }`:     "note",
		`SlipByPrimary(box: "b", eq: "high") { items { title } }`:                     "plan",
		`SlipByPrimary(box: "b", prefix: "h") { items { title } }`:                    "plan",
		`SlipByPrimary(box: "b", from: "HIGH", to: "HIGH") { items { title } }`:       "plan",
		`SlipByPrimary(box: "b", level: LOW, from: "n", to: "o") { items { title } }`: "note",
	} {
		got := b.do(t.Context(), "{ "+ask+" }", nil)
		if text := fmt.Sprint(got.Data); len(got.Errors) > 0 || strings.Count(text, "plan")+strings.Count(text, "note")+
			strings.Count(text, "finished") != 1 || !strings.Contains(text, want) {
			t.Errorf("%s: got %v, want %s alone", ask, got, want)
		}
	}
}

// TestARowThatHoldsNoTextOfAKeyLeadsToNoRows, where that has a value that its enum has lost: nobody has asked for it.
func TestARowThatHoldsNoTextOfAKeyLeadsToNoRows(t *testing.T) {
	b := openPapers(t)
	b.put(t, "Label", row{"stage": "DRAFT", "text": "lost", "paper": "b/LOST"})
	got := b.do(t.Context(), `{ Label(id: "DRAFT") { papers { items { title } } } }`, nil)
	want := result{Data: map[string]any{"Label": map[string]any{"papers": map[string]any{"items": []any{}}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
