package parse

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// TestAFixOfTwoCollectionsOfOneNameWorks: whoever does what the message says has a schema without errors.
func TestAFixOfTwoCollectionsOfOneNameWorks(t *testing.T) {
	const (
		main   = `extend schema @table(name: "Main", schema: "s") @table(name: "Old", schema: "s") `
		model  = ` @readModel(events: ["E"]) @primaryKey(pk: ["id"], sk: []) @gsi(as: "x", name: "gsi1", pk: ["a"], `
		fields = `) { id: ID! a: String } `
		a, b   = `type A @entity(table: "Main")` + model, `type B @entity(table: "Main")` + model
		nested = a + `type: CLUSTERED, collection: ["one", "open"]` + fields +
			b + `type: CLUSTERED, collection: ["two", "open"]` + fields
	)
	for schema, c := range map[string]struct{ fix, was, now string }{
		a + `collection: "all"` + fields + `type B @entity(table: "Old")` + model + `collection: "all"` + fields: {
			`extend schema @collection(table: "Old", name: "all", as: …)`, "", ""},
		a + `collection: "all"` + fields + strings.ReplaceAll(b, "gsi1", "gsi2") + `collection: "all"` + fields: {
			`extend schema @collection(table: "Main", name: "all", index: "gsi2", as: …)`, "", ""},
		a + `collection: "all"` + fields + strings.ReplaceAll(b, "gsi1", "gsi2") + `collection: "every"` + fields +
			`extend schema @collection(table: "Main", name: "every", as: "all")`: {
			"give it another name in the as of its @collection", `as: "all"`, `as: "others"`},
		nested: {`in the last place of collection: ["two", "open"]`, `"two", "open"`, `"two", "others"`},
		nested + `extend schema @collection(table: "Main", name: "open", as: "first")`: {
			`in the last place of collection: ["two", "open"]`, `"two", "open"`, `"two", "others"`},
	} {
		read := func(schema string) error {
			_, found := Load([]*ast.Source{{Name: "schema.graphqls", Input: main + schema}},
				[]*ast.Source{{Name: "events.graphqls", Input: "type E { id: ID! @partitionTag }"}})
			return found.Err()
		}
		if err := read(schema); err == nil || !strings.Contains(err.Error(), c.fix) {
			t.Errorf("%s: %v, want the fix %s", schema, err, c.fix)
		}
		if extension, is := strings.CutSuffix(c.fix, "as: …)"); is {
			schema += extension + `as: "others")`
		}
		if c.was != "" {
			schema = strings.ReplaceAll(schema, c.was, c.now)
		}
		if err := read(schema); err != nil {
			t.Errorf("%s: once it is done, %v", schema, err)
		}
	}
}
