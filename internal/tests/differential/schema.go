// Package differential draws schemas and documents at random, for tests that put one question to two executors:
// compiled plans and generated resolvers must answer alike, whatever the schema and whatever is asked.
package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Schema draws read models, nearly all of them valid: tables of their own with every form of key, indexes, joins,
// objects, references, time series and rules, entities of a shared table with collections in a collection, and an
// aggregate in that table. Events are what their projectors take.
func Schema(rng *rand.Rand) (readModels, events string) {
	d := drawer{rng: rng}
	d.by = d.scalar()
	d.line(`extend schema @table(name: "Main", schema: "app", version: 1%s)`, d.maybe(2, ", casing: NONE"))
	d.line("enum State { NEW OPEN DONE }")
	d.line(`type Base @readModel(events: ["E"])%s {`, d.maybe(4, ` @auth(groups: ["Staff"], owner: true)`))
	d.line("  id: ID! @id\n  owner: String! @owner\n  label: String\n  rank: Int!\n  secret: Decimal @auth(groups: " +
		"[\"Staff\"])\n}")
	d.line("type Open @readModel(events: [\"E\"]) {\n  id: ID! @id\n  label: String\n  outer: Outer%s", d.maybe(2, "!"))
	d.line("  next: Open @ref\n}")
	d.line("type Sole @readModel(events: [\"E\"]) {\n  label: String\n  outer: Outer\n  next: Open @ref\n}")
	d.links()
	for i := range 2 + rng.IntN(2) {
		d.readModel(fmt.Sprint("Plain", i))
	}
	d.entities()
	d.aggregate()
	d.objects()
	return d.String(), "type E { id: ID! }\n"
}

type drawer struct {
	strings.Builder
	rng *rand.Rand
	by  string // the type of the fields that rows are listed by through joins
}

func (d *drawer) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// maybe is the text, one time in so many.
func (d *drawer) maybe(oneIn int, text string) string {
	if d.rng.IntN(oneIn) == 0 {
		return text
	}
	return ""
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func (d *drawer) scalar() string {
	return pick(d.rng, "ID", "String", "Int", "Int64", "Float", "Boolean", "Decimal", "Date", "DateTime", "State")
}

// links draws what leads to pages of the others: of indexes, of partitions of their tables, and of aggregates.
func (d *drawer) links() {
	d.line(`type Link @readModel(events: ["E"])%s {`, d.maybe(4, ` @auth(groups: ["Staff"], owner: true)`))
	d.line("  id: ID! @id @resolvesMany(table: \"Sorted\", field: \"sorted\")\n  owner: String! @owner")
	restricted := d.rng.IntN(4) == 0
	by := d.maybe(2, "!")
	if restricted {
		by = " @auth(groups: [\"Staff\"], owner: true)"
	}
	d.line("  by: %s%s @resolvesMany(table: \"Plain0\", field: \"plain0\", via: \"one\")", d.by, by)
	d.line("  again: %s @resolvesMany(table: \"Plain1\", field: \"plain1\", via: \"one\")", d.by)
	d.line("    @resolvesMany(table: \"Link\", field: \"links\", via: \"again\") @index(name: \"again\"%s)",
		d.reach(restricted))
	d.line("  season: String @resolvesMany(table: \"Whole\", field: \"wholes\", via: \"bySeason\")")
	d.line("    @resolvesMany(table: \"Own\", field: \"owns\", via: \"season\")")
	d.line("    @resolvesMany(table: \"Kept\", field: \"kept\", via: \"season\")\n}")
	d.line("type Sorted @entity(table: \"Main\") @readModel(events: [\"E\"]) @primaryKey(pk: [\"id\"], sk: [%s]) {",
		pick(d.rng, `"at"`, `"at", "id"`, `"rank", "at"`))
	d.line("  id: ID! @resolves(table: \"Link\", field: \"link\")\n  at: %s!\n  rank: Int!\n}", d.scalar())
	d.line("type Own @readModel(events: [\"E\"]) @auth(groups: [\"Staff\"], owner: true) {\n  id: ID! @id")
	d.line("  season: String! @owner @index\n  at: %s @indexSubId(name: \"season\")\n}", d.scalar())
	d.line("type Kept @readModel(events: [\"E\"]) {\n  id: ID! @id\n  season: String! @index(group: \"Staff\", " +
		"authTable: \"Base\")\n  linkId: ID @resolves(table: \"Link\", field: \"link\")\n}")
}

// keyForms are the annotations of the key fields of a table of its own.
var keyForms = [][]string{
	{"@id"}, {"@id", "@subId"}, {"@compositeId", "@compositeId"}, {"@compositeId", "@compositeId", "@subId"},
	{"@id", "@compositeSubId", "@compositeSubId"}, {"@compositeId", "@compositeId", "@compositeSubId(sep: \"|\")",
		"@compositeSubId(sep: \"|\")"},
}

func (d *drawer) readModel(name string) {
	form := pick(d.rng, keyForms...)
	series := d.maybe(2, ` @timeSeries(orderBy: "moment", append: ["f0", "note"])`)
	restricted := d.maybe(2, ` @auth(groups: ["Staff"])`)
	d.line(`type %s @readModel(events: ["E"]%s)%s%s {`, name, d.maybe(3, `, plugin: "Plug"`), d.maybe(4, " @auth"), series)
	moment := pick(d.rng, "DateTime", "Date", "Int", "Int64", "Float", "Decimal")
	d.line("  moment: %s!%s\n  note: String @filterable", moment, d.maybe(2, " @filterable"))
	for i, annotation := range form {
		d.line("  k%d: %s! %s", i, d.scalar(), annotation)
		if sort := slices.IndexFunc(form, isSort); i == 0 && sort > 0 {
			d.line("    @resolvesMany(table: %q, field: \"beside\", by: [%s])", name,
				strings.Join([]string{`"k0"`, `"k1"`}[:sort], ", "))
		}
	}
	if len(form) > 1 {
		whole := ""
		for i := range form {
			whole += fmt.Sprintf("%q ", fmt.Sprint("k", i))
		}
		d.line("    @resolves(table: %q, field: \"self\", by: [%s])", name, whole)
	}
	if slices.Contains(form, "@compositeId") {
		d.byText(name, slices.ContainsFunc(form, isSort))
	}
	d.line("  baseId: ID @resolves(table: \"Base\", field: \"base\")%s", d.maybe(2, restricted))
	d.line("  baseIds: [ID!]%s @resolvesMany(table: \"Base\", field: \"bases\")", d.maybe(2, "!"))
	if restricted != "" {
		d.line("  %s", d.maybe(2, "about: Base @ref"+restricted))
	}
	d.line("  %s", d.maybe(2, "of: Open"+d.maybe(2, "!")+" @ref"))
	d.line("  linkId: ID @resolves(table: \"Link\", field: \"link\")")
	d.line("  by: %s%s @index(name: \"one\"%s)", d.by, d.maybe(2, "!"), d.reach(restricted != ""))
	if d.rng.IntN(3) > 0 {
		d.line("  at: %s%s @indexSubId(name: \"one\")", d.scalar(), d.maybe(2, "!"))
		on, by := d.maybe(2, "on: "+d.scalar()+" @indexSubId(name: \"one\")"), `"by", "at"`
		if on != "" {
			by += `, "on"`
		}
		d.line("    @resolves(table: %q, field: \"alike\", via: \"one\", by: [%s])\n  %s", name, by, on)
	}
	for i := range 1 + d.rng.IntN(3) {
		of := pick(d.rng, d.scalar(), "Inner", "Outer")
		filterable := ""
		if of != "Inner" && of != "Outer" {
			filterable = d.maybe(2, " @filterable")
		}
		d.line("  f%d: %s%s", i, pick(d.rng, of, of+"!", "["+of+"!]", "["+of+"!]!", of+restricted), filterable)
	}
	d.line("}")
}

// reach draws what an index of the field by shows and to whom: of a model with fields that are restricted to Staff, the
// keys alone, or everything to Staff.
func (d *drawer) reach(restricted bool) string {
	switch {
	case !restricted:
		return d.maybe(3, ", projection: KEYS_ONLY")
	case d.by == "ID" || d.by == "String":
		return pick(d.rng, ", projection: KEYS_ONLY", `, group: "Staff"`)
	default:
		return ", projection: KEYS_ONLY"
	}
}

// byText draws fields that hold the text of a composite key: of the row itself, or of any.
func (d *drawer) byText(name string, sorted bool) {
	d.line("  own: String @resolves(table: %q, field: \"selfByText\")", name)
	d.line("  any: ID @resolves(table: %q, field: \"anyByText\")", name)
	if sorted {
		d.line("    @resolvesMany(table: %q, field: \"pageByText\")", name)
	}
	d.line("  several: [String!]%s @resolvesMany(table: %q, field: \"severalByText\")", d.maybe(2, "!"), name)
}

// isSort reports whether an annotation is that of a field of the sort key.
func isSort(annotation string) bool { return strings.Contains(annotation, "ubId") }

// objects draws an object type, and one that holds it.
func (d *drawer) objects() {
	d.line("type Inner {\n  text: String!\n  number: %s%s\n  state: State\n}", d.scalar(), d.maybe(2, "!"))
	d.line("type Outer {\n  inner: Inner%s\n  inners: [Inner!]%s\n  many: [%s!]\n  at: DateTime\n}", d.maybe(2, "!"),
		d.maybe(2, "!"), d.scalar())
}

// entities draws the members of two collections, one inside of the other or both on their own.
func (d *drawer) entities() {
	clustered := d.rng.IntN(3) > 0
	part := pick(d.rng, "String", "State", "Int", "ID")
	d.line("type Pair @readModel(events: [\"E\"]) {\n  id: ID! @id\n  memberId: ID @index(name: \"both\")")
	d.line("  part: %s! @index(name: \"both\")\n  rank: Int @indexSubId(name: \"both\")", part)
	d.line("}")
	inner := clustered && d.rng.IntN(2) == 0
	for i := range 3 {
		name := fmt.Sprint("Member", i)
		collection, of := `"all"`, "CLUSTERED"
		switch {
		case !clustered:
			of = "ISOLATED"
		case inner && i > 0:
			collection = `["all", "some"]`
		}
		d.line(`type %s @entity(table: "Main") @readModel(events: ["E"])%s`, name, d.maybe(5, ` @auth(groups: ["Staff"])`))
		parts := d.maybe(2, `"part"`)
		d.line(`    @primaryKey(pk: ["id"], sk: [%s])`, parts)
		d.line(`    @gsi(as: "all", name: "gsi1", pk: ["project"], sk: [%s], collection: %s, type: %s)`,
			pick(d.rng, "", `"size"`, `"size", "id"`, `"part"`), collection, of)
		d.line(`    @gsi(as: "by", name: "gsi2", pk: ["part"], sk: ["size", "when"]%s) {`,
			d.maybe(3, ", projection: KEYS_ONLY"))
		d.line("  id: ID! @resolves(table: %q, field: \"self\", by: [\"id\" %s])", name, parts)
		d.line("    @resolvesMany(table: \"Pair\", field: \"pairs\", via: \"both\", by: [\"id\", \"part\"])")
		d.line("  project: String%s\n  part: %s!\n  size: %s%s\n  when: %s!", d.maybe(2, "!"),
			part, d.scalar(), d.maybe(2, "!"), pick(d.rng, "Date", "DateTime"))
		d.line("    @resolves(table: %q, field: \"alike\", via: \"by\", by: [\"part\", \"size\", \"when\"])", name)
		d.line("  baseId: ID @resolves(table: \"Base\", field: \"base\")\n  tags: [%s!]%s\n  detail: Outer", d.scalar(),
			d.maybe(2, " @filterable"))
		d.line("  linkId: ID! @resolves(table: \"Link\", field: \"link\")\n}")
	}
}
