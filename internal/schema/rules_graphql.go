package schema

// What GraphQL itself asks of a schema.
var (
	syntax = newRule("syntax",
		"{1}",
		"correct the text here")
	graphQL = newRule("graphql",
		"{1}",
		"correct the schema here")
	typeTwice = newRule("type-twice",
		"is declared a second time, first at {1}",
		"rename or remove one of them; use \"extend type\" to add to a type")
	extendsNothing = newRule("extends-nothing",
		"extends a type that is not declared",
		"declare it, or drop \"extend\"")
	extendsOther = newRule("extends-other",
		"extends {1} as {2}",
		"extend it as what it is declared as")
	reservedName = newRule("reserved-name",
		"the name {1} begins with two underscores, which GraphQL keeps for itself",
		"choose another name")
	noFields = newRule("no-fields",
		"has no fields",
		"give it at least one")
	fieldTwice = newRule("field-twice",
		"is declared a second time, first at {1}",
		"rename or remove one of them")
	enumEmpty = newRule("enum-empty",
		"is an enum without values",
		"give it at least one")
	enumValueTwice = newRule("enum-value-twice",
		"has the value {1} a second time",
		"remove one of them")
	enumValueName = newRule("enum-value-name",
		"has the value {1}, which GraphQL reads as a literal of another kind",
		"choose another name")
)
