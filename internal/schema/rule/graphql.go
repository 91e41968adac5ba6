package rule

// What GraphQL itself asks of a schema.
var (
	Syntax = newRule("syntax",
		"{1}",
		"correct the text here")
	ByteOrderMark = newRule("byte-order-mark",
		"there is a byte order mark here (U+FEFF), which one does not see",
		"remove it, and write what is beside it anew if need be")
	TextCharacter = newRule("text-character",
		"{1} has the character {2}, which stands for no text",
		"remove its escape")
	GraphQL = newRule("graphql",
		"{1}",
		"correct the schema here")
	TypeTwice = newRule("type-twice",
		"is declared a second time, first at {1}",
		"rename or remove one of them; use \"extend type\" to add to a type")
	ExtendsNothing = newRule("extends-nothing",
		"extends a type that is not declared",
		"declare it, or drop \"extend\"")
	ExtendsOther = newRule("extends-other",
		"extends {1} as {2}",
		"extend it as what it is declared as")
	ReservedName = newRule("reserved-name",
		"the name {1} begins with two underscores, which GraphQL keeps for itself",
		"choose another name")
	NoFields = newRule("no-fields",
		"has no fields",
		"give it at least one")
	FieldTwice = newRule("field-twice",
		"is declared a second time, first at {1}",
		"rename or remove one of them")
	EnumEmpty = newRule("enum-empty",
		"is an enum without values",
		"give it at least one")
	EnumValueTwice = newRule("enum-value-twice",
		"has the value {1} a second time",
		"remove one of them")
	EnumValueName = newRule("enum-value-name",
		"has the value {1}, which GraphQL reads as a literal of another kind",
		"choose another name")
)
