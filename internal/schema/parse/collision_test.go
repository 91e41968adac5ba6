package parse

import (
	"fmt"
	"slices"
	"testing"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/vektah/gqlparser/v2/ast"
)

// TestKeysCollideWhereOneTextIsAKeyOfBoth: literals, separators, the kinds of the fields, casing and escaping decide
// it.
func TestKeysCollideWhereOneTextIsAKeyOfBoth(t *testing.T) {
	for _, tt := range []struct {
		a, b, table string
		want        bool
	}{
		{a: "user#{s}", b: "user#{t}", want: true},
		{a: "user#{s}", b: "users#{s}"},
		{a: "user#{s}", b: "user#{s}#{t}"},
		{a: "user#{s}", b: "user#{s}#{t}", table: "escape: NONE", want: true},
		{a: "user#{s}", b: "user", table: "escape: NONE"},
		{a: "{s}", b: "user#{s}#{t}", want: true},
		{a: "{s}", b: "user#{s}#{t}", table: "casing: LOWERCASE", want: true},
		{a: "{s}#{t}", b: "user#x", want: true},
		{a: "{s}#{t}", b: "user#x#y"},
		{a: "{n}#a", b: "5#a", want: true},
		{a: "{n}#a", b: "-5#a", want: true},
		{a: "{n}#a", b: "5.5#a"},
		{a: "{n}#a", b: "five#a"},
		{a: "{d}#a", b: "5.5#a", want: true},
		{a: "{n:3}#a", b: "5#a"},
		{a: "{n:3}#a", b: "005#a", want: true},
		{a: "{n:3}#a", b: "12345#a", want: true}, // marks lead a longer one; taken as if it might have none
		{a: "{n}#a", b: "{d}#a", want: true},
		{a: "{n}#a", b: "{day}#a"},
		{a: "{day}#a", b: "2024-01-15#a", want: true},
		{a: "{day}#a", b: "2024-01#a"},
		{a: "{day}#a", b: "{at}#a"},
		{a: "{at}#a", b: "2024-01-15T10:30:00.123Z#a", want: true},
		{a: "{at}#a", b: "2024-01-15T10:30:00.123Z4567#a", want: true},
		{a: "{at}#a", b: "2024-01-15T10:30:00Z#a"},
		{a: "{flag}#a", b: "true#a", want: true},
		{a: "{flag}#a", b: "{kind}#a"},
		{a: "{kind}#a", b: "user#a", want: true},
		{a: "{kind}#a", b: "users#a"},
		{a: "{kind}#a", b: "{s}#a", want: true},
		{a: "{kind}#a", b: "USER#a", table: "casing: UPPERCASE", want: true},
	} {
		t.Run(tt.a+" "+tt.b+" "+tt.table, func(t *testing.T) {
			if got := collide(t, tt.a, tt.b, tt.table); got != tt.want {
				t.Errorf("collide = %v, want %v", got, tt.want)
			}
			if got := collide(t, tt.b, tt.a, tt.table); got != tt.want {
				t.Errorf("the other way: collide = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestAQueryReadsOverRowsWhoseKeysAPatchHasCutShort: a key of an index may end before fields that can be null.
func TestAQueryReadsOverRowsWhoseKeysAPatchHasCutShort(t *testing.T) {
	for _, tt := range []struct {
		a, b string // entries of gsis
		want bool
	}{
		{a: `pk: "in#{s}"`, b: `pk: "in#{s}#at#{none}"`, want: true},
		{a: `pk: "in#{s}"`, b: `pk: "in#{s}#at#{t}"`},
		{a: `pk: "in#{s}"`, b: `pk: "in#{s}#at#{none}#end"`, want: true},
		{a: `pk: "in#{s}"`, b: `pk: "in#{s}#at#{none}#by#{t}"`},
		{a: `pk: "in#{s}#at#{none}"`, b: `pk: "in#{s}#by#{null}"`, want: true},
		{a: `pk: "in#{s}"`, b: `pk: "in#{t}#at#{none}", unique: true`},
		{a: `pk: "in#{s}#at#x"`, b: `pk: "in#{s}#at#{none}#by#{null}"`, want: true},
		{a: `pk: "in#5"`, b: `pk: "in#{none}#at#{null}"`, want: true},
		{a: `pk: "in"`, b: `pk: "in#{none}"`},
		{a: `pk: "all", sk: "in#5"`, b: `pk: "all", sk: "in#{s}#at#{none}"`, want: true},
		{a: `pk: "all", sk: "in#5"`, b: `pk: "all", sk: "in#{s}#at#{t}"`},
	} {
		t.Run(tt.a+" "+tt.b, func(t *testing.T) {
			if got := readsOver(t, tt.a, tt.b); got != tt.want {
				t.Errorf("A reads over rows of B: %v, want %v", got, tt.want)
			}
		})
	}
}

// readsOver reports whether Load warns that the query of A, by an index that it shares with B, reads over rows of B.
func readsOver(t *testing.T, a, b string) bool {
	t.Helper()
	const entity = `
type %s @entity(table: "T") @readModel(events: ["E"]) @keys(pk: "%[1]s#{s}", sk: "x", gsis: [{as: "x", name: "gsi1", %s}]) {
  s: String!
  t: ID!
  none: String
  null: ID
}
`
	text := "extend schema @table(name: \"T\")\n" + fmt.Sprintf(entity, "A", a) + fmt.Sprintf(entity, "B", b)
	_, found := Load(
		[]*ast.Source{{Name: "schema.graphqls", Input: text}}, []*ast.Source{{Name: "events.graphqls",
			Input: "type E { a: Int }"}},
	)
	if errs := found.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return slices.ContainsFunc(found, func(d schema.Diagnostic) bool {
		return d.Code == rule.ReadsOver.Code && d.Type == "A"
	})
}

// collide reports whether Load says that the keys of two entities with these partition keys collide.
func collide(t *testing.T, a, b, table string) bool {
	t.Helper()
	const entity = `
type %s @entity(table: "T") @readModel(events: ["E"]) @keys(pk: "%s", sk: "x") {
  s: String!
  t: ID!
  n: Int!
  d: Decimal!
  day: Date!
  at: DateTime!
  flag: Boolean!
  kind: Kind!
}
`
	text := "extend schema @table(name: \"T\" " + table + ")\nenum Kind { user team }\n" + fmt.Sprintf(entity, "A", a) +
		fmt.Sprintf(entity, "B", b)
	_, found := Load(
		[]*ast.Source{{Name: "schema.graphqls", Input: text}}, []*ast.Source{{Name: "events.graphqls",
			Input: "type E { a: Int }"}},
	)
	for _, d := range found.Errors() {
		if d.Code != rule.KeysCollide.Code {
			t.Fatal(d)
		}
	}
	return len(found.Errors()) > 0
}
