package gen

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

var seed = flag.Uint64("seed", 0, "the seed of random schemas; 0 takes another each time")

// TestRandomSchemasCompile: what is generated for schemas over all kinds of keys and fields, which are called like what
// Go and the generated code have names for.
func TestRandomSchemasCompile(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("go test -run TestRandomSchemasCompile -seed %d", s)
	d := dice{rand.New(rand.NewPCG(s, 0))}
	dir, schemas := newModule(t), map[string]string{}
	for tries := 0; len(schemas) < 12; tries++ {
		if tries == 1000 {
			t.Fatalf("%d of 1000 schemas are accepted, want 12", len(schemas))
		}
		text, events := d.schema(), d.events()
		p := &project{module: "example.com/shop", readModels: []*ast.Source{{Name: "schema.graphqls", Input: text}},
			events: []*ast.Source{{Name: eventsFile, Input: events}}}
		model, found := p.load()
		if found.Err() != nil {
			continue // two names are one in Go, say
		}
		o, err := p.files(model)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		files := map[string]string{}
		for path, content := range o.files {
			files[path] = string(content)
		}
		folder := fmt.Sprintf("schema%02d", len(schemas))
		addPackages(t, dir, folder, files)
		schemas[folder] = text + events
	}
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = dir
	out, err := vet.CombinedOutput()
	if err == nil {
		return
	}
	t.Errorf("%v\n%s", err, out)
	for folder, text := range schemas {
		if strings.Contains(string(out), folder) {
			t.Logf("%s:\n%s", folder, text)
		}
	}
}

// dice makes schemas.
type dice struct{ *rand.Rand }

var (
	randomTypes = []string{"Task", "order", "map", "Time", "type_", "Row", "URLMap", "Keys", "Querydb", "Graph", "Int32",
		"func", "Patch", "Op", "New", "Own"}
	randomNames = []string{"id", "type", "func", "error", "time", "keys", "row", "k", "p", "string", "model", "nil",
		"append", "context", "ctx",
		"rt", "graph", "r", "v", "data", "ops", "fmt", "int", "codec", "_x", "aURL", "httpID", "x1", "init", "limit",
		"own", "optional"}
	randomTyped   = append(randomScalars, "Inner", "outer")
	randomScalars = []string{"ID", "String", "Int", "Int64", "Float", "Boolean", "Decimal", "Date", "DateTime", "State"}
	randomOrders  = []string{"DateTime", "Date", "Int", "Int64", "Float", "Decimal"}
	randomKeys    = [][]string{nil, {"@id"}, {"@id", "@subId"}, {"@compositeId", "@compositeId"},
		{"@compositeId", "@compositeId", "@subId"},
		{"@id", "@compositeSubId", "@compositeSubId"}, {"@compositeId", "@compositeId", "@compositeSubId", "@compositeSubId"}}
	randomValues = []string{"%s", "%s!", "[%s!]", "[%s!]!"}
	randomFields = append(randomValues, "%s @auth", "[%s!] @auth", "%s! @index", `%s @index(name: "some")`,
		`%s! @index(name: "keys", projection: KEYS_ONLY)`,
		"Copied%.0s @ref", "Copied%.0s! @ref", "Copied%.0s! @ref @index") // of a type of their own, whatever is drawn
	randomEvents = []string{`events: ["E"]`, `events: ["E", "F"], version: 3`, `events: ["F"], plugin: "Pl"`,
		`events: ["E"], stream: "/s", atomic: true`}
)

func pick[T any](d dice, of []T) T { return of[d.IntN(len(of))] }

// some are several of a list, at least that many, and each once.
func some(d dice, of []string, least int) []string {
	of = slices.Clone(of)
	d.Shuffle(len(of), func(i, k int) { of[i], of[k] = of[k], of[i] })
	return of[:least+d.IntN(4)]
}

func (d dice) schema() string {
	var b strings.Builder
	b.WriteString("extend schema @table(name: \"Main\", schema: \"shop\")\nenum State { NEW DONE }\n")
	for i, name := range some(d, randomTypes, 1) {
		if d.IntN(3) == 0 {
			d.entity(&b, name, i)
		} else {
			d.readModel(&b, name)
		}
	}
	d.copied(&b)
	d.aggregate(&b)
	d.object(&b, "Inner", randomScalars)
	d.object(&b, "outer", append(randomScalars, "Inner"))
	return b.String()
}

// copied is a model that others refer to.
func (d dice) copied(b *strings.Builder) {
	b.WriteString("type Copied @readModel(events: [\"E\"]) {\n  key: ID! @id\n  peer: Copied @ref\n")
	for _, field := range some(d, randomNames, 1) {
		fmt.Fprintf(b, "  %s: "+pick(d, randomValues)+"\n", field, pick(d, randomTyped))
	}
	b.WriteString("}\n")
}

// randomParts are fields with items of their own, whose type has a number, and others.
var randomParts = append(randomValues,
	`Copied%.0s @one(type: "Item%d")`, `Copied%.0s! @one(type: "Item%d")`, `[Copied%.0s!]! @many(type: "Item%d")`,
	`Member%.0s @one(type: "Item%d")`, `[Member%.0s!]! @many(type: "Item%d", sk: ["number"])`,
	`[Member%.0s!] @many(type: "Item%d", sk: ["number"], orderBy: "key") @auth`, "Copied%.0s @ref", "Copied%.0s! @ref")

// aggregate is an object with parts, and parts with parts.
func (d dice) aggregate(b *strings.Builder) {
	b.WriteString(`type Whole @readModel(events: ["E"]) @aggregate(table: "Main", pk: ["whole"], root: "WholeItem",
    context: ["season"], list: {as: "bySeason", name: "seasons", index: "gsi9", pk: ["season"], sk: ["whole"]}) {
  whole: ID!
  season: String!
  left: Part @sub(discriminator: {side: "left"})
  right: Part! @sub(discriminator: {side: "right"})
`)
	d.parts(b, 1)
	b.WriteString("type Part @subAggregate(root: \"PartItem\") {\n  nested: Nested @sub(discriminator: {half: 1})\n")
	d.parts(b, 100)
	b.WriteString("type Nested @subAggregate(root: \"NestedItem\") {\n")
	d.parts(b, 200)
	b.WriteString("type Member @member {\n  number: Int!\n  key: String!\n  who: Copied! @ref(cascade: EVENTUAL)\n}\n")
}

// parts are the fields of a part that are called like anything, and its end. The types of their items are counted from
// first.
func (d dice) parts(b *strings.Builder, first int) {
	for i, field := range some(d, randomNames, 2) {
		form := pick(d, randomParts)
		values := []any{pick(d, randomTyped), first + i}
		fmt.Fprintf(b, "  %s: "+form+"\n", append([]any{field}, values[:strings.Count(form, "%")]...)...)
	}
	b.WriteString("}\n")
}

func (d dice) object(b *strings.Builder, name string, types []string) {
	fmt.Fprintf(b, "type %s {\n", name)
	for _, field := range some(d, randomNames, 1) {
		fmt.Fprintf(b, "  %s: "+pick(d, randomValues)+"\n", field, pick(d, types))
	}
	b.WriteString("}\n")
}

func (d dice) readModel(b *strings.Builder, name string) {
	keys := pick(d, randomKeys)
	fmt.Fprintf(b, "type %s @readModel(%s)", name, pick(d, randomEvents))
	if d.IntN(2) == 0 && keys != nil {
		fmt.Fprintf(b, " @timeSeries(orderBy: \"ordered\", append: [\"kept\"]) {\n  ordered: %s!\n  kept: "+
			pick(d, randomValues)+"\n", pick(d, randomOrders), pick(d, randomTyped))
	} else {
		b.WriteString(" {\n")
	}
	for i, field := range some(d, randomNames, len(keys)+1) {
		if i < len(keys) {
			fmt.Fprintf(b, "  %s: %s! %s\n", field, pick(d, randomScalars), keys[i])
		} else {
			fmt.Fprintf(b, "  %s: "+pick(d, randomFields)+"\n", field, pick(d, randomTyped))
		}
	}
	b.WriteString("}\n")
}

func (d dice) entity(b *strings.Builder, name string, number int) {
	fields := some(d, randomNames, 4)
	quoted := func(names []string) string { return strings.ReplaceAll(fmt.Sprintf("%q", names), " ", ", ") }
	fmt.Fprintf(b, "type %s @readModel(%s) @entity(table: \"Main\") @primaryKey(pk: %s, sk: %s)\n", name,
		pick(d, randomEvents),
		quoted(fields[:d.IntN(3)]), quoted(fields[1:1+d.IntN(3)]))
	fmt.Fprintf(b, "    @gsi(as: \"by\", name: \"gsi%d\", pk: %s, sk: %s) {\n", 1+number, quoted(fields[2:3+d.IntN(2)]),
		quoted(fields[:d.IntN(3)]))
	for _, field := range fields {
		fmt.Fprintf(b, "  %s: %s!\n", field, pick(d, randomScalars))
	}
	b.WriteString("}\n")
}

func (d dice) events() string {
	var b strings.Builder
	for _, event := range []string{"E", "F"} {
		fmt.Fprintf(&b, "type %s {\n", event)
		for _, field := range some(d, randomNames, 1) {
			fmt.Fprintf(&b, "  %s: "+pick(d, randomValues)+"\n", field, pick(d, randomScalars))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
