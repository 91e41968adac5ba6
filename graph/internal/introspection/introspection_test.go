package introspection

import (
	"fmt"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// manyNodes is a schema of which all object types but Query have one interface.
func manyNodes(t *testing.T, n int) *ast.Schema {
	t.Helper()
	sdl := "interface Node { id: ID! }\nunion Any = T0 | T1\nenum E { A B C }\ninput I { a: [String!]! b: E = A }\n"
	queries := ""
	for i := range n {
		sdl += fmt.Sprintf("type T%d implements Node { id: ID! next: T%d other(a: I, b: Int = 1): [Node!]! }\n", i, (i+1)%n)
		queries += fmt.Sprintf(" t%d(id: ID!): T%d", i, i)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: sdl + "type Query {" + queries + " any: Any }"})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// answered counts the values that an answer to a selection on the schema, a definition, a type, a field or an argument
// has.
func answered(schema *ast.Schema, set ast.SelectionSet, of any) (n int) {
	each := func(set ast.SelectionSet, things ...any) {
		for _, t := range things {
			n += answered(schema, set, t)
		}
	}
	for _, s := range set {
		switch s := s.(type) {
		case *ast.InlineFragment:
			n += answered(schema, s.SelectionSet, of)
		case *ast.FragmentSpread:
			n += answered(schema, s.Definition.SelectionSet, of)
		case *ast.Field:
			n++
			each(s.SelectionSet, led(schema, of, s.Name)...)
		}
	}
	return n
}

// led is what a field leads to.
func led(schema *ast.Schema, of any, field string) (things []any) {
	switch of := of.(type) {
	case *ast.Schema:
		switch field {
		case "types":
			for _, d := range of.Types {
				things = append(things, d)
			}
		case "queryType":
			things = append(things, of.Query)
		case "directives":
			for _, d := range of.Directives {
				things = append(things, d)
			}
		}
	case *ast.DirectiveDefinition:
		for _, a := range of.Arguments {
			things = append(things, a.Type)
		}
	case *ast.Type: // an argument is its type here, which it leads to by the field type
		switch {
		case field == "type":
			things = append(things, of)
		case of.NonNull && field == "ofType":
			nullable := *of
			nullable.NonNull = false
			things = append(things, &nullable)
		case of.NonNull:
		case of.Elem != nil && field == "ofType":
			things = append(things, of.Elem)
		case of.Elem == nil:
			things = led(schema, schema.Types[of.NamedType], field)
		}
	case *ast.FieldDefinition:
		switch field {
		case "type":
			things = append(things, of.Type)
		case "args":
			for _, a := range of.Arguments {
				things = append(things, a.Type)
			}
		}
	case *ast.Definition:
		switch field {
		case "fields", "inputFields":
			for _, f := range of.Fields {
				if (of.Kind == ast.InputObject) == (field == "inputFields") {
					things = append(things, f)
				}
			}
		case "enumValues":
			for _, v := range of.EnumValues {
				things = append(things, v)
			}
		case "interfaces":
			for _, name := range of.Interfaces {
				things = append(things, schema.Types[name])
			}
		case "possibleTypes":
			for _, d := range schema.GetPossibleTypes(of) {
				things = append(things, d)
			}
		}
	}
	return things
}

// TestAnOperationAsksForNoMoreThanIsCounted: what an answer has, of whatever lists in lists.
func TestAnOperationAsksForNoMoreThanIsCounted(t *testing.T) {
	const n = 40
	schema := manyNodes(t, n)
	limit := Of(schema)
	for query, allowed := range map[string]bool{
		standardIntrospection: true,
		"{ __schema { queryType { fields { name type { fields { name } } } } } }":                                 true,
		`{ __type(name: "Node") { possibleTypes { name fields { name args { name } } } } }`:                       true,
		"{ __schema { directives { name args { name type { name } } } types { enumValues { name } } } }":          true,
		"{ __schema { types { interfaces { possibleTypes { name } } } } }":                                        true,
		"{ __schema { types { fields { type { ofType { ofType { ofType { possibleTypes { name } } } } } } } } }":  true,
		"{ __schema { types { interfaces { " + aliases(n, "possibleTypes { name kind description }") + "} } } }":  false,
		"{ __schema { types { possibleTypes { interfaces { " + aliases(n, "possibleTypes { name }") + "} } } } }": false,
		"{ __schema { types { fields { type { interfaces { " + aliases(n, "fields { name }") + "} } } } } }":      false,
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		if err != nil {
			t.Fatal(err)
		}
		core.Walk(schema, doc, &core.Events{}) // without the rule that forbids three lists in lists
		counted, real := limit.Asked(doc.Operations[0]), 0
		fields, _ := introspecting(doc.Operations[0].SelectionSet)
		for _, f := range fields {
			var of any = schema
			if f.Name == "__type" {
				of = schema.Types[f.Arguments[0].Value.Raw]
			}
			real += answered(schema, f.SelectionSet, of)
		}
		if real > counted {
			t.Errorf("%.100s: an answer has %d values, %d are counted", query, real, counted)
		}
		if is := counted <= limit.Most; is != allowed {
			t.Errorf("%.100s: %d values are counted of %d, %d are real: allowed is %v", query, counted, limit.Most, real, is)
		}
	}
}

func aliases(n int, field string) (all string) {
	for i := range n {
		all += fmt.Sprintf("a%d: %s ", i, field)
	}
	return all
}
