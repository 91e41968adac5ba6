package differential

// aggregate draws objects with parts: copies and objects of their own, lists of both, and parts with parts, which two
// fields share.
func (d *drawer) aggregate() {
	d.line(`type Whole @readModel(events: ["E"])%s`, d.maybe(4, ` @auth(groups: ["Staff"], owner: true)`))
	d.line(`    @aggregate(table: "Main", pk: ["id"%s], root: "WholeItem"%s%s`, d.maybe(2, `, "part"`),
		pick(d.rng, "", `, context: ["season"]`, `, context: ["season", "name"]`),
		d.maybe(2, `, collection: {name: "wholes", index: "lsi1", sk: ["name"]}`))
	d.line(`      list: {as: "bySeason", name: "bySeason", index: "gsi%d", pk: ["season"], sk: [%s]}) {`, 1+d.rng.IntN(3),
		pick(d.rng, `"name"`, `"size"`, `"size", "name"`))
	d.line("  id: ID!\n  part: %s!\n  season: String!\n  name: String!\n  size: %s!", d.scalar(), d.scalar())
	d.line("  owner: String @owner\n  baseId: ID @resolves(table: \"Base\", field: \"base\")\n  detail: Outer")
	d.line("  open: Open%s @one(type: \"WholeOpen\")", d.maybe(2, "!"))
	d.line("  boss: Base @one(type: \"WholeBoss\") @auth(groups: [\"Staff\"])")
	d.line("  opens: [Open!]%s @many(type: \"WholeOpens\")", d.maybe(2, "!"))
	d.line("  award: Seat%s @one(type: \"WholeAward\")", d.maybe(2, "!"))
	d.line("  left: Sheet! @sub(discriminator: {side: \"left\"})")
	d.line("  right: Sheet%s @sub(discriminator: {side: \"right\"})", d.maybe(2, "!"))
	d.line("}")
	d.parts()
}

// parts draws the types of the parts.
func (d *drawer) parts() {
	d.line("type Sheet @subAggregate(root: \"WholeSheet\") {\n  season: %s\n  about: Open%s @ref", d.scalar(),
		d.maybe(2, "!"))
	d.line("  chief: Open @one(type: \"WholeChief\"%s)", d.maybe(2, ", cascade: EVENTUAL, missing: NULL"))
	d.line("  seats: [Seat!]%s @many(type: \"WholeSeat\", sk: [\"number\"]%s)", d.maybe(2, "!"),
		d.maybe(2, `, orderBy: "order"`))
	d.line("  spare: [Seat!] @many(type: \"WholeSpare\") @auth(%s)", pick(d.rng, `groups: ["Staff"]`, "owner: true"))
	d.line("  plan: Outer @auth(owner: true)")
	d.line("  first: Bench%s @sub(discriminator: {half: 1})", d.maybe(2, "!"))
	d.line("  second: Bench @sub(discriminator: {half: 2})\n}")
	d.line("type Bench @subAggregate(root: \"WholeBench\") {\n  label: %s%s", d.scalar(), d.maybe(2, "!"))
	d.line("  note: Seat%s @one(type: \"WholeNote\")", d.maybe(2, "!"))
	d.line("  outers: [Open!]%s @many(type: \"WholeOuters\"%s)\n}", d.maybe(2, "!"), d.maybe(2, ", cascade: EVENTUAL"))
	d.line("type Seat @member {\n  number: Int!\n  order: %s!\n  who: Open! @ref%s", pick(d.rng, "Int", "String", "Date"),
		d.maybe(2, "(cascade: EVENTUAL)"))
	d.line("  tags: [%s!]\n  inner: Inner%s", d.scalar(), d.maybe(2, "!"))
	d.line("  secret: %s @auth(groups: [\"Staff\"])\n}", d.scalar())
}
