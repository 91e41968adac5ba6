// Package introspection limits what operations ask about the schema. That reads no rows, so no budget counts it; yet
// under many aliases a short document asks for millions of values. So there is a limit on how many one operation asks
// for, which is in proportion to the schema, and of those that ask for more than a few, one is answered at a time.
package introspection

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// standardShare is how many times the values of the standard query of tools an operation may ask for.
const standardShare = 2

// saturated is above every number that counts.
const saturated = 1 << 30

// Limit is how many values there are to ask for, and how many of them an operation may.
type Limit struct {
	Most int // values that an operation may ask for

	types, directives int
	perType, perField map[string]counts // by the field of __Type or __Field that lists them
	perDirective      int
	turn              chan struct{} // holds a value while an operation is answered
}

// counts are of the elements of a list: in all types, or fields, together, and in the one that has most.
type counts struct{ all, most int }

func (c counts) add(n int) counts { return counts{c.all + n, max(c.most, n)} }

// of is how many elements the things have together, at most.
func (c counts) of(t things) int {
	return min(saturatedProduct(t.n, c.most), saturatedProduct(t.each, c.all))
}

// things are what fields are asked of: how many, and how often one and the same is among them, at most.
type things struct{ n, each int }

func saturatedProduct(a, b int) int {
	if b > 0 && a > saturated/b {
		return saturated
	}
	return a * b
}

// Of makes the limit of a schema.
func Of(schema *ast.Schema) *Limit {
	in := &Limit{types: len(schema.Types), directives: len(schema.Directives),
		perType: map[string]counts{}, perField: map[string]counts{}, turn: make(chan struct{}, 1)}
	for _, t := range schema.Types {
		fields, inputs := len(t.Fields), 0
		if t.Kind == ast.InputObject {
			fields, inputs = 0, fields
		}
		for list, n := range map[string]int{"fields": fields, "inputFields": inputs, "enumValues": len(t.EnumValues),
			"interfaces": len(t.Interfaces), "possibleTypes": len(schema.GetPossibleTypes(t))} {
			in.perType[list] = in.perType[list].add(n)
		}
		for _, f := range t.Fields {
			in.perField["args"] = in.perField["args"].add(len(f.Arguments))
		}
	}
	for _, d := range schema.Directives {
		in.perDirective = max(in.perDirective, len(d.Arguments))
	}
	standard, err := parser.ParseQuery(&ast.Source{Input: standardIntrospection})
	if err != nil {
		panic(err) // it is the same whatever the schema is
	}
	core.Walk(schema, standard, &core.Events{}) // which says what its fields are
	in.Most = standardShare * in.values(standard.Operations[0].SelectionSet, one, 0)
	return in
}

// one is the schema, or a type.
var one = things{1, 1}

// Asked is how many values of the schema an operation of a valid document asks for, at most.
func (in *Limit) Asked(op *ast.OperationDefinition) (total int) {
	fields, _ := introspecting(op.SelectionSet)
	for _, f := range fields {
		total = min(total+in.values(f.SelectionSet, one, 0), saturated)
	}
	return total
}

// introspecting are the fields of Query that ask about the schema. others is true if there are such beside them as may
// read rows or take long.
func introspecting(set ast.SelectionSet) (fields []*ast.Field, others bool) {
	inside := func(set ast.SelectionSet) {
		more, beside := introspecting(set)
		fields, others = append(fields, more...), others || beside
	}
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Name == "__schema" || s.Name == "__type" {
				fields = append(fields, s)
			} else if s.Name != "__typename" {
				others = true
			}
		case *ast.InlineFragment:
			inside(s.SelectionSet)
		case *ast.FragmentSpread:
			inside(s.Definition.SelectionSet)
		}
	}
	return fields, others
}

// mostWrappers is how many types a type names before one that has a name: [T!]! is a list between two that are not
// null.
const mostWrappers = 3

// values is how many values the selection asks for of the things, at most, which are so many wrappers inside of a type.
func (in *Limit) values(set ast.SelectionSet, of things, wrappers int) (total int) {
	for _, s := range set {
		more := 0
		switch s := s.(type) {
		case *ast.Field:
			inside := 0
			if s.Name == "ofType" {
				inside = wrappers + 1
			}
			more = of.n
			if inside <= mostWrappers {
				more += in.values(s.SelectionSet, in.leadsTo(s, of), inside)
			}
		case *ast.InlineFragment:
			more = in.values(s.SelectionSet, of, wrappers)
		case *ast.FragmentSpread:
			more = in.values(s.Definition.SelectionSet, of, wrappers)
		}
		total = min(total+more, saturated)
	}
	return total
}

// leadsTo is what a field of the things leads to, at most. A field or an argument belongs to one thing alone. A type
// that things lead to may be the same for all of them: many types have one interface, which has all of them.
func (in *Limit) leadsTo(f *ast.Field, of things) things {
	same := things{of.n, of.n}
	if f.ObjectDefinition == nil {
		return same
	}
	switch f.ObjectDefinition.Name {
	case "__Schema":
		switch f.Name {
		case "types":
			return things{saturatedProduct(of.n, in.types), of.each}
		case "directives":
			return things{saturatedProduct(of.n, in.directives), of.each}
		}
	case "__Type":
		c, isList := in.perType[f.Name]
		switch {
		case !isList:
		case f.Name == "interfaces", f.Name == "possibleTypes":
			n := c.of(of)
			return things{n, n}
		default:
			return things{c.of(of), of.each}
		}
	case "__Field":
		if c, isList := in.perField[f.Name]; isList {
			return things{c.of(of), of.each}
		}
	case "__Directive":
		if f.Name == "args" {
			return things{saturatedProduct(of.n, in.perDirective), of.each}
		}
	}
	return same
}

// Few is how many values of the schema an operation may ask for while others do, and beside other queries, which may
// read rows and take long.
const Few = 1000

// AsksOthers reports whether an operation of a valid document asks queries that are not about the schema.
func AsksOthers(op *ast.OperationDefinition) bool {
	_, others := introspecting(op.SelectionSet)
	return others
}

// Wait waits until no other operation asks for more than a few values of the schema, if this one does, and returns what
// lets others do so.
func (in *Limit) Wait(ctx context.Context, op *ast.OperationDefinition) (done func(), err error) {
	if in.Asked(op) <= Few {
		return func() {}, nil
	}
	select {
	case in.turn <- struct{}{}:
		return func() { <-in.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// standardIntrospection is what tools ask about a schema, all of it.
const standardIntrospection = `{ __schema {
  description queryType { name kind } mutationType { name kind } subscriptionType { name kind }
  types { ...T }
  directives { name description isRepeatable locations args { ...I } }
} }
fragment T on __Type {
  kind name description specifiedByURL isOneOf
  fields(includeDeprecated: true) { name description args { ...I } type { ...R } isDeprecated deprecationReason }
  inputFields { ...I } interfaces { ...R }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...R }
}
fragment I on __InputValue { name description type { ...R } defaultValue isDeprecated deprecationReason }
fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`
