package rule

// Entities and what their keys are composed of.
var (
	EntityTable = newRule("entity-table",
		"is an entity of the table {1}, which no @table describes; {2}",
		"add extend schema @table(name: \"{1}\", …), or correct the name")
	EntityType = newRule("entity-type",
		"has the entity type {1}",
		"use printable ASCII characters other than #, % and the space, at most 128 of them")
	EntityTypeTwice = newRule("entity-type-twice",
		"has the entity type {1}, and type {2} has {3} in the same table",
		"give one of them another, by more than its casing")
	EntityOwnTable = newRule("entity-own-table",
		"has a table of its own, {1}, beside @{3}",
		"remove table from @{2}")
	EntityAndKey = newRule("entity-and-key",
		"is @{1} in an entity",
		"name it in @primaryKey, @gsi or @keys of the type")
	EntityWithoutKey = newRule("entity-without-key",
		"is an entity without a key",
		"add @primaryKey or @keys")
	KeyWithoutEntity = newRule("key-without-entity",
		"has @{1} and is no entity",
		"add @entity(table: …), or mark fields @id and @index")
	KeysAndOther = newRule("keys-and-other",
		"has @{1} beside @keys",
		"write all keys of the type in one of the two ways")
	CompositeUnknown = newRule("composite-unknown",
		"@{1} has in {2} the field {3}, which is no stored field of the type",
		"name stored fields")
	IndexTwice = newRule("index-twice",
		"has a second index {1}",
		"name one of them otherwise")
	PhysicalIndexName = newRule("physical-index-name",
		"index {1} lies in the index {2} of its table",
		"use letters, digits, \"_\", \"-\" and \".\", 3 to 255 of them")
	IndexUsedTwice = newRule("index-used-twice",
		"uses the index {1} of its table for {2} and for {3}; a row has one key in it",
		"use another index for one of them")
	UniqueOfNothing = newRule("unique-of-nothing",
		"index {1} is unique, and its key is the same for all rows",
		"compose its key of what is to be unique")
	UniqueByKey = newRule("unique-by-key",
		"index {1} is unique, but its key holds the whole primary key, so that no two rows can share it anyway",
		"compose its key of what is to be unique alone")
	KeysCollide = newRule("keys-meet",
		"has keys {2} that could be keys {3} of type {1}",
		"begin one of the halves with a literal of its own")
	ReadsOver = newWarning("reads-over",
		"makes the query {1}, which reads over rows of type {2} that lie between its own",
		"begin the sort key with a literal that no other type has there")
)

// Templates.
var (
	TemplateForm = newRule("template",
		"the template {1} {2}",
		"join literals and {field}s with #, such as post#{createdAt}#{id}")
	PadOfNoNumber = newRule("pad-of-no-number",
		"pads {1}, which is {2}",
		"pad numbers alone")
	PadRange = newRule("pad-range",
		"pads {1} to {2} digits",
		"pad to 1 to {3} digits")
	NumberUnpadded = newWarning("number-unpadded",
		"is a number in a sort key without padding, which sorts 10 before 9",
		"write {field:16} with as many digits as it can have")
)
